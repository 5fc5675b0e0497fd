"""The skill that agents read: short, in the format of skills, and of flags that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sdyopt.tools import cli
from sdyopt.tools.cli.flags import FLAGS

pytestmark = pytest.mark.sources

SKILL = Path(cli.__file__).with_name("skill.md").read_text(encoding="utf-8")


def test_it_has_the_fields_of_a_skill() -> None:
    _, fields, text = SKILL.split("---\n", 2)
    read = dict(line.split(": ", 1) for line in fields.splitlines())
    assert list(read) == ["name", "description"]
    assert re.fullmatch(r"[a-z0-9-]{1,64}", read["name"])
    assert len(read["description"]) <= 1024
    assert text.count("\n") <= 200


def test_its_flags_exist() -> None:
    named = set(re.findall(r"(?<![\w-])--([a-z][\w-]*)", SKILL))
    assert named
    assert not named - {*FLAGS}


def test_its_python_is_python() -> None:
    for block in re.findall(r"```python\n(.*?)```", SKILL, re.DOTALL):
        compile(block, "skill.md", "exec")
