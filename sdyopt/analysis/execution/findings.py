"""The findings of a validation, as diagnostics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.analysis.execution.global_program import function_named
from sdyopt.analysis.execution.validation import FunctionValidation, ResultComparison, ValidationOptions
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.ids import NOT_VALIDATED, VALIDATED, VALIDATION_DIFFERENCE
from sdyopt.base.diagnostics.location import Location, resolve_file_location
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.operation import Op

# If a larger share of the elements is NaN or infinite, a comparison says little.
_MANY = 0.5
# The number of devices that are listed.
_LISTED = 8


def findings(
    validation: FunctionValidation, before: ModuleOp, options: ValidationOptions
) -> Iterator[Diagnostic]:
    """An error for each result that differs; otherwise a remark, or a warning if it was not validated."""
    location = _function_location(before, validation.name)
    if validation.reason:
        message = f"not validated: {validation.reason}"
        yield Diagnostic(Severity.WARNING, location, message, id=NOT_VALIDATED)
        return
    for result in validation.results:
        if result.is_unstable:
            message = (
                f"not validated: result #{result.index} of @{validation.name} differs by {result.error:.2g} "
                "times its largest element, but so it does if only the inputs are rounded differently"
            )
            yield Diagnostic(Severity.WARNING, location, message, id=NOT_VALIDATED)
        elif not result.is_equal:
            yield _difference(result, validation, before)
        elif result.not_finite > _MANY:
            message = (
                f"result #{result.index} of @{validation.name} is NaN or infinite in "
                f"{result.not_finite:.0%} of its elements, which hides differences"
            )
            yield Diagnostic(Severity.WARNING, location, message, id=NOT_VALIDATED)
    if all(result.is_equal for result in validation.results):
        message = f"validated: {summary(validation, options.seeds)}"
        yield Diagnostic(Severity.REMARK, location, message, id=VALIDATED)


def summary(validation: FunctionValidation, seeds: int) -> str:
    """A sentence on a function that computes the same as before."""
    count = len(validation.results)
    error = max((result.error for result in validation.results), default=0.0)
    limit = max((result.limit for result in validation.results), default=0.0)
    where = "" if validation.devices == 1 else f" on {validation.devices} devices"
    verb = f"{counted(count, 'result')} {'is' if count == 1 else 'are'}"
    figures = f"largest relative error {error:.1g}, limit {limit:.0e}" if error else "without any difference"
    reason = f"; not in f64, because {validation.not_promoted}" if validation.not_promoted else ""
    return f"@{validation.name}: {verb} equal{where} for {counted(seeds, 'random input')}, {figures}{reason}"


def _difference(result: ResultComparison, validation: FunctionValidation, before: ModuleOp) -> Diagnostic:
    sample = result.sample
    devices = _devices(result.devices, validation.devices)
    message = (
        f"result #{result.index} of @{validation.name} differs on {devices}"
        f": by {result.error:.2g} times its largest element"
    )
    index = ", ".join(map(str, sample["element"]))
    detail = (
        f"element [{index}] of the shard on device {sample['device']} is {sample['actual']} instead of "
        f"{sample['expected']}; {sample['share']:.0%} of this shard differ (input {sample['seed']})"
    )
    location = _result_location(before, validation.name, result.index)
    notes = [Diagnostic(Severity.NOTE, location, detail)]
    return Diagnostic(Severity.ERROR, location, message, notes, id=VALIDATION_DIFFERENCE)


def _devices(devices: Sequence[int], total: int) -> str:
    if len(devices) == total:
        return "the device" if total == 1 else f"all {total} devices"
    listed = ", ".join(map(str, devices[:_LISTED])) + (", …" if len(devices) > _LISTED else "")
    return f"{len(devices)} of {total} devices ({listed})"


def _function_location(module: ModuleOp, name: str) -> Location:
    function = function_named(module, name) if name else None
    op: Op = module if function is None else function
    # The functions of JAX have no location: that of the first operation with a line stands for it.
    located = (item.location for item in op.walk() if resolve_file_location(item.location) is not None)
    return next(located, op.location)


def _result_location(module: ModuleOp, name: str, index: int) -> Location:
    """The location of the value that a function returns."""
    function = function_named(module, name)
    assert function is not None
    returned = function.body.blocks[-1].last
    if returned is None or index >= len(returned.operands):
        return _function_location(module, name)
    location = returned.operands[index].location
    return _function_location(module, name) if resolve_file_location(location) is None else location
