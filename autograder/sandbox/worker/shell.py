"""An IPython shell that runs a notebook's cells and catches what ipykernel would have shown."""

import builtins
import getpass
import importlib
import os
import sys
from pathlib import Path
from typing import Any, cast

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
#: What top-level ``await``, ``!``, ``%%time`` and ``np.random`` import at their first use.
WARM_MODULES = ("asyncio", "pexpect", "timeit", "IPython.core.magics.execution", "numpy.random")
OWN_FOLDER = str(Path(__file__).parent)


class CellCompiler(CachingCompiler):
    """Remembers which file name stands for which cell, to tell the line of an error in the student's cell."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.running: int | None = None
        self.cell_of: dict[str, int] = {}

    def cache(self, transformed_code: str, number: int = 0, raw_code: str | None = None) -> str:
        """Name a piece of code, as IPython does."""
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
            _outputs_of(self.shell).display("execute_result", format_dict, count=self.prompt_count)

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
            _outputs_of(self.shell).update(data, display_id)
        else:
            _outputs_of(self.shell).display("display_data", data, display_id)

    def clear_output(self, wait: bool = False) -> None:
        _outputs_of(self.shell).clear(wait)


class StudentShell(InteractiveShell):
    """The shell; ``outputs`` is set for each run."""

    displayhook_class = Type(_Results)
    display_pub_class = Type(_Displays)
    system = InteractiveShell.system_piped
    outputs: Outputs

    def _get_exc_info(self, exc_tuple: Any = None) -> Any:
        kind, value, trace = super()._get_exc_info(exc_tuple)  # type: ignore[no-untyped-call]
        _leave_out_own_frames(value)
        return kind, value, trace

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        lines = stb.splitlines() if isinstance(stb, str) else [str(line) for line in stb]
        self.outputs.error(str(getattr(etype, "__name__", etype)), _text_of(evalue), lines)

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
    shell.set_hook("show_in_pager", _show_no_page)  # type: ignore[no-untyped-call]
    builtins.input = getpass.getpass = _no_input
    _warm_up(shell)
    return shell


def _warm_up(shell: StudentShell) -> None:
    """Do once what would cost every run some 50 ms: what the first cell and the first error need."""
    for module in WARM_MODULES:
        importlib.import_module(module)
    for source in ("None", "1 / 0"):
        shell.run_cell(source, silent=True)  # type: ignore[no-untyped-call]
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        vars(sys).pop(name, None)


def run_cell(shell: StudentShell, index: int, source: str) -> None:
    """Run one cell; whatever it shows ends up in ``shell.outputs``."""
    cast(CellCompiler, shell.compile).running = index
    shell.run_cell(source, store_history=True)  # type: ignore[no-untyped-call]


def _outputs_of(shell: Any) -> Outputs:
    return cast(StudentShell, shell).outputs


def _no_input(prompt: object = "", stream: object = None) -> str:
    raise RuntimeError(NO_INPUT)


def _show_no_page(shell: object, data: object, start: int = 0, screen_lines: int = 0) -> None:
    """Help pages (``name?``) are shown beside a notebook and are no output of a cell."""


def _leave_out_own_frames(error: BaseException | None) -> None:
    """Cut this program's frames out of an exception's traceback, and out of those that led to it."""
    met: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in met:
            continue
        met.add(id(one))
        trace = one.__traceback__
        while trace is not None:
            while trace.tb_next is not None and _is_own(trace.tb_next.tb_frame.f_code.co_filename):
                trace.tb_next = trace.tb_next.tb_next
            trace = trace.tb_next
        waiting += [one.__cause__, one.__context__]


def _is_own(filename: str) -> bool:
    return filename.startswith(OWN_FOLDER)


def _text_of(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 (the student's own __str__ may do anything)
        return "<an exception that cannot be shown>"
