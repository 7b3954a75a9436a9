"""The parent's end of the conversation with the grading process (see ``grading_process``)."""

import contextlib
import json
import select
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from autograder.errors import JudgeError

MODULE = "autograder.nbgrader_plugin.grading_process"
#: More than the limits of any notebook add up to: a process that is silent for longer has a fault.
ANSWER_SECONDS = 3600.0
#: A process that is told to end, and does not, is killed after that.
END_SECONDS = 5.0
#: A process that ended before it was asked, since it had nothing to do, is started once more.
LIVES = 2


@dataclass(frozen=True)
class Answer:
    """What became of a submission; ``score`` is None where a fault of ours kept it from one."""

    status: str
    score: float | None
    max_score: float
    reason: str | None
    notes: tuple[str, ...]
    trace: str | None


class Grader:
    """Grades submissions of one assignment in a process that is started when it is first needed.

    With ``unsafe`` students' code runs without the sandbox, and every result says so.
    """

    def __init__(
        self, course: Path, assignment: str, directory: Mapping[str, str], *, unsafe: bool = False
    ) -> None:
        self._course = course
        self._order = {
            "course": str(course),
            "assignment": assignment,
            "unsafe": unsafe,
            "directory": dict(directory),
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None

    def grade(self, student: str) -> Answer:
        """Have a submission graded and recorded; raises JudgeError where that could not be done at all."""
        line = self._ask(student)
        try:
            data = json.loads(line)
            if "fault" in data:
                raise JudgeError("\n".join(filter(None, [data["fault"], data["trace"]])))
            return Answer(**(data | {"notes": tuple(data["notes"])}))
        except (ValueError, TypeError, KeyError) as error:
            raise JudgeError(
                f"The grading process gave no answer that makes sense: {line[:200]!r}"
            ) from error

    def close(self) -> None:
        """End the process, if there is one; may be called at any time, and more than once."""
        process, self._process = self._process, None
        log, self._log = self._log, None
        if process is None or process.stdin is None or process.stdout is None:
            return
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.terminate()
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        process.stdout.close()
        if log is not None:
            log.close()

    def _ask(self, student: str) -> bytes:
        """The line that answers; raises JudgeError where none comes."""
        for _ in range(LIVES):
            fresh = self._process is None
            process = self._process or self._start()
            assert process.stdin is not None
            assert process.stdout is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(json.dumps({"student": student}).encode() + b"\n")
                process.stdin.flush()
            if not select.select([process.stdout], [], [], ANSWER_SECONDS)[0]:
                self.close()
                raise JudgeError(f"The grading process was silent for {ANSWER_SECONDS:g} seconds.")
            line = process.stdout.readline()
            if line:
                return line
            words = self._last_words()
            self.close()
            if fresh:
                break
        raise JudgeError(f"The grading process ended without an answer. Its last words: {words}")

    def _start(self) -> subprocess.Popen[bytes]:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", MODULE],
            cwd=self._course,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            # Ctrl-C reaches nbgrader alone, which then closes our end.
            start_new_session=True,
        )
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(self._order).encode() + b"\n")
        return self._process

    def _last_words(self) -> str:
        if self._log is None:
            return "none"
        self._log.seek(0)
        return self._log.read().decode("utf-8", "replace").strip()[-2000:] or "none"
