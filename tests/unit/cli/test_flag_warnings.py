"""Warnings for flags that have no effect without another flag."""

from sdyopt.tools.cli.arguments import read_arguments
from sdyopt.tools.cli.flags import FLAGS
from sdyopt.tools.cli.request import flag_warnings


def warnings(*argv: str) -> list[tuple[str, str]]:
    return [(warning.message, warning.help) for warning in flag_warnings(read_arguments(argv))]


def test_flags_need_flags() -> None:
    assert {needed for flag in FLAGS.values() for needed in flag.needs} <= set(FLAGS)


def test_a_flag_needs_another_one() -> None:
    assert warnings("--mlir-timing-display=list") == [
        ("the --mlir-timing-display option has no effect", "add --mlir-timing")
    ]
    assert warnings("--mlir-timing-display=list", "--mlir-timing") == []


def test_one_of_several_flags_is_enough() -> None:
    assert len(warnings("--mlir-print-ir-tree-dir=tree")) == 1
    assert warnings("--mlir-print-ir-tree-dir=tree", "--mlir-print-ir-after=cse") == []
    assert warnings("--mlir-print-ir-tree-dir=tree", "--mlir-print-ir-after-change") == []


def test_a_default_value_is_no_reason_to_warn() -> None:
    assert warnings("--mlir-print-ir-module-scope=false", "--mlir-timing-display=tree") == []
