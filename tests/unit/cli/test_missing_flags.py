"""Every flag of the driver of mlir-opt exists, or is named with what to use instead."""

import pytest

from sdyopt.tools.cli.arguments import ROWS, missing_flag
from sdyopt.tools.cli.flags import ALIASES, FLAGS

MISSING = [name for names, _ in ROWS for name in names]

# The flags of MLIR's driver, printer, pass manager, timing, context and tracing in LLVM 19 to 22; not those
# of passes, of LLVM's optimizer and of its code generators.
OF_MLIR_OPT = """
    allow-unregistered-dialect color dump-pass-pipeline elide-resource-data-from-bytecode emit-bytecode
    emit-bytecode-version help help-hidden help-list help-list-hidden irdl-file list-passes
    load-dialect-plugin load-pass-plugin log-actions-to log-mlir-actions-filter mlir-debug-counter
    mlir-diagnostic-verbosity-level mlir-disable-diagnostic-notes mlir-disable-threading
    mlir-elide-elementsattrs-if-larger mlir-elide-resource-strings-if-larger mlir-enable-debugger-hook
    mlir-generate-reproducer mlir-output-format mlir-pass-pipeline-crash-reproducer
    mlir-pass-pipeline-local-reproducer mlir-pass-statistics mlir-pass-statistics-display
    mlir-pretty-debuginfo mlir-print-assume-verified mlir-print-debug-counter mlir-print-debuginfo
    mlir-print-elementsattrs-with-hex-if-larger mlir-print-ir-after mlir-print-ir-after-all
    mlir-print-ir-after-change mlir-print-ir-after-failure mlir-print-ir-before mlir-print-ir-before-all
    mlir-print-ir-module-scope mlir-print-ir-tree-dir mlir-print-local-scope mlir-print-op-generic
    mlir-print-op-on-diagnostic mlir-print-skip-regions mlir-print-stacktrace-on-diagnostic
    mlir-print-unique-ssa-ids mlir-print-value-users mlir-timing mlir-timing-display
    mlir-use-nameloc-as-prefix mlir-very-unsafe-disable-verifier-on-parsing no-implicit-module o
    output-split-marker pass-pipeline print-all-options print-options profile-actions-to remark-format
    remark-policy remarks-filter remarks-filter-analyse remarks-filter-failed remarks-filter-missed
    remarks-filter-passed remarks-output-file run-reproducer show-dialects split-input-file
    verify-diagnostics verify-each verify-roundtrip version
"""


@pytest.mark.parametrize("flag", OF_MLIR_OPT.split())
def test_each_flag_exists_or_is_named(flag: str) -> None:
    assert (flag in FLAGS or flag in ALIASES) != (flag in MISSING)


def test_the_error_says_what_to_use_instead() -> None:
    error = missing_flag("debug-counter", "--debug-counter")
    assert error is not None
    assert error.message.endswith("'--debug-counter': a flag of mlir-opt that sdy-opt does not have")
    assert error.help == "use `--mlir-debug-counter`, `--mlir-print-debug-counter`"


def test_no_flag_is_missing_twice() -> None:
    assert len(MISSING) == len(set(MISSING))
