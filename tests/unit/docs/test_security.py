"""What the pages on security and limits say is what there is."""

import re
from dataclasses import asdict
from pathlib import Path

from autograder.assignments.environment import read_environment
from autograder.assignments.limits import read_limits
from autograder.model import Limits

ROOT = Path(__file__).parents[3]
SECURITY = (ROOT / "docs/security.md").read_text(encoding="utf-8")
LIMITS = (ROOT / "docs/limits.md").read_text(encoding="utf-8")
ROWS = [line for line in SECURITY.splitlines() if re.match(r"\| (?!Attack|-)", line)]


def defined(text: str) -> set[str]:
    return set(re.findall(r"^def (test_\w+)", text, re.MULTILINE))


def test_every_attack_names_tests_that_exist() -> None:
    there = set().union(
        *(defined(path.read_text(encoding="utf-8")) for path in (ROOT / "tests").rglob("*.py"))
    )
    assert len(ROWS) > 30
    for row in ROWS:
        named = set(re.findall(r"`(test_\w+)`", row.split("|")[4]))
        assert named, row
        assert set() == named - there


def test_every_attack_that_is_tested_is_told() -> None:
    files = sorted((ROOT / "tests/adversarial").glob("test_*.py"))
    untold = {
        path.name
        for path in files
        if not defined(path.read_text(encoding="utf-8")) & set(re.findall(r"`(test_\w+)`", SECURITY))
    }
    assert set() == untold


def test_the_table_of_limits_has_every_limit_with_its_default() -> None:
    told = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", LIMITS, re.MULTILINE))
    assert {name: str(value) for name, value in asdict(Limits()).items()} == told


def test_the_example_of_limits_is_read(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", LIMITS, re.DOTALL)
    (tmp_path / "limits.toml").write_text(example)
    assert 60.0 == read_limits(tmp_path, "multihead").notebook_seconds
    assert 4 * 2**30 == read_limits(tmp_path, "multihead").memory_bytes


def test_the_example_of_an_environment_is_read(tmp_path: Path) -> None:
    text = (ROOT / "docs/environments.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "environment.toml").write_text(example)
    environment, limits = read_environment(tmp_path)
    assert (("torch",), {"call_seconds": 4.0}) == (environment.packages, limits)
    table = dict(re.findall(r"^\| `(\w+)` \| `?(\w+)`? \|", text, re.MULTILINE))
    assert {"packages": "none", "optional": "matplotlib", "warm_up": "none"} == table
