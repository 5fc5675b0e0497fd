"""The flags of the command line except those of passes: the table for parsing, help and completion."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.analysis.interface import all_analyses, load_analysis_plugin
from sdyopt.analysis.interface.flag import (
    DIAGNOSTICS,
    GENERAL,
    GROUPS,
    INFORMATION,
    INSTRUMENTATION,
    PIPELINE,
    PRINTING,
    SHARDINGS,
    Flag,
    Writes,
)
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.base.releases import RELEASE_NAMES

_IR_PRINTING = (
    "mlir-print-ir-after-all",
    "mlir-print-ir-after",
    "mlir-print-ir-before-all",
    "mlir-print-ir-before",
    "mlir-print-ir-after-change",
    "mlir-print-ir-after-failure",
)


def _switch(
    name: str,
    group: str,
    help: str,
    default: bool = False,
    needs: tuple[str, ...] = (),
    is_common: bool = False,
) -> Flag:
    return Flag(name, group, help, "", default, "true", bool, needs=needs, is_common=is_common)


def _choice(
    name: str,
    group: str,
    help: str,
    *choices: str,
    implied: str | None = None,
    needs: tuple[str, ...] = (),
    is_common: bool = False,
) -> Flag:
    """A flag with an enumerated value; the default is the first one, or empty if a value is implied."""
    default = choices[0] if implied is None else ""
    return Flag(
        name, group, help, "|".join(choices), default, implied, str, choices, needs=needs, is_common=is_common
    )


LOAD_ANALYSIS = "load-analysis-plugin"

# The flags that are not those of an analysis.
_OWN = (
    Flag("o", GENERAL, "write the output to FILE, or to stdout for -", "FILE", "-", is_common=True),
    Flag(
        "split-input-file",
        GENERAL,
        "split the input at MARKER and process the chunks separately; without MARKER at // -----",
        "MARKER",
        "",
        implied="// -----",
        is_common=True,
    ),
    Flag(
        "output-split-marker",
        GENERAL,
        "separate the outputs of chunks by MARKER",
        "MARKER",
        "// -----",
        needs=("split-input-file",),
    ),
    _choice(
        "mesh-version",
        GENERAL,
        "use the mesh dialect of this LLVM release, from 22 on `shard`",
        "19",
        "21",
        "22",
    ),
    _choice(
        "sdy-version",
        GENERAL,
        "follow this release of Shardy where releases differ: that of a jaxlib, or of a month",
        *RELEASE_NAMES,
    ),
    _switch("no-implicit-module", GENERAL, "parse a single top-level operation of any kind"),
    _switch("allow-unregistered-dialect", GENERAL, "allow operations of unregistered dialects"),
    Flag(
        "load-plugin",
        GENERAL,
        "load passes and dialects: entry points, Python files, or a pyproject.toml with a list",
        "NAME",
        is_list=True,
        is_common=True,
    ),
    Flag(
        "load-dialect-plugin",
        GENERAL,
        "load dialects from entry points of installed packages, or from Python files (./NAME.py)",
        "NAME",
        is_list=True,
    ),
    Flag(
        "irdl-file",
        GENERAL,
        "load dialects from a file in the dialect irdl: operations, attributes and types without code",
        "FILE",
        is_list=True,
    ),
    Flag(
        "load-pass-plugin",
        GENERAL,
        "load passes from entry points of installed packages, or from Python files (./NAME.py)",
        "NAME",
        is_list=True,
    ),
    Flag(
        LOAD_ANALYSIS,
        GENERAL,
        "load analyses and their flags from entry points of packages, or from Python files (./NAME.py)",
        "NAME",
        is_list=True,
    ),
    _switch("mlir-disable-threading", GENERAL, "accepted and ignored; sdy-opt is single-threaded"),
    Flag(
        "pass-pipeline", PIPELINE, "run a textual pass pipeline instead of pass flags", "TEXT", is_common=True
    ),
    _switch(
        "verify-each",
        PIPELINE,
        "run the verifier after each pass, even if the result is valid",
        default=True,
    ),
    _switch(
        "mlir-very-unsafe-disable-verifier-on-parsing",
        PIPELINE,
        "do not verify the input; passes may fail on an invalid program",
    ),
    _switch("verify-roundtrip", PIPELINE, "verify that the printed input parses to the same program"),
    _switch(
        "dump-pass-pipeline",
        PIPELINE,
        "print the pass pipeline with all option values to stderr",
    ),
    _switch("run-reproducer", PIPELINE, "run the pipeline of the reproducer in the input"),
    Flag(
        "mlir-generate-reproducer",
        PIPELINE,
        "write a reproducer before running the passes",
        "FILE",
        "",
        writes=Writes("the reproducer", takes_dash=True, may_replace_input=True),
    ),
    Flag(
        "mlir-pass-pipeline-crash-reproducer",
        PIPELINE,
        "write a reproducer if a pass fails",
        "FILE",
        "",
        writes=Writes("the reproducer", takes_dash=True, may_replace_input=True),
    ),
    _switch(
        "mlir-pass-pipeline-local-reproducer",
        PIPELINE,
        "reduce the crash reproducer to the pass that failed, and the program before this pass",
    ),
    _choice(
        "verify-diagnostics",
        DIAGNOSTICS,
        "compare diagnostics with the expected-* comments; only-expected ignores unexpected diagnostics",
        "all",
        "only-expected",
        implied="all",
        is_common=True,
    ),
    _switch(
        "mlir-print-op-on-diagnostic",
        DIAGNOSTICS,
        "print the operation of a diagnostic as a note",
        default=True,
    ),
    _switch(
        "mlir-print-stacktrace-on-diagnostic",
        DIAGNOSTICS,
        "print the Python stack trace of a diagnostic as a note",
    ),
    Flag(
        "max-diagnostic-op-lines",
        DIAGNOSTICS,
        "print at most N lines of the operation of a diagnostic, all for 0 (default: 3 on a terminal, in "
        "reports, checks and the like, and in sdy-opt-verify; all elsewhere)",
        "N",
        kind=int,
    ),
    _switch("mlir-disable-diagnostic-notes", DIAGNOSTICS, "print diagnostics without notes"),
    _choice(
        "mlir-diagnostic-verbosity-level",
        DIAGNOSTICS,
        "print diagnostics of this severity and of more severe ones",
        "remarks",
        "warnings",
        "errors",
    ),
    _choice(
        "diagnostics-format",
        DIAGNOSTICS,
        "write diagnostics to stderr in this format",
        "text",
        "json",
        "github",
        "sarif",
        is_common=True,
    ),
    Flag(
        "diagnostics-output",
        DIAGNOSTICS,
        "write diagnostics to FILE too; .json and .sarif select the format",
        "FILE",
        writes=Writes("the diagnostics", "diagnostics.json", is_plural=True),
    ),
    _switch("werror", DIAGNOSTICS, "turn warnings into errors", is_common=True),
    _choice(
        "color",
        DIAGNOSTICS,
        "color diagnostics on stderr (default: auto)",
        "auto",
        "always",
        "never",
        implied="always",
        is_common=True,
    ),
    _switch("mlir-print-op-generic", PRINTING, "print the generic operation syntax", is_common=True),
    _switch("mlir-print-debuginfo", PRINTING, "print source locations", is_common=True),
    _switch(
        "mlir-pretty-debuginfo", PRINTING, "print source locations in a short form that cannot be parsed"
    ),
    _switch("mlir-print-assume-verified", PRINTING, "print operations without verifying them first"),
    _switch("emit-bytecode", PRINTING, "write MLIR bytecode instead of text"),
    Flag(
        "emit-bytecode-version",
        PRINTING,
        "write this version of the bytecode format, 0 to 6 (default: 6)",
        "N",
        kind=int,
        needs=("emit-bytecode",),
    ),
    _switch(
        "elide-resource-data-from-bytecode",
        PRINTING,
        "write bytecode without the data of resources",
        needs=("emit-bytecode", "target"),
    ),
    Flag(
        "target",
        PRINTING,
        "write a portable artifact for this version of StableHLO, such as 1.0.0, instead of text",
        "VERSION",
    ),
    _switch("mlir-print-local-scope", PRINTING, "print attributes, types and locations without aliases"),
    _switch("mlir-print-skip-regions", PRINTING, "print operations without their regions"),
    _switch("mlir-print-value-users", PRINTING, "print the users of each value as comments"),
    _switch("mlir-print-unique-ssa-ids", PRINTING, "print SSA names that are unique in the module"),
    _switch("mlir-use-nameloc-as-prefix", PRINTING, "use the names in name locations as SSA names"),
    Flag(
        "mlir-elide-elementsattrs-if-larger",
        PRINTING,
        "elide elements attributes with more than N elements (default: no limit)",
        "N",
        kind=int,
    ),
    Flag(
        "mlir-elide-resource-strings-if-larger",
        PRINTING,
        "elide resources with more than N characters (default: no limit)",
        "N",
        kind=int,
    ),
    Flag(
        "mlir-print-elementsattrs-with-hex-if-larger",
        PRINTING,
        "print elements attributes with more than N elements as a hex string, or none for -1 (default: 100)",
        "N",
        kind=int,
        is_signed=True,
    ),
    _switch("mlir-print-ir-before-all", INSTRUMENTATION, "print the IR before each pass"),
    _switch("mlir-print-ir-after-all", INSTRUMENTATION, "print the IR after each pass", is_common=True),
    Flag("mlir-print-ir-before", INSTRUMENTATION, "print the IR before these passes", "PASS,…", is_list=True),
    Flag(
        "mlir-print-ir-after",
        INSTRUMENTATION,
        "print the IR after these passes",
        "PASS,…",
        is_list=True,
        is_common=True,
    ),
    _switch(
        "mlir-print-ir-after-change",
        INSTRUMENTATION,
        "print the IR only after passes that changed something",
    ),
    _switch("mlir-print-ir-after-failure", INSTRUMENTATION, "print the IR only after passes that failed"),
    _switch(
        "mlir-print-ir-module-scope",
        INSTRUMENTATION,
        "print the whole module, also for nested passes",
        needs=_IR_PRINTING,
    ),
    Flag(
        "mlir-print-ir-tree-dir",
        INSTRUMENTATION,
        "print the IR to files in DIRECTORY",
        "DIRECTORY",
        "",
        needs=_IR_PRINTING,
    ),
    Flag(
        "opt-bisect-limit",
        INSTRUMENTATION,
        "run only the first N passes of each chunk, -1 for all, and list the passes on stderr",
        "N",
        kind=int,
        is_signed=True,
    ),
    Flag(
        "mlir-debug-counter",
        INSTRUMENTATION,
        "skip actions: NAME is pass-execution or apply-pattern, followed by -skip, how many at first are not "
        "run, or -count, how many are run then",
        "NAME=N",
        is_list=True,
    ),
    _switch("mlir-print-debug-counter", INSTRUMENTATION, "print how many actions of each kind there were"),
    Flag(
        "log-actions-to",
        INSTRUMENTATION,
        "log each pass, greedy rewrite iteration and pattern attempt to FILE, or to stderr for -",
        "FILE",
        writes=Writes("the log", takes_dash=True),
    ),
    _switch("mlir-timing", INSTRUMENTATION, "report the wall time of each pass in seconds", is_common=True),
    _choice(
        "mlir-timing-display",
        INSTRUMENTATION,
        "nest times by pipeline, or sum them by name",
        "tree",
        "list",
        needs=("mlir-timing",),
    ),
    _choice(
        "mlir-output-format",
        INSTRUMENTATION,
        "print the timing report as text or as JSON",
        "text",
        "json",
        needs=("mlir-timing",),
    ),
    _switch("mlir-pass-statistics", INSTRUMENTATION, "report the statistics of each pass"),
    _choice(
        "mlir-pass-statistics-display",
        INSTRUMENTATION,
        "nest statistics by pipeline, or sum them by pass",
        "pipeline",
        "list",
        needs=("mlir-pass-statistics",),
    ),
    Flag(
        "show-sharding",
        SHARDINGS,
        "show which device has which slice under a sharding in any notation, or under that of a value of the "
        "program, such as '@main %arg0'",
        "SHARDING",
    ),
    Flag("mesh", SHARDINGS, """the mesh of --show-sharding, such as '"x"=4, "y"=2'""", "MESH"),
    Flag("shape", SHARDINGS, "the shape of the tensor of --show-sharding, such as 64x128", "SHAPE"),
    Flag("sharding-rows", SHARDINGS, "print at most N rows of shards, all for 0", "N", 16, kind=int),
    _switch("help", INFORMATION, "print help on the most common flags", is_common=True),
    _switch("help-hidden", INFORMATION, "print help on all flags, passes and options", is_common=True),
    Flag("help-pass", INFORMATION, "print the manual of a pass or pass pipeline", "PASS", is_common=True),
    Flag("help-lint", INFORMATION, "print the page of a lint rule, or list all rules", "RULE", implied=""),
    _choice(
        "list-passes",
        INFORMATION,
        "list all passes: one a line, with options, or as a table",
        "short",
        "full",
        "markdown",
        implied="short",
        is_common=True,
    ),
    _switch("skill", INFORMATION, "print what a coding agent needs to know, as a skill in Markdown"),
    _switch("show-dialects", INFORMATION, "list the available dialects"),
    _switch("version", INFORMATION, "print the version", is_common=True),
)

# By group. In each, the flags of analyses are the first.
_ALL = [*(flag for options in all_analyses() for flag in options.flags()), *_OWN]
FLAGS = {flag.name: flag for group in GROUPS for flag in _ALL if flag.group == group}
ALIASES = {"h": "help", "help-list": "help", "help-list-hidden": "help-hidden"}


def load_analyses(names: Sequence[str]) -> bool:
    """Loads analyses of other packages; True if their flags are new. Raises UsageError."""
    new = [flag for name in names for flag in load_analysis_plugin(name).flags()]
    added = {flag.name: flag for flag in new if FLAGS.get(flag.name) != flag}
    if taken := next((name for name in added if name in FLAGS), None):
        raise UsageError(f"a plugin has the --{taken} option, which exists")
    FLAGS.update(added)
    return bool(added)
