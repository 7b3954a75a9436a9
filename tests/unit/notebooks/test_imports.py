import subprocess
import sys


def test_reading_and_planning_need_none_of_the_slow_libraries() -> None:
    program = (
        "import sys, autograder.notebooks.salvage, autograder.notebooks.executed;"
        "print(sorted({'IPython', 'nbformat', 'nbgrader', 'numpy', 'sqlalchemy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
