"""Whether there is a sandbox, and what is said where there is none."""

import os
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.errors import SandboxError
from autograder.sandbox import trial
from autograder.sandbox.choice import UNSAFE, Way, choose

Fake = Callable[[str], None]


def launcher_of(way: Way) -> tuple[bool, bool]:
    """Whether its launchers are sandboxed, and for a single run."""
    launcher = way()
    launcher.close()
    return launcher.sandboxed, launcher.single_use


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    trial.allows_rooms.cache_clear()
    yield
    trial.allows_rooms.cache_clear()


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Put a program of that text in bubblewrap's place."""

    def put(text: str) -> None:
        program = tmp_path / "bwrap"
        program.write_text(f"#!/bin/sh\n{textwrap.dedent(text)}")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    return put


def says(settings: Path, monkeypatch: pytest.MonkeyPatch, **values: str) -> str:
    """What is said where the kernel has these settings."""
    for name, value in values.items():
        path = settings / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{value}\n")
    monkeypatch.setattr(trial, "SYSCTL", settings)
    with pytest.raises(SandboxError) as raised:
        choose()
    assert 3 == raised.value.exit_code
    return str(raised.value)


@pytest.mark.usefixtures("sandbox")
def test_where_all_is_well_there_is_a_sandbox() -> None:
    way = choose()
    assert way.sandboxed
    assert launcher_of(way)[0]


def test_who_wants_none_gets_none_and_nothing_is_tried(fake: Fake) -> None:
    fake("exit 1")
    assert choose(unsafe=True) is UNSAFE
    assert not UNSAFE.sandboxed
    assert (False, False) == launcher_of(UNSAFE)


def test_without_bubblewrap_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="apt-get install bubblewrap"):
        choose()


@pytest.mark.parametrize(
    ("settings", "remedy"),
    [
        ({"kernel__apparmor_restrict_unprivileged_userns": "1"}, "sudo tee /etc/apparmor.d/bwrap"),
        ({"kernel__apparmor_restrict_unprivileged_userns": "0"}, "--security-opt"),
        ({"kernel__unprivileged_userns_clone": "0"}, "sysctl -w kernel.unprivileged_userns_clone=1"),
        ({"user__max_user_namespaces": "0"}, "sysctl -w user.max_user_namespaces="),
        ({}, "In a container"),
    ],
)
def test_what_the_kernel_forbids_is_told_with_the_remedy(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], remedy: str
) -> None:
    fake("echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1")
    told = says(tmp_path / "sys", monkeypatch, **settings)
    assert "bwrap could not make it: bwrap: setting up uid map: Permission denied" in told
    assert remedy in told
    assert "--unsafe" in told


def test_the_remedy_for_ubuntu_is_one_that_can_be_pasted(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake("exit 1")
    told = says(tmp_path / "sys", monkeypatch, kernel__apparmor_restrict_unprivileged_userns="1")
    profile = f"profile bwrap {tmp_path}/bwrap flags=(unconfined) {{ userns, }}"
    assert rf"    printf 'abi <abi/4.0>,\ninclude <tunables/global>\n{profile}\n' | sudo tee" in told
    assert "    sudo apparmor_parser -r /etc/apparmor.d/bwrap" in told


def test_what_cannot_be_read_by_others_is_told(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    report = '{"room": null, "confined": null, "readable": "Permission denied: /x/numpy"}'
    fake(f"echo '{report}'")
    monkeypatch.setattr(trial, "can_be_another", lambda: True)
    with pytest.raises(SandboxError, match="Permission denied: /x/numpy") as raised:
        choose()
    assert "chmod -R go+rX" in str(raised.value)


def test_where_rooms_cannot_be_made_each_run_gets_a_box(fake: Fake) -> None:
    fake(
        """
        case "$*" in
            *"trial"*" rooms "*) echo '{"room": "mount: no", "confined": null, "readable": null}' ;;
            *) echo '{"room": null, "confined": null, "readable": null}' ;;
        esac
        """
    )
    assert (True, True) == launcher_of(choose())


def test_a_system_other_than_linux_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(SandboxError, match="Grading needs Linux"):
        choose()


def test_a_machine_without_a_filter_of_system_calls_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(SandboxError, match="not for riscv64"):
        choose()


def test_a_bubblewrap_that_hangs_is_no_sandbox(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    fake("exec sleep 60")
    monkeypatch.setattr(trial, "TRIAL_SECONDS", 0.2)
    with pytest.raises(SandboxError, match="did not start within"):
        choose()
