"""Classes have their fields even in a file that does not import annotations from __future__, as of a plugin.

This file does not import them. Python 3.14 then evaluates the annotations of a class lazily.
"""

from typing import ClassVar

from sdyopt.base.interning import Interned, field_names
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry.table import entries, register


class Pair(Interned):
    count: ClassVar[int] = 2
    first: int
    second: int = 0


def test_an_interned_class_has_its_fields() -> None:
    assert field_names(Pair) == ("first", "second")
    assert Pair(1) is Pair(1, 0)
    assert Pair.count == 2


def test_a_pass_has_its_options() -> None:
    @register("test-annotations")
    class Annotated(Pass):
        """test-annotations: nothing."""

        size: int = option(default=3, help="a number")

    del entries["test-annotations"]
    assert [each.flag for each in Annotated.options()] == ["size"]
    assert Annotated(size=4).size == 4
