"""JupyterLab as a person uses it: a server on this machine, a browser that may reach nothing else.

A page fails its test on errors in the browser's console, on scripts that fail, and on every request to
another machine.
"""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

BIN = Path(sys.executable).parent
HOST = "127.0.0.1"
TOKEN = "token-of-the-test"
START_SECONDS = 120.0
STOP_SECONDS = 30.0
#: How long a page may take on a busy machine.
PATIENCE_MS = 60_000

#: JupyterLab's own questions and look-ups, which would need another machine.
SERVER_OPTIONS = (
    "--no-browser",
    "--ServerApp.allow_root=True",
    "--ServerApp.port_retries=0",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.news_url=None",
    "--LabApp.extension_manager=readonly",
)
NO_QUESTIONS = '{"fetchNews": "false", "checkForUpdates": false}\n'


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs a browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@dataclass(frozen=True)
class Server:
    """A JupyterLab that was started in ``folder``; ``log`` is the file with all that it says."""

    address: str
    folder: Path
    log: Path

    def url(self, path: str) -> str:
        """The address of a path."""
        return f"{self.address}/{path}"

    def log_in(self, page: Any) -> None:
        """Let the page's browser be somebody whom the server knows."""
        page.goto(self.url(f"api/status?token={TOKEN}"))

    def is_ready(self) -> bool:
        """Whether it answers."""
        try:
            with urllib.request.urlopen(self.url(f"api/status?token={TOKEN}"), timeout=5):  # noqa: S310 (ours)
                return True
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], Server]]:
    """Starts JupyterLab in a folder, as `jupyter lab` does, and stops it at the end of the tests."""
    running: list[subprocess.Popen[bytes]] = []

    def start(folder: Path) -> Server:
        home = tmp_path_factory.mktemp("jupyter-home")
        settings = home / "config/lab/user-settings/@jupyterlab/apputils-extension"
        settings.mkdir(parents=True)
        (settings / "notification.jupyterlab-settings").write_text(NO_QUESTIONS)
        port = free_port()
        command = [BIN / "jupyter-lab", *SERVER_OPTIONS]
        command += [f"--ServerApp.ip={HOST}", f"--ServerApp.port={port}", f"--IdentityProvider.token={TOKEN}"]
        log = home / "log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment(home),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )
        running.append(process)
        server = Server(f"http://{HOST}:{port}", folder, log)
        wait_until_ready(server, process)
        return server

    yield start
    for process in running:
        process.terminate()
    for process in running:
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def environment(home: Path) -> dict[str, str]:
    """Everybody's environment, but for settings of the user's own and ways to other machines."""
    kept = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    return kept | {
        "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}",
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
    }


def wait_until_ready(server: Server, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if server.is_ready():
            return
        time.sleep(0.2)
    pytest.fail(f"JupyterLab did not start:\n{server.log.read_text(errors='replace')[-3000:]}")


@dataclass
class Watch:
    """Everything on a page that should not happen."""

    problems: list[str] = field(default_factory=list)

    def attach(self, context: Any) -> None:
        """Listen to all pages of a browser's context."""
        context.on("console", self._console)
        context.on("weberror", lambda error: self._note(f"script failed: {error.error}"))
        context.on("request", lambda request: self._address(request.url))
        context.on("page", self._attach_page)

    def _attach_page(self, page: Any) -> None:
        page.on("crash", lambda _: self._note("the page crashed"))
        page.on("websocket", lambda opened: self._address(opened.url))

    def _console(self, message: Any) -> None:
        if message.type == "error":
            self._note(f"console: {message.text} ({message.location.get('url')})")

    def _address(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"data", "blob", "about"} and parts.hostname != HOST:
            self._note(f"request to another machine: {url[:200]}")

    def _note(self, problem: str) -> None:
        self.problems.append(problem)


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[[], tuple[Any, list[str]]]]:
    """Opens a page in a browser that knows nobody yet, and tells its problems: for who expects some."""
    contexts = []

    def open_one() -> tuple[Any, list[str]]:
        watch = Watch()
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        watch.attach(context)
        return context.new_page(), watch.problems

    yield open_one
    for context in contexts:
        context.close()


@pytest.fixture
def page(open_page: Callable[[], tuple[Any, list[str]]]) -> Iterator[Any]:
    """A page; the test fails on whatever goes wrong on it."""
    opened, problems = open_page()
    yield opened
    assert [] == problems
