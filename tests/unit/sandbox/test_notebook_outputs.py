"""What cells show, as ipykernel would have recorded it."""

import re
import textwrap
from typing import Any

import pytest

Bench = Any  # tests/conftest.py


def stream(name: str, text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


def result(text: str, count: int = 1) -> dict[str, Any]:
    return {
        "output_type": "execute_result",
        "data": {"text/plain": text},
        "metadata": {},
        "execution_count": count,
    }


def display(text: str) -> dict[str, Any]:
    return {"output_type": "display_data", "data": {"text/plain": text}, "metadata": {}}


def test_the_last_expression_is_the_result_with_the_number_of_the_cell(bench: Bench) -> None:
    run = bench.run("1", "import numpy as np\nnp.arange(3)")
    assert {0: (result("1", 1),), 1: (result("array([0, 1, 2])", 2),)} == run.outputs


def test_folders_of_the_machine_are_not_shown(bench: Bench) -> None:
    source = "import os, numpy as np\nprint(os.getcwd(), np.__file__)\nnp.linalg.inv(np.zeros((2, 2)))"
    printed, error = bench.outputs(source)
    assert stream("stdout", ". site-packages/numpy/__init__.py\n") == printed
    assert "site-packages/numpy/linalg/_linalg.py" in "\n".join(error["traceback"])
    assert "/site-packages" not in "\n".join(error["traceback"])


def test_files_of_the_run_are_named_as_they_lie_beside_the_notebook(bench: Bench) -> None:
    run = bench.run("import given\ngiven.f()", files={"given.py": "def f():\n    1 / 0"})
    told = "\n".join(run.outputs[0][0]["traceback"])
    assert "File given.py:2" in re.sub("\x1b\\[[0-9;]*m", "", told)


@pytest.mark.parametrize("source", ["3;", "x = 3", "", "# nothing", "None", "%%capture\nprint(3)"])
def test_a_cell_that_shows_nothing_has_no_output(bench: Bench, source: str) -> None:
    assert () == bench.outputs(source)


def test_prints_that_follow_each_other_are_one_output(bench: Bench) -> None:
    assert (stream("stdout", "1\n2 3\n"),) == bench.outputs("print(1)\nprint(2, end=' ')\nprint(3)")


def test_streams_displays_and_the_result_come_in_their_order(bench: Bench) -> None:
    source = """
        import sys
        print("a")
        display("b")
        print("c", file=sys.stderr)
        print("d")
        sys.stdout.buffer.write("e".encode())
        "f"
    """
    expected = (
        stream("stdout", "a\n"),
        display("'b'"),
        stream("stderr", "c\n"),
        stream("stdout", "d\ne"),
        result("'f'"),
    )
    assert expected == bench.outputs(textwrap.dedent(source))


def test_a_display_can_be_updated(bench: Bench) -> None:
    source = """
        from IPython.display import update_display
        shown = display(1, display_id="it")
        display(2)
        shown.update(3)
        update_display(4, display_id="nobody's")
    """
    assert (display("3"), display("2")) == bench.outputs(textwrap.dedent(source))


def test_clear_output_forgets_what_was_shown(bench: Bench) -> None:
    source = "from IPython.display import clear_output\nprint(1)\nclear_output()\nprint(2)"
    assert (stream("stdout", "2\n"),) == bench.outputs(source)


def test_clear_output_can_wait_for_the_next_output(bench: Bench) -> None:
    source = "from IPython.display import clear_output\nprint(1)\nclear_output(wait=True)\n"
    assert (stream("stdout", "1\n"),) == bench.outputs(source)
    assert (display("2"),) == bench.outputs(source + "display(2)")


def test_a_warning_goes_to_stderr(bench: Bench) -> None:
    (shown,) = bench.outputs("import warnings\nwarnings.warn('old')")
    assert "stderr" == shown["name"]
    assert "UserWarning: old" in shown["text"]


def test_what_subprocesses_write_is_shown_at_the_end_of_the_cell(bench: Bench) -> None:
    source = "import os\nos.system('echo out; echo err >&2')\nprint('x')"
    assert (stream("stdout", "x\nout\n"), stream("stderr", "err\n")) == bench.outputs(source)


def test_what_is_written_to_the_descriptors_belongs_to_its_own_cell(bench: Bench) -> None:
    run = bench.run("import os\n_ = os.write(1, b'one')", "_ = os.write(1, b'two')", "3")
    assert [(stream("stdout", "one"),), (stream("stdout", "two"),), (result("3", 3),)] == list(
        run.outputs.values()
    )


def test_what_goes_to_the_first_streams_of_python_is_shown(bench: Bench) -> None:
    source = "import sys\nprint(1, file=sys.__stdout__)"
    assert (stream("stdout", "1\n"),) == bench.outputs(source)
    closed = bench.run("import sys\nsys.__stdout__.close()\nsys.__stderr__ = None", "3")
    assert (result("3", 2),) == closed.outputs[1]


def test_shell_commands_show_what_they_print(bench: Bench) -> None:
    assert (stream("stdout", "hello\r\n"),) == bench.outputs("!echo hello")


def test_magics_work(bench: Bench) -> None:
    (timing, value) = bench.outputs("%%time\nsum(range(10))")
    assert "Wall time" in timing["text"]
    assert result("45") == value
    assert (stream("stdout", "x\n"),) == bench.outputs("%%bash\necho x")


def test_top_level_await_works(bench: Bench) -> None:
    assert (result("7"),) == bench.outputs("import asyncio\nawait asyncio.sleep(0, 7)")


def test_help_pages_are_no_output(bench: Bench) -> None:
    assert () == bench.outputs("len?")


def test_figures_are_shown_inline(bench: Bench) -> None:
    pytest.importorskip("matplotlib")
    source = "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);"
    (shown,) = bench.outputs(source)
    assert "display_data" == shown["output_type"]
    assert {"text/plain", "image/png"} == set(shown["data"])
    (shown,) = bench.outputs("from matplotlib import pyplot\npyplot.plot([1, 2])\npyplot.show()")
    assert {"text/plain", "image/png"} == set(shown["data"])


def test_an_error_shows_its_traceback_and_the_next_cell_runs(bench: Bench) -> None:
    run = bench.run("1 / 0", "2")
    (error,) = run.outputs[0]
    assert ("error", "ZeroDivisionError", "division by zero") == (
        error["output_type"],
        error["ename"],
        error["evalue"],
    )
    assert "Cell In[1], line 1\n----> 1 1 / 0" in "\n".join(error["traceback"])
    assert (result("2", 2),) == run.outputs[1]


def test_a_syntax_error_is_an_error(bench: Bench) -> None:
    (error,) = bench.outputs("def f(:")
    assert "SyntaxError" == error["ename"]


@pytest.mark.parametrize("rendered", ["['only this']", "'only this'"])
def test_an_exception_may_render_its_own_traceback(bench: Bench, rendered: str) -> None:
    source = f"""
        class Own(Exception):
            def _render_traceback_(self):
                return {rendered}
        raise Own("text")
    """
    (error,) = bench.outputs(textwrap.dedent(source))
    assert ["only this"] == error["traceback"]


def test_an_exception_that_cannot_be_shown_is_shown_all_the_same(bench: Bench) -> None:
    source = "class Odd(Exception):\n    def __str__(self): raise RuntimeError\nraise Odd"
    error, *_ = bench.outputs(source)
    assert ("Odd", "<an exception that cannot be shown>") == (error["ename"], error["evalue"])


@pytest.mark.parametrize("source", ["input('? ')", "int(input())", "import getpass\ngetpass.getpass()"])
def test_input_fails_with_a_sentence_in_the_students_own_line(bench: Bench, source: str) -> None:
    (error,) = bench.outputs(source)
    assert "RuntimeError" == error["ename"]
    assert error["evalue"].startswith("input() cannot be answered while a notebook is graded")
    assert "Cell In[1]" in "\n".join(error["traceback"])


@pytest.mark.parametrize(
    "source",
    [
        "input()",
        "try:\n    input()\nexcept RuntimeError as error:\n    raise ValueError from error",
        "try:\n    input()\nexcept RuntimeError:\n    1 / 0",
        "import sys\nsys.stdout.write(3)",
    ],
)
def test_tracebacks_show_no_file_of_the_worker(bench: Bench, source: str) -> None:
    (error,) = bench.outputs(source)
    text = "\n".join(error["traceback"])
    assert "Cell In[1]" in text
    assert "sandbox" not in text
    assert "_no_input" not in text


def test_exit_and_sys_exit_end_the_cell_only(bench: Bench) -> None:
    run = bench.run("exit()", "import sys\nsys.exit(3)", "4")
    assert () == run.outputs[0]
    assert "SystemExit" == run.outputs[1][0]["ename"]
    assert (result("4", 3),) == run.outputs[2]


def test_the_files_of_the_run_are_in_the_working_directory_and_can_be_imported(bench: Bench) -> None:
    run = bench.run("import given\ngiven.two", "open('given.py').read()", files={"given.py": "two = 2"})
    assert [(result("2", 1),), (result("'two = 2'", 2),)] == list(run.outputs.values())


def test_every_run_has_a_home_of_its_own(bench: Bench) -> None:
    places = "from pathlib import Path\nimport tempfile\nplaces = Path.home(), Path(tempfile.gettempdir())\n"
    write = "for place in places: (place / 'mine').touch()"
    look = "[(place / 'mine').exists() for place in places]"
    assert (result("[True, True]", 2),) == bench.outputs(places + write, look)
    assert (result("[False, False]", 2),) == bench.outputs(places, look)


def test_a_child_that_a_cell_forks_and_forgets_does_not_disturb_the_notebook(bench: Bench) -> None:
    run = bench.run("import os\nforked = os.fork()\nprint('here')", "type(forked)", "3")
    assert (stream("stdout", "here\n"),) == run.outputs[0]
    assert (result("3", 3),) == run.outputs[2]


def test_code_that_no_file_could_hold_runs_with_question_marks(bench: Bench) -> None:
    assert (result("'?'"),) == bench.outputs("'\ud800'")


def test_a_null_character_in_a_cell_is_an_error_of_that_cell(bench: Bench) -> None:
    run = bench.run("'\0'", "2")
    assert "error" == run.outputs[0][-1]["output_type"]
    assert run.stopped_at is None


def test_text_that_is_no_unicode_is_kept_readable(bench: Bench) -> None:
    source = "import os\n_ = os.write(1, b'\\xff')\nprint('\\ud800')"
    assert (stream("stdout", "?\n\ufffd"),) == bench.outputs(source)


@pytest.mark.parametrize(
    "flood",
    [
        "while True: print('line')",
        "import os\nwhile True: os.write(1, b'x' * 1000)",
        "while True: display(1)",
        "print('x' * 10**8)",
        "print('\\N{GRINNING FACE}' * 10**6)",
        "print('\\x01' * 10**6)",
        "raise ValueError('x' * 10**8)",
        "!yes",
    ],
)
def test_what_is_shown_is_bounded(strict: Bench, flood: str) -> None:
    run = strict.run("print('before')", flood, "print('after')")
    assert (stream("stdout", "before\n"),) == run.outputs[0]
    assert len(repr(run.outputs)) < strict.limits.output_bytes * 8


def test_a_cut_is_marked_and_the_text_before_it_is_kept(strict: Bench) -> None:
    (kept, note) = strict.outputs("print('x' * 10**6)")
    assert 0.9 * strict.limits.output_bytes < len(kept["text"]) <= strict.limits.output_bytes
    assert "output cut here" in note["text"]


def test_a_cell_that_clears_its_output_again_and_again_is_not_cut(strict: Bench) -> None:
    source = """
        from IPython.display import clear_output
        for step in range(20):
            clear_output(wait=True)
            print(str(step) * 10_000)
    """
    assert ("19" * 10_000 + "\n",) == tuple(one["text"] for one in strict.outputs(textwrap.dedent(source)))


def test_many_small_prints_take_no_longer_than_they_must(bench: Bench) -> None:
    (shown,) = bench.outputs("for number in range(200_000): print(number)")
    assert 200_000 == shown["text"].count("\n")
