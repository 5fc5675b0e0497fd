"""Remarks: the sharding record as data, in the formats of MLIR's remark flags."""

from __future__ import annotations

from sdyopt.analysis.interface import AnalysisOptions, Request
from sdyopt.analysis.interface.flag import SHARDINGS, Writes, flag
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.usage import UsageError

# As in mlir-opt.
_DEFAULT_FILE = "mlir-remarks.yaml"
_FILTERS = (
    "remarks-filter",
    "remarks-filter-passed",
    "remarks-filter-missed",
    "remarks-filter-analyse",
    "remarks-filter-failed",
)


class Options(AnalysisOptions):
    """The remarks on decisions about shardings. `path` is the file of prepared options; "" for none."""

    order, group = 30, SHARDINGS
    needs_parse_record = True
    remarks_filter: str | None = flag(
        default=None,
        placeholder="REGEX",
        help="print a remark for each decision about shardings in the categories that match REGEX: "
        "propagation, annotation, reshard",
    )
    remarks_filter_passed: str | None = flag(
        default=None, placeholder="REGEX", help="print remarks on axes that propagated"
    )
    remarks_filter_missed: str | None = flag(
        default=None, placeholder="REGEX", help="print remarks on axes that did not propagate"
    )
    remarks_filter_analyse: str | None = flag(
        default=None,
        placeholder="REGEX",
        help="print remarks on the annotations that propagation starts with, and on reshards",
    )
    remarks_filter_failed: str | None = flag(
        default=None,
        placeholder="REGEX",
        help="print remarks on operations without a sharding rule, along which nothing propagates",
    )
    remark_format: str = flag(
        default="emitRemark",
        choices=("emitRemark", "yaml", "bitstream"),
        needs=_FILTERS,
        help="print remarks as diagnostics, or write them to a file",
    )
    remarks_output_file: str | None = flag(
        default=None,
        placeholder="FILE",
        needs=_FILTERS,
        writes=Writes("the remarks", "remarks.yaml", is_plural=True),
        help="write remarks to FILE (default: mlir-remarks.yaml)",
    )
    remark_policy: str = flag(
        default="all",
        choices=("all", "final"),
        needs=_FILTERS,
        help="print all remarks, or only those of the last propagation pass",
    )
    path: str = ""

    @property
    def filters(self) -> dict[str, str]:
        """The regular expressions by flag."""
        given = {name: getattr(self, name.replace("-", "_")) for name in _FILTERS}
        return {name: text for name, text in given.items() if text}

    @property
    def is_needed(self) -> bool:
        return bool(self.filters)

    def prepared(self, request: Request) -> Options:
        if not self.is_needed:
            return self
        from sdyopt.analysis.explain.remarks.remark import CATEGORIES, RemarkFilter

        for name in RemarkFilter(self.filters).unmatched:
            request.warn(
                f"for the --{name} option: no category matches '{self.filters[name]}'",
                f"the categories are {', '.join(CATEGORIES)}",
            )
        if self.remark_format == "bitstream":
            message = "for the --remark-format option: bitstream is not written"
            raise UsageError(message, "write yaml; 'llvm-remarkutil yaml2bitstream' converts it")
        if self.remark_format == "yaml":
            return replace(self, path=self.remarks_output_file or _DEFAULT_FILE)
        if self.remarks_output_file is not None:
            request.warn("the --remarks-output-file option has no effect", "add --remark-format=yaml")
        return self
