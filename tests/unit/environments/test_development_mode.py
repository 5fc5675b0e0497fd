"""Python emits no warnings: nothing is deprecated, no file stays open, no encoding depends on the locale."""

from pathlib import Path

from tests.harness.process import FIRST_EXAMPLE, environment_with, first_example, sdy_opt

# Warnings are errors, in libraries too.
STRICT = ("-X", "dev", "-X", "warn_default_encoding", "-W", "error")


def test_the_first_example_causes_no_warnings() -> None:
    assert sdy_opt(*FIRST_EXAMPLE, python=STRICT) == first_example()


def test_generating_parse_tables_causes_no_warnings(tmp_path: Path) -> None:
    # The cache is empty, so Lark generates the parse tables.
    environment = environment_with(XDG_CACHE_HOME=str(tmp_path))
    assert sdy_opt("examples/mlp.mlir", python=STRICT, environment=environment).errors == b""
    assert list(tmp_path.rglob("*.json"))


def test_help_and_reports_cause_no_warnings() -> None:
    assert sdy_opt("--help", python=STRICT) == sdy_opt("--help")
    reports = ("--mlir-timing", "--mlir-pass-statistics", "--color=always")
    printed = sdy_opt(*FIRST_EXAMPLE, *reports, python=STRICT)
    assert printed._replace(errors=b"") == first_example()
    assert b"Warning" not in printed.errors
