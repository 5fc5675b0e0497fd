"""Random modules contain all operations that have a sharding rule."""

import re

import sdyopt.shardy.sharding.rules  # noqa: F401  # registers them
from sdyopt.shardy.sharding.op_sharding_rule_builder import rule_entries
from sdyopt.shardy.sharding.rules.elementwise import no_rule
from tests.random_modules.rules.modules import random_module


def test_every_operation_with_a_rule_occurs() -> None:
    names: set[str] = set()
    for seed in range(300):
        names.update(re.findall(r"\b(?:stablehlo|sdy)\.[\w-]+", random_module(seed)))
    assert {op.name for op, entry in rule_entries.items() if entry.function is not no_rule} <= names
