"""Parsing of the command line."""

from pathlib import Path

import pytest

from sdyopt.analysis.interface.flag import GROUPS
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.tools.cli.arguments import read_arguments, with_files
from sdyopt.tools.cli.flags import FLAGS


def passes(*argv: str) -> list[tuple[str, str]]:
    return [(flag.name, flag.options) for flag in read_arguments(argv).passes]


def test_passes_keep_their_order_and_repeats() -> None:
    assert passes("-a", "x.mlir", "--b=1", "-a", "-c=x=1 y=2") == [
        ("a", ""),
        ("b", "1"),
        ("a", ""),
        ("c", "x=1 y=2"),
    ]


def test_a_file_name_is_not_the_value_of_the_flag_before_it() -> None:
    for flag in ("-some-pass", "--split-input-file", "--verify-diagnostics", "--verify-each", "--color"):
        assert read_arguments([flag, "x.mlir"]).input == "x.mlir"


def test_values_may_follow_flags_that_need_one() -> None:
    arguments = read_arguments(
        ["-o", "out", "--pass-pipeline", "builtin.module()", "-mlir-elide-elementsattrs-if-larger=0x10"]
    )
    assert arguments["o"] == "out"
    assert arguments["pass-pipeline"] == "builtin.module()"
    assert arguments["mlir-elide-elementsattrs-if-larger"] == 16
    assert arguments.input == "-"


def test_values_after_an_equals_sign() -> None:
    arguments = read_arguments(
        [
            "--verify-each=false",
            "-o=out",
            "--split-input-file=// ----",
            "--mlir-print-ir-after=a,b",
            "--mlir-print-ir-after=c",
        ]
    )
    assert not arguments["verify-each"]
    assert arguments["o"] == "out"
    assert arguments["split-input-file"] == "// ----"
    assert arguments["mlir-print-ir-after"] == ("a", "b", "c")


def test_flags_have_defaults_and_implied_values() -> None:
    arguments = read_arguments([])
    assert arguments["verify-each"] is True
    assert arguments["split-input-file"] == arguments["verify-diagnostics"] == ""
    assert arguments["mlir-print-ir-after"] == ()
    assert arguments["pass-pipeline"] is None
    arguments = read_arguments(["-split-input-file", "-verify-diagnostics", "-color"])
    assert [arguments[name] for name in ("split-input-file", "verify-diagnostics", "color")] == [
        "// -----",
        "all",
        "always",
    ]


def test_double_dash_ends_flags() -> None:
    assert read_arguments(["-a", "--", "-strange.mlir"]).input == "-strange.mlir"


@pytest.mark.parametrize(
    ("argv", "message", "help"),
    [
        (["check", "a"], "Too many positional arguments specified!", "write --check, with hyphens"),
        (["a", "b"], "Too many positional arguments specified!", "remove the second input 'b'"),
        (["a", "--budget", "-o", "b"], "Too many", "--budget takes '-o' for its value; write --budget=FILE"),
        (["a", "-cse", "a=1"], "Too many", "write -cse='a=1'"),
        (["a", "\N{EM DASH}cse"], "Too many", "write '-cse', with a hyphen"),
        (["-o"], "for the -o option: requires a value!", "write -o FILE"),
        (["--verify-each=maybe"], "'maybe' is invalid value for boolean argument! Try 0 or 1", ""),
        (["--mlir-timing-display=lsit"], "Cannot find option named 'lsit'!", "did you mean 'list'?"),
        (["--color=pink"], "Cannot find option named 'pink'!", "choose from auto, always, never"),
        (["--mlir-elide-elementsattrs-if-larger=x"], "'x' value invalid for uint argument!", ""),
    ],
)
def test_invalid_arguments_are_errors_with_help(argv: list[str], message: str, help: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_arguments(argv)
    assert message in caught.value.message
    assert caught.value.help == help


def test_every_flag_is_in_a_group_that_help_shows() -> None:
    assert {flag.group for flag in FLAGS.values()} == set(GROUPS)


@pytest.mark.parametrize(
    ("argv", "help"),
    [
        (["-o", "a", "-o", "b"], "remove 'a' or 'b'"),
        (["--pass-pipeline=any(cse)", "--pass-pipeline=any(inline)"], "remove 'any(cse)' or 'any(inline)'"),
        (["--report-rows=1", "--report-rows=2"], "remove '1' or '2'"),
        (["--verify-each", "--verify-each=false"], "remove 'true' or 'false'"),
    ],
)
def test_two_different_values_of_a_flag_are_an_error(argv: list[str], help: str) -> None:
    with pytest.raises(UsageError, match="may only occur zero or one times") as caught:
        read_arguments(argv)
    assert caught.value.help == help


def test_the_same_value_twice_is_no_error() -> None:
    assert read_arguments(["-o", "a", "-o", "a"])["o"] == "a"


def test_arguments_of_files_stand_in_place_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "inner").write_text("-cse 'a b'", encoding="utf-8")
    (tmp_path / "outer").write_text(f"-x @{tmp_path}/inner\n-y", encoding="utf-8")
    assert with_files(["1", f"@{tmp_path}/outer", "@none"]) == ["1", "-x", "-cse", "a b", "-y", "@none"]


@pytest.mark.parametrize("repetitions", [1, 2])
def test_too_many_files_of_arguments_are_an_error(tmp_path: Path, repetitions: int) -> None:
    """A chain of files, and files whose arguments double with each."""
    for number in range(600):
        text = f"@{tmp_path}/{number + 1} " * repetitions
        (tmp_path / str(number)).write_text(text, encoding="utf-8")
    (tmp_path / "600").write_text("-cse", encoding="utf-8")
    with pytest.raises(UsageError, match="there are more than 500 files of arguments"):
        with_files([f"@{tmp_path}/0"])
    assert with_files([f"@{tmp_path}/595"]) == ["-cse"] * repetitions**5
