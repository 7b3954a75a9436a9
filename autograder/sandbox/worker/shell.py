"""An IPython shell that runs a notebook's cells and catches what ipykernel would have shown."""

import builtins
import linecache
import os
from typing import Any

from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from .streams import Outputs

NO_INPUT = (
    "input() cannot be answered while a notebook is graded: nobody is there to type. "
    "Put the value into the cell instead."
)


class CellCompiler(CachingCompiler):
    """Remembers which file name stands for which cell, to tell the line of an error in the student's cell."""

    def __init__(self) -> None:
        super().__init__()
        self.running: int | None = None
        self.cell_of: dict[str, int] = {}

    def cache(self, transformed_code: str, number: int = 0, raw_code: str | None = None) -> str:
        name: str = super().cache(transformed_code, number, raw_code)
        if self.running is not None:
            self.cell_of[name] = self.running
        return name


class _Results(DisplayHook):
    """The value of a cell's last expression."""

    def write_output_prompt(self) -> None:
        """Prompts are the front end's affair."""

    def write_format_data(self, format_dict: dict[str, Any], md_dict: Any = None) -> None:
        if format_dict:
            self.shell.outputs.display("execute_result", format_dict, count=self.prompt_count)

    def finish_displayhook(self) -> None:
        self._is_active = False


class _Displays(DisplayPublisher):
    """What ``display`` shows."""

    def publish(
        self,
        data: Any,
        metadata: Any = None,
        source: Any = None,
        *,
        transient: Any = None,
        update: bool = False,
        **_: Any,
    ) -> None:
        display_id = (transient or {}).get("display_id")
        if update:
            self.shell.outputs.update(data, display_id)
        else:
            self.shell.outputs.display("display_data", data, display_id)

    def clear_output(self, wait: bool = False) -> None:
        self.shell.outputs.clear(wait)


class StudentShell(InteractiveShell):
    """The shell; ``outputs`` is set for each run."""

    displayhook_class = Type(_Results)
    display_pub_class = Type(_Displays)
    system = InteractiveShell.system_piped
    outputs: Outputs

    def _showtraceback(self, etype: Any, evalue: Any, stb: list[str]) -> None:
        self.outputs.error(_name_of(etype), _text_of(evalue), [str(line) for line in stb])

    def enable_gui(self, gui: Any = None) -> None:
        """A notebook that is graded has no windows."""

    def ask_exit(self) -> None:
        """``exit`` in a cell: under Jupyter it ends the session; here the next cell runs all the same."""


def make_shell() -> StudentShell:
    """A warm shell: made once in the zygote, used by the forks. Starts no thread, reads no profile."""
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.enable_tip = False
    shell: StudentShell = StudentShell.instance(config=config)
    shell.outputs = Outputs(0)
    shell.compile = CellCompiler()
    builtins.input = _no_input
    linecache.checkcache()
    return shell


def run_cell(shell: StudentShell, index: int, source: str) -> None:
    """Run one cell; whatever it does ends up in ``shell.outputs``."""
    compiler = shell.compile
    if isinstance(compiler, CellCompiler):
        compiler.running = index
    shell.outputs.start_cell()
    shell.run_cell(source, store_history=True)


class NoInputError(RuntimeError):
    """Shown as its sentence alone: the frames of the grader would tell the student nothing."""

    def _render_traceback_(self) -> list[str]:
        return [f"RuntimeError: {self}"]


def _no_input(prompt: object = "") -> str:
    raise NoInputError(NO_INPUT)


def _name_of(etype: Any) -> str:
    return str(getattr(etype, "__name__", etype))


def _text_of(value: Any) -> str:
    try:
        return str(value)
    except Exception:
        return "<an exception that cannot be shown>"
