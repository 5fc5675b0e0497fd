"""Random command lines: passes with random options, chains of them, and flags of the driver."""

from functools import cache
from random import Random

from sdyopt.mlir.pipeline.base import Option
from sdyopt.mlir.registry import all_passes
from sdyopt.mlir.registry.table import PassEntry, PipelineEntry

# Passes that write files, in a folder that an option names, or whose output is for debugging only.
_EXCLUDED_OPTIONS = ("dump-directory", "module-dump-directory")
_DRIVER = (
    "--split-input-file",
    "--verify-roundtrip",
    "--verify-diagnostics",
    "--verify-diagnostics=only-expected",
    "--mlir-print-op-generic",
    "--mlir-print-debuginfo",
    "--mlir-pretty-debuginfo",
    "--mlir-print-local-scope",
    "--mlir-print-skip-regions",
    "--mlir-print-value-users",
    "--mlir-print-unique-ssa-ids",
    "--mlir-use-nameloc-as-prefix",
    "--mlir-elide-elementsattrs-if-larger=2",
    "--mlir-print-elementsattrs-with-hex-if-larger=2",
    "--mlir-print-ir-after-all",
    "--no-implicit-module",
    "--mesh-version=21",
    "--lint",
    "--report",
    "--werror",
)
_VALUES = ("0", "1", "2", "-1", "true", "x", "sdy", "9223372036854775808", "")


def random_flags(random: Random, entries: list[PassEntry | PipelineEntry] | None = None) -> tuple[str, ...]:
    """A command line: mostly a few passes, sometimes flags of the driver."""
    entries = entries or _all_passes()
    chain = [_pass(random, random.choice(entries)) for _ in range(random.choice((0, 1, 1, 1, 2, 3, 5)))]
    allow = ["--allow-unregistered-dialect"] if random.random() < 0.8 else []
    driver = [flag for flag in _DRIVER if random.random() < 0.04]
    return (*chain, *allow, *driver)


@cache
def _all_passes() -> list[PassEntry | PipelineEntry]:
    return all_passes()


def _pass(random: Random, entry: PassEntry | PipelineEntry) -> str:
    options = [option for option in entry.options() if option.flag not in _EXCLUDED_OPTIONS]
    texts = [_option(random, option) for option in options if random.random() < 0.25]
    return f"-{entry.flag}" + (f"={' '.join(texts)}" if texts else "")


def _option(random: Random, option: Option) -> str:
    """An option with a value of its kind, or sometimes of another."""
    choices = option.kind.choices or (("true", "false") if isinstance(option.default, bool) else _VALUES)
    return f"{option.flag}={random.choice(choices if random.random() < 0.97 else _VALUES)}"
