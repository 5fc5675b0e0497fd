"""Validation: whether a program computes the same after passes as before; and execution of one program."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from typing import Any

from sdyopt.analysis.execution.global_program import (
    REPLICAS,
    entry_names,
    function_named,
    has_manual_computation,
    is_local,
    local_text,
    make_global,
    partition,
    partitioning_of,
    program_of,
    program_text,
)
from sdyopt.analysis.execution.process import NotValidated, Worker
from sdyopt.analysis.execution.promotion import promote, reason_not_to_promote
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.ids import NOT_VALIDATED, VALIDATED, VALIDATION_DIFFERENCE
from sdyopt.base.diagnostics.location import Location, resolve_file_location
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.builtin_attributes import DenseResource, IntegerAttr, element_size, integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    I32,
    ComplexType,
    FloatType,
    FunctionType,
    IntegerType,
    RankedTensor,
    Type,
)
from sdyopt.mlir.pipeline.run import Verify
from sdyopt.shardy.partition.local_context import LocalTypes
from sdyopt.shardy.partition.outlining import MAIN
from sdyopt.shardy.sharding.axis_lists import replica_groups, shard_indices, sharded_size

MAX_DEVICES = 1024

# Integers are drawn up to the largest dimension of the program, and this at most.
_MAX_INTEGER = 1 << 15


@dataclass(frozen=True)
class ValidationOptions:
    """`seeds` is the number of inputs that are tried; `mode` how local programs are run."""

    seeds: int = 1
    mode: str = REPLICAS
    worker: Worker = field(default_factory=Worker)


@dataclass(frozen=True)
class ResultComparison:
    """The distance of one result from the expected one.

    `error` and `limit` are relative to `largest`, the largest element; `not_finite` is the share of elements
    that are NaN or infinite. A result is unstable if it differs as much when only its inputs are rounded
    differently. `devices` are those whose shards differ, and `sample` is the element that differs most.
    """

    index: int
    is_equal: bool
    error: float
    limit: float
    largest: float
    not_finite: float
    is_unstable: bool
    devices: Sequence[int]
    sample: dict[str, Any]

    def difference(self, validation: FunctionValidation, before: ModuleOp) -> Diagnostic:
        sample = self.sample
        devices = _devices(self.devices, validation.devices)
        message = (
            f"result #{self.index} of @{validation.name} differs on {devices}"
            f": by {self.error:.2g} times its largest element"
        )
        index = ", ".join(map(str, sample["element"]))
        detail = (
            f"element [{index}] of the shard on device {sample['device']} is {sample['actual']} instead of "
            f"{sample['expected']}; {sample['share']:.0%} of this shard differ (input {sample['seed']})"
        )
        location = _result_location(before, validation.name, self.index)
        notes = [Diagnostic(Severity.NOTE, location, detail)]
        return Diagnostic(Severity.ERROR, location, message, notes, id=VALIDATION_DIFFERENCE)


@dataclass(frozen=True)
class FunctionValidation:
    """The comparison of one function, or the reason why it was not validated."""

    name: str
    reason: str = ""
    results: Sequence[ResultComparison] = ()
    devices: int = 1
    # Why the program was run in its own types; empty if it was promoted.
    not_promoted: str = ""

    @property
    def differs(self) -> bool:
        """Whether a result differs, and rounding is not the reason."""
        return any(not result.is_equal and not result.is_unstable for result in self.results)


def validate(
    before: ModuleOp, after: ModuleOp, options: ValidationOptions, verify: Verify
) -> Iterator[FunctionValidation]:
    """Compares what the functions of a program compute before and after passes. Raises NoJax.

    `after` is partitioned first if it is not yet, and verified. Neither program is changed.
    """
    names = entry_names(before)
    if not names:
        yield FunctionValidation("", "the program has no function to run")
        return
    for name in names:
        try:
            yield compare(before, after, name, options, verify)
        except NotValidated as failure:
            yield FunctionValidation(name, str(failure))


def compare(
    before: ModuleOp, after: ModuleOp, name: str, options: ValidationOptions, verify: Verify | None = None
) -> FunctionValidation:
    """Compares what a function computes before and after passes. Raises NotValidated or NoJax.

    If `after` is not partitioned yet, it is partitioned with `verify`, or without it run on one device.
    """
    return _Function(before, after, name, options, verify).validate()


def is_partitioned(before: ModuleOp, after: ModuleOp, name: str) -> bool:
    """Whether a function takes shards of what it took before, or communicates by collectives of StableHLO."""
    one, other = function_named(before, name), function_named(after, name)
    has_same_types = one is None or other is None or one.function_type is other.function_type
    return not has_same_types or (is_local(after) and not is_local(before))


class _Function:
    """The validation of one function. Without `verify`, a program that is not partitioned stays so."""

    def __init__(
        self,
        before: ModuleOp,
        after: ModuleOp,
        name: str,
        options: ValidationOptions,
        verify: Verify | None = None,
    ) -> None:
        if function_named(after, name) is None:
            raise NotValidated(f"there is no function @{name} after the passes")
        self._name = name
        self._options = options
        self._before, self._before_entry = program_of(before, name)
        self._after, self._after_entry = program_of(after, name)
        if is_partitioned(self._before, self._after, MAIN):
            pass
        elif verify is None:
            self._make_whole()
        else:
            partition(self._after, partitioning_of(before, after), verify)
            entry = function_named(self._after, MAIN)
            assert entry is not None
            self._after_entry = entry
        self._devices = _device_count(self._after)
        if self._devices > MAX_DEVICES:
            raise NotValidated(f"it has {self._devices} devices; the limit is {MAX_DEVICES}")

    def _make_whole(self) -> None:
        """Makes a program that is not partitioned one for a single device."""
        if has_manual_computation(self._before) or has_manual_computation(self._after):
            raise NotValidated("it has a manual computation")
        make_global(self._after)

    def validate(self) -> FunctionValidation:
        """Runs both programs and compares the results."""
        type: FunctionType = self._before_entry.function_type
        for value_type in (*type.inputs, *type.results):
            check_is_array(value_type)
        if any(
            isinstance(value, DenseResource)
            for op in self._before.walk()
            for _, value in op.signature.attributes
        ):
            raise NotValidated("it has constants in resources")
        not_promoted = reason_not_to_promote(self._before) or reason_not_to_promote(self._after)
        if not not_promoted:
            promote(self._before)
            promote(self._after)
        request = self._request(is_coarse=bool(not_promoted))
        [answer] = self._options.worker.run("validate", request)
        if "cannot" in answer:
            raise NotValidated(answer["cannot"])
        results = [ResultComparison(**result) for result in answer["results"]]
        return FunctionValidation(self._name, "", results, self._devices, not_promoted)

    def _request(self, is_coarse: bool) -> dict[str, object]:
        arguments, results = self._placements()
        self._check_size()
        has_oracle = has_manual_computation(self._before)
        if has_oracle:
            count = integer(self._devices, I32)
            Rewriter().set_attribute(self._before, "mhlo.num_partitions", count)
        else:
            make_global(self._before)
        return {
            "devices": self._devices,
            "mode": self._options.mode,
            "oracle": "spmd" if has_oracle else "single",
            "global": program_text(self._before),
            "local": local_text(self._after, self._after_entry, self._devices, self._options.mode),
            "arguments": arguments,
            "results": results,
            "seeds": self._options.seeds,
            "largest": self._largest_dimension(),
            "is_coarse": is_coarse,
        }

    def _placements(self) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
        before: FunctionType = self._before_entry.function_type
        after: FunctionType = self._after_entry.function_type
        return (
            self._placed(before.inputs, after.inputs, self._after_entry.argument_attributes, "argument"),
            self._placed(before.results, after.results, self._after_entry.result_attributes, "result"),
        )

    def _placed(
        self, types: Sequence[Type], local: Sequence[Type], attributes: Sequence[DictAttr], word: str
    ) -> list[dict[str, object]]:
        if len(types) != len(local):
            raise NotValidated(f"it has {len(types)} {word}s before the passes and {len(local)} after them")
        known, placed = LocalTypes(self._after), []
        for index, (type, local_type, attribute) in enumerate(zip(types, local, attributes, strict=True)):
            result = attribute.get(SHARDING)
            sharding = result if isinstance(result, TensorSharding) else None
            mesh = None if sharding is None else known.mesh(sharding)
            if sharding is not None and (not isinstance(type, RankedTensor) or sharding.rank != type.rank):
                sharding = None
            if local_type is not known.local_type(type, sharding, self._after_entry):
                raise NotValidated(f"{word} #{index} after the passes has no shard of the type before")
            placed.append(placement(type, sharding, mesh, local_type, self._devices))
        return placed

    def _check_size(self) -> None:
        """Rejects values that cannot be in memory, before anything runs."""
        before: FunctionType = self._before_entry.function_type
        after: FunctionType = self._after_entry.function_type
        total = sum(map(_bytes, (*before.inputs, *before.results)))
        total += self._devices * sum(map(_bytes, (*after.inputs, *after.results)))
        limit = self._options.worker.memory
        if total > limit << 30:
            size = f"{total / 2**30:.1f} GiB" if total < 1 << 60 else "too many bytes"
            raise NotValidated(f"its inputs and outputs have {size}; the limit is {limit} GiB")

    def _largest_dimension(self) -> int:
        sizes = (
            size
            for op in self._before.walk()
            for type in (*op.operand_types, *op.result_types)
            if isinstance(type, RankedTensor)
            for size in type.shape
        )
        return min(max(sizes, default=1) + 1, _MAX_INTEGER)


def _bytes(type: Type) -> int:
    assert isinstance(type, RankedTensor)
    return type.num_elements * element_size(type.element)


def _device_count(module: ModuleOp) -> int:
    """The devices of the largest mesh."""
    meshes = [op.mesh for op in module.block.ops if isinstance(op, MeshOp)]
    known = LocalTypes(module)
    for op in module.block.ops:
        if isinstance(op, FuncOp):
            for attributes in (*op.argument_attributes, *op.result_attributes):
                sharding = attributes.get(SHARDING)
                mesh = known.mesh(sharding) if isinstance(sharding, TensorSharding) else None
                meshes += [] if mesh is None else [mesh]
    return max([1, *(mesh.total_size for mesh in meshes)])


# Placements: which slice of an input or result each device has.
#
# A placement is plain data, so that it can be sent to another process: the whole shape, the local shape and
# the element type; for each sharded dimension, the index of the shard of each device; and for unreduced axes,
# the groups of devices whose values are combined, and the reduction.


_NUMBERS = (IntegerType, FloatType, ComplexType)


def check_is_array(type: Type) -> None:
    """Raises NotValidated for a value that is no array of numbers with a static shape."""
    if not isinstance(type, RankedTensor) or not isinstance(type.element, _NUMBERS) or DYNAMIC in type.shape:
        raise NotValidated(f"it takes or returns a value of type {plain_type(type)}")


def placement(
    type: Type, sharding: TensorSharding | None, mesh: Mesh | None, local: Type, devices: int
) -> dict[str, Any]:
    """The placement of a value of the global program, whose local type on every device is `local`."""
    assert isinstance(type, RankedTensor) and isinstance(local, RankedTensor)
    shards: list[list[int] | None] = [None] * len(type.shape)
    groups: list[list[int]] = []
    reduction = ReductionKind.SUM
    if sharding is not None and mesh is not None and mesh.axes:
        shards = [list(shard_indices(dim.axes, mesh)) if dim.axes else None for dim in sharding.dims]
        if sharding.unreduced_axes:
            groups, reduction = replica_groups(sharding.unreduced_axes, mesh), sharding.reduction
    if any(shard is not None and len(shard) != devices for shard in shards):
        raise NotValidated("its meshes have different numbers of devices")
    return {
        "shape": list(type.shape),
        "local_shape": list(local.shape),
        "element": plain_type(type.element),
        "shards": shards,
        "groups": groups,
        "reduction": str(reduction),
    }


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
            yield result.difference(validation, before)
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


# The attributes that a partitioned program has.
_COUNTS = ("mhlo.num_partitions", "mhlo.num_replicas")


class Execution:
    """The execution of @main; `arguments` and `results` are the placements of what it takes and returns.

    A partitioned program runs on all of its devices, any other program on a single device and without its
    shardings.
    """

    def __init__(self, program: ModuleOp, mode: str, worker: Worker) -> None:
        names = entry_names(program)
        if len(names) != 1:
            raise NotValidated("the program has no function @main")
        self._module, self._entry = program_of(program, names[0])
        self._mode = mode
        self._worker = worker
        self.devices = _partitions(program)
        if self.devices == 1:
            if has_manual_computation(self._module):
                raise NotValidated("it has a manual computation, so it must be partitioned first")
            make_global(self._module)
        type: FunctionType = self._entry.function_type
        self.arguments = self._placed(type.inputs, self._entry.argument_attributes)
        self.results = self._placed(type.results, self._entry.result_attributes)

    def _placed(self, types: Sequence[Type], attributes: Sequence[DictAttr]) -> list[dict[str, Any]]:
        known, placed = LocalTypes(self._module), []
        for local, attribute in zip(types, attributes, strict=True):
            check_is_array(local)
            assert isinstance(local, RankedTensor)
            result = attribute.get(SHARDING) if self.devices > 1 else None
            mesh = known.mesh(result) if isinstance(result, TensorSharding) else None
            whole = local
            if isinstance(result, TensorSharding) and mesh is not None and result.rank == local.rank:
                counts = [sharded_size(dim.axes, mesh) for dim in result.dims]
                shape = tuple([size * count for size, count in zip(local.shape, counts, strict=True)])
                whole = RankedTensor(shape, local.element, local.encoding)
                placed.append(placement(whole, result, mesh, local, self.devices))
            else:
                placed.append(placement(whole, None, None, local, self.devices))
        return placed

    def run(self, values: Sequence[bytes], steps: int, carry: Sequence[tuple[int, int]]) -> list[list[bytes]]:
        """The bytes of the whole results of each step. Raises NotValidated or NoJax.

        `carry` has the results that become arguments of the next step, as (result, argument).
        """
        is_whole = self.devices == 1
        text = program_text(self._module) if is_whole else self._text()
        request = {
            "devices": self.devices,
            "mode": self._mode,
            "text": text,
            "arguments": self.arguments,
            "results": self.results,
            "values": [b64encode(value).decode() for value in values],
            "steps": steps,
            "carry": [list(pair) for pair in carry],
        }
        [answer] = self._worker.run("execute", request)
        if "cannot" in answer:
            raise NotValidated(answer["cannot"])
        return [[b64decode(result) for result in step] for step in answer["steps"]]

    def _text(self) -> str:
        return local_text(self._module, self._entry, self.devices, self._mode)


def _partitions(program: ModuleOp) -> int:
    """The number of devices of a partitioned program; 1 for any other program."""
    if any(op.dialect_name == "sdy" and not isinstance(op, MeshOp) for op in program.walk()):
        return 1
    counts = (program.attributes.get(name) for name in _COUNTS)
    return max((count.value for count in counts if isinstance(count, IntegerAttr)), default=1)
