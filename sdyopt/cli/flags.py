"""The flags of the command line that are not passes: one table for parsing, help and completion."""

from __future__ import annotations

from typing import Final, NamedTuple

GENERAL: Final = "General"
PIPELINE: Final = "Pipeline"
PRINTING: Final = "Printing"
OBSERVING: Final = "Watching passes"
DIAGNOSTICS: Final = "Diagnostics"
INFORMATION: Final = "Information"

GROUPS = (GENERAL, PIPELINE, DIAGNOSTICS, PRINTING, OBSERVING, INFORMATION)


class Flag(NamedTuple):
    """A flag. One without a placeholder is a switch, on when given; others take a value.

    `implied` is the value of a flag that may be given without one: then a value can only follow
    after `=`, so that a file name behind the flag is never taken for it. `kind` says how to read
    the value; `is_list` that it holds several, separated by commas, and that the flag may come again;
    `is_signed` that a number may be negative.
    """

    name: str
    group: str
    help: str
    placeholder: str = ""
    default: bool | int | str | None = None
    implied: str | None = None
    kind: type[bool] | type[int] | type[str] = str
    choices: tuple[str, ...] = ()
    is_list: bool = False
    is_signed: bool = False


def _switch(name: str, group: str, help: str, default: bool = False) -> Flag:
    return Flag(name, group, help, "", default, "true", bool)


def _choice(name: str, group: str, help: str, *choices: str, implied: str | None = None) -> Flag:
    """A flag with one of a few values; the first is the default, unless one is implied when given bare."""
    default = choices[0] if implied is None else ""
    return Flag(name, group, help, "|".join(choices), default, implied, choices=choices)


_ALL = (
    Flag("o", GENERAL, "where the result goes; - is stdout", "FILE", "-"),
    Flag(
        "split-input-file",
        GENERAL,
        "process the pieces between markers, by default // -----, one by one",
        "MARKER",
        "",
        implied="// -----",
    ),
    Flag("output-split-marker", GENERAL, "what stands between the results of pieces", "MARKER", "// -----"),
    _choice("mesh-version", GENERAL, "the LLVM release whose form of the mesh dialect is meant", "19", "21"),
    _switch("allow-unregistered-dialect", GENERAL, "allow operations of dialects that are not known"),
    Flag("load-dialect-plugin", GENERAL, "know a dialect of an installed package", "NAME", is_list=True),
    Flag("load-pass-plugin", GENERAL, "know the passes of an installed package", "NAME", is_list=True),
    _switch("mlir-disable-threading", GENERAL, "accepted; there is one thread"),
    Flag("pass-pipeline", PIPELINE, "a pipeline as text, instead of flags of passes", "TEXT"),
    _switch("verify-each", PIPELINE, "verify after each pass that changed something", default=True),
    _switch("verify-roundtrip", PIPELINE, "print the input, read it back, and compare"),
    _switch("dump-pass-pipeline", PIPELINE, "show the pipeline, with the value of every option"),
    _switch("run-reproducer", PIPELINE, "run the pipeline that the input names"),
    Flag("mlir-generate-reproducer", PIPELINE, "write the input with its pipeline", "FILE", ""),
    Flag(
        "mlir-pass-pipeline-crash-reproducer",
        PIPELINE,
        "write the input with its pipeline when a pass fails",
        "FILE",
        "",
    ),
    _choice(
        "verify-diagnostics",
        DIAGNOSTICS,
        "check diagnostics against expected-* comments",
        "all",
        "only-expected",
        implied="all",
    ),
    _switch("mlir-print-op-on-diagnostic", DIAGNOSTICS, "show the operation that is meant", default=True),
    _choice("color", DIAGNOSTICS, "colours on stderr", "auto", "always", "never", implied="always"),
    _switch("mlir-print-op-generic", PRINTING, "print the generic form"),
    _switch("mlir-print-debuginfo", PRINTING, "print locations"),
    _switch("mlir-pretty-debuginfo", PRINTING, "print locations for people"),
    _switch("mlir-print-local-scope", PRINTING, "print without aliases"),
    _switch("mlir-print-skip-regions", PRINTING, "leave regions out"),
    _switch("mlir-print-value-users", PRINTING, "print the users of each value"),
    _switch("mlir-print-unique-ssa-ids", PRINTING, "use no name of a value twice"),
    _switch("mlir-use-nameloc-as-prefix", PRINTING, "name values after the names in their locations"),
    Flag("mlir-elide-elementsattrs-if-larger", PRINTING, "leave longer constants out", "N", kind=int),
    Flag("mlir-elide-resource-strings-if-larger", PRINTING, "leave longer resources out", "N", kind=int),
    Flag(
        "mlir-print-elementsattrs-with-hex-if-larger",
        PRINTING,
        "print longer constants in hex; -1 prints none",
        "N",
        kind=int,
        is_signed=True,
    ),
    _switch("mlir-print-ir-before-all", OBSERVING, "show the program before each pass"),
    _switch("mlir-print-ir-after-all", OBSERVING, "show the program after each pass"),
    Flag("mlir-print-ir-before", OBSERVING, "show the program before these passes", "PASS,…", is_list=True),
    Flag("mlir-print-ir-after", OBSERVING, "show the program after these passes", "PASS,…", is_list=True),
    _switch("mlir-print-ir-after-change", OBSERVING, "show it after passes that changed something"),
    _switch("mlir-print-ir-after-failure", OBSERVING, "show it after a pass that failed"),
    _switch("mlir-print-ir-module-scope", OBSERVING, "show all of the program, not only a function"),
    Flag("mlir-print-ir-tree-dir", OBSERVING, "show it in files of a folder", "FOLDER", ""),
    _switch("mlir-timing", OBSERVING, "show how long each pass took"),
    _choice("mlir-timing-display", OBSERVING, "times nested, or by name", "tree", "list"),
    _choice("mlir-output-format", OBSERVING, "times for people, or for programs", "text", "json"),
    _switch("mlir-pass-statistics", OBSERVING, "show what passes counted"),
    _choice("mlir-pass-statistics-display", OBSERVING, "by pass, or by name", "pipeline", "list"),
    _switch("help", INFORMATION, "show this"),
    Flag("help-pass", INFORMATION, "show the manual of a pass or a pipeline", "PASS"),
    _choice("list-passes", INFORMATION, "list passes", "text", "markdown", implied="text"),
    _switch("show-dialects", INFORMATION, "list dialects"),
    _switch("version", INFORMATION, "show the version"),
)

FLAGS = {flag.name: flag for flag in _ALL}
ALIASES = {"h": "help", "help-hidden": "help", "help-list": "help"}
