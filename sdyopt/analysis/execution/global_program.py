"""The programs that XLA runs on the CPU: on whole tensors, without sdy, and local, on virtual devices.

On whole tensors, moving data between devices changes no tensor, so all reshards and collectives of sdy are
identities.

XLA runs a program with several partitions only through its own partitioner. There are two ways around it:

- `replicas`: the devices are replicas instead of partitions. No partitioner is involved.
- `manual`: the program is called from a manual computation over all devices, where XLA's partitioner leaves
  it as it is. Slower, but partition ids and collectives stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack

from sdyopt.analysis.execution.process import NotValidated
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, handling
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp, find_mesh
from sdyopt.mlir.dialects.sdy.ops import (
    ConstantOp,
    ManualComputationOp,
    NamedComputationOp,
    PropagationBarrierOp,
    ReshardOp,
    ShardingConstraintOp,
    ShardingGroupOp,
)
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, FuncDataFlowEdgeOp, sharding_of
from sdyopt.mlir.dialects.stablehlo.control_flow import OptimizationBarrierOp
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp as StablehloConstantOp
from sdyopt.mlir.dialects.stablehlo.nullary import PartitionIdOp, ReplicaIdOp
from sdyopt.mlir.dialects.stablehlo.numerics import FftOp
from sdyopt.mlir.dialects.stablehlo.replica_groups import Mesh as GroupMesh
from sdyopt.mlir.dialects.stablehlo.replica_groups import ReplicaGroupMeshAxes
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.ir.attribute import SymbolRef, nested_attributes, string
from sdyopt.mlir.ir.builtin_attributes import DenseElements, dense
from sdyopt.mlir.ir.operation import NO_ATTRIBUTES, Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.types import I64, RankedTensor, Type, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass, Pipeline
from sdyopt.mlir.pipeline.run import Verify, run_and_verify
from sdyopt.mlir.registry import lookup
from sdyopt.shardy.partition.outlining import MAIN, entry_functions
from sdyopt.shardy.sharding.axis_lists import replica_groups, sdy_axis, sdy_mesh

_IDENTITIES = (
    CollectiveOp,
    DataFlowEdgeOp,
    FuncDataFlowEdgeOp,
    PropagationBarrierOp,
    ReshardOp,
    ShardingConstraintOp,
)
COLLECTIVES = frozenset(
    f"stablehlo.{name}"
    for name in (
        *("all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute"),
        *("collective_reduce", "reduce_scatter"),
    )
)

# The starts of the names of attributes that describe how a program is sharded or called. Other attributes of
# mhlo describe custom calls.
_ANNOTATING = ("sdy.", "mhlo.sharding", "mhlo.num_", "mhlo.frontend", "jax.", "tf.")


def has_manual_computation(module: ModuleOp) -> bool:
    """Whether a program is local in part, so that it has no meaning on whole tensors.

    A manual computation without manual axes is not local.
    """
    return any(isinstance(op, ManualComputationOp) and op.manual_axes for op in module.walk())


def make_global(module: ModuleOp) -> None:
    """Turns a program without manual computations along axes into one on whole tensors, in place."""
    rewriter, ops = Rewriter(), list(module.walk_post_order())
    for op in ops:
        if isinstance(op, AllReduceOp | ReduceScatterOp) and not _has_partial_results(op.tensor):
            raise NotValidated(f"'{op.name}' adds copies of a value, which is no operation on whole tensors")
        if op.name in COLLECTIVES and _names_other_devices(op):
            raise NotValidated(f"'{op.name}' outside of a manual computation has no meaning on whole tensors")
    for op in ops:
        if isinstance(op, _IDENTITIES):
            rewriter.replace(op, [op.operands[0]])
        elif isinstance(op, ConstantOp):
            value = {"value": op.signature.attributes["value"]}
            created = rewriter.create(StablehloConstantOp, (), op.result_types, value, before=op)
            rewriter.replace(op, created)
        elif isinstance(op, NamedComputationOp | ManualComputationOp):
            _inline(op, rewriter)
        elif isinstance(op, ShardingGroupOp | MeshOp):
            rewriter.erase(op)
        else:
            drop_annotations(op, rewriter)


def _has_partial_results(value: Value) -> bool:
    """Whether the devices may have partial results of a value, whose sum is the value."""
    sharding = sharding_of(value)
    if sharding is not None and sharding.unreduced_axes:
        return True
    op = value.defining_op
    return op is not None and op.dialect_name != "sdy"


def _names_other_devices(collective: Op) -> bool:
    """Whether a collective names devices other than the first one."""
    devices = collective.attribute("replica_groups") or collective.attribute("source_target_pairs")
    return not isinstance(devices, DenseElements) or any(devices.data)


def drop_annotations(op: Op, rewriter: Rewriter) -> None:
    """Removes the attributes of an operation that say how it is sharded or called."""
    for name, _ in op.attributes:
        if name.startswith(_ANNOTATING):
            rewriter.remove_attribute(op, name)
    if isinstance(op, FuncOp):
        rewriter.remove_attribute(op, "arg_attrs")
        rewriter.remove_attribute(op, "res_attrs")


def _inline(computation: NamedComputationOp | ManualComputationOp, rewriter: Rewriter) -> None:
    block = computation.block
    for argument, operand in zip(block.arguments, computation.operands, strict=True):
        rewriter.replace_all_uses(argument, operand)
    returned = block.last
    assert returned is not None
    for op in list(block.ops):
        if op is not returned:
            rewriter.move(op, before=computation)
    rewriter.replace(computation, returned.operands)


def entry_names(module: ModuleOp) -> list[str]:
    """The names of the functions that are run."""
    return [function.sym_name for function in entry_functions(module)]


def function_named(module: ModuleOp, name: str) -> FuncOp | None:
    """The function with a body of this name."""
    symbol = module.symbol(name)
    return symbol if isinstance(symbol, FuncOp) and not symbol.is_declaration else None


def program_of(module: ModuleOp, name: str) -> tuple[ModuleOp, FuncOp]:
    """A copy of a program with this function, as the public @main, and the functions that it refers to."""
    rewriter = Rewriter()
    copy = rewriter.clone(module)
    assert isinstance(copy, ModuleOp)
    entry = function_named(copy, name)
    assert entry is not None
    needed = _reachable(copy, entry)
    for op in list(copy.block.ops):
        if isinstance(op, FuncOp) and op not in needed:
            rewriter.erase(op)
        elif isinstance(op, FuncOp) and op is not entry:
            rewriter.set_attribute(op, "sym_visibility", string("private"))
    rewriter.remove_attribute(entry, "sym_visibility")
    rewriter.set_attribute(entry, "sym_name", string(MAIN))
    return copy, entry


def _reachable(module: ModuleOp, entry: FuncOp) -> set[Op]:
    """The functions that a function refers to, by calls or in any other way, and itself."""
    by_name = {op.sym_name: op for op in module.block.ops if isinstance(op, FuncOp)}
    reachable: set[Op] = {entry}
    worklist: list[FuncOp] = [entry]
    while worklist:
        for op in worklist.pop().walk():
            for reference in nested_attributes(op.signature.attributes):
                function = by_name.get(reference.root) if isinstance(reference, SymbolRef) else None
                if function is not None and function not in reachable:
                    reachable.add(function)
                    worklist.append(function)
    return reachable


_WHOLE = "sdy-partition-pipeline"

# A second run, on a program with collectives, would reduce partial results again.
_ONCE = "sdy-insert-explicit-reshards"


def partitioning_of(before: ModuleOp, after: ModuleOp) -> Pipeline:
    """The passes that partition a program after other passes."""
    pipeline = Pipeline()
    pipeline.add_nested(lookup(_WHOLE).build(""))
    if _collectives(after) <= _collectives(before):
        return pipeline
    flags = [_flags(element) for element in pipeline.elements]
    (position,) = [position for position, names in enumerate(flags) if _ONCE in names]
    return Pipeline(pipeline.anchor, pipeline.elements[position + 1 :])


def _flags(element: Pass | Pipeline) -> list[str]:
    passes = [element] if isinstance(element, Pass) else element.passes()
    return [item.flag for item in passes]


def _collectives(module: ModuleOp) -> int:
    return sum(isinstance(op, CollectiveOp) for op in module.walk())


def partition(module: ModuleOp, pipeline: Pipeline, verify: Verify) -> None:
    """Runs passes on a program, in place. Raises NotValidated with the first error."""
    errors: list[Diagnostic] = []

    def keep(diagnostic: Diagnostic) -> None:
        if diagnostic.severity is Severity.ERROR:
            errors.append(diagnostic)

    before = Rewriter().clone(module)

    def restart() -> Op:
        errors.clear()
        return before

    with handling(keep):
        succeeded = run_and_verify(pipeline, module, verify, restart)
    if not succeeded:
        message = errors[0].message.partition("\n")[0] if errors else "a pass failed"
        raise NotValidated(f"it cannot be partitioned: {message}")


# The mode in which the devices are replicas.
REPLICAS = "replicas"


def is_local(module: ModuleOp) -> bool:
    """Whether a program has collectives or the partition id of StableHLO, and of sdy nothing but meshes.

    A local program that needs neither is not recognized; it is the same on whole tensors.
    """
    names = {op.name for op in module.walk()}
    return bool(names & {*COLLECTIVES, PartitionIdOp.name}) and not any(
        name.startswith("sdy.") and name != MeshOp.name for name in names
    )


def program_text(module: ModuleOp) -> str:
    """The text of a program for XLA: in the generic form, which all versions of StableHLO parse.

    The program is changed.
    """
    make_row_major(module)
    return print_op(module, PrintOptions(generic=True))


def local_text(module: ModuleOp, entry: FuncOp, devices: int, mode: str) -> str:
    """The text of a local program for a mode. The program is changed."""
    rewriter = Rewriter()
    ops = list(module.walk())
    for op in ops:
        if op.name in COLLECTIVES:
            _list_devices(op, rewriter)
    for op in ops:
        if isinstance(op, MeshOp):
            rewriter.erase(op)
            continue
        drop_annotations(op, rewriter)
        if mode == REPLICAS and isinstance(op, PartitionIdOp):
            rewriter.replace(op, rewriter.create(ReplicaIdOp, (), op.result_types, before=op))
        elif mode == REPLICAS and op.name in COLLECTIVES:
            # Without these attributes, groups are groups of replicas.
            rewriter.remove_attribute(op, "channel_handle")
            rewriter.remove_attribute(op, "use_global_device_ids")
    if mode == REPLICAS:
        return program_text(module)
    type = entry.function_type
    rewriter.set_attribute(entry, "sym_name", string("local"))
    rewriter.set_attribute(entry, "sym_visibility", string("private"))
    rewriter.set_attributes(module, NO_ATTRIBUTES)  # which would be printed after the region
    text = program_text(module)
    end = text.rindex("})")
    return text[:end] + _manual_main(type.inputs, type.results, devices) + text[end:]


def _list_devices(op: Op, rewriter: Rewriter) -> None:
    """Replaces replica groups by mesh axes by lists of devices, since the mesh is erased."""
    groups = op.signature.attributes.get("replica_groups")
    if not isinstance(groups, ReplicaGroupMeshAxes):
        return
    mesh = sdy_mesh(groups.mesh) if isinstance(groups.mesh, GroupMesh) else None
    if isinstance(groups.mesh, SymbolRef):
        mesh = find_mesh(groups.mesh, op)
    axes = [sdy_axis(axis) for axis in groups.axes]
    if mesh is not None:
        lists = replica_groups([axis for axis in axes if axis is not None], mesh)
        type = tensor((len(lists), len(lists[0])), I64)
        ids = [device for group in lists for device in group]
        rewriter.set_attribute(op, "replica_groups", dense(type, pack(f"<{len(ids)}q", *ids)))


def _manual_main(inputs: Sequence[Type], results: Sequence[Type], devices: int) -> str:
    """A function @main that calls @local on every device; values have a leading dimension of devices."""

    def types(of: Sequence[Type], *lead: int) -> list[str]:
        return [_type_text(type, lead) for type in of]

    def joined(parts: Sequence[str]) -> str:
        return ", ".join(parts)

    def names(letter: str, of: Sequence[Type]) -> list[str]:
        return [f"%{letter}{number}" for number in range(len(of))]

    def with_attributes(parts: Sequence[str], of: Sequence[Type]) -> str:
        shardings = map(_sharding_text, of)
        attribute = "sdy.sharding = #sdy.sharding"
        return joined([f"{part} {{{attribute}{s}}}" for part, s in zip(parts, shardings, strict=True)])

    arguments = [f"{n}: {t}" for n, t in zip(names("a", inputs), types(inputs, devices), strict=True)]
    block_arguments = [f"{n}: {t}" for n, t in zip(names("x", inputs), types(inputs, 1), strict=True)]
    assigned = {letter: f"%{letter}:{len(results)} = " if results else "" for letter in "rc"}
    lines = [
        f'sdy.mesh @devices = <["d"={devices}]>',
        f"func.func public @main({with_attributes(arguments, inputs)}) -> "
        f"({with_attributes(types(results, devices), results)}) {{",
        f"{assigned['r']}sdy.manual_computation({joined(names('a', inputs))}) "
        f"in_shardings=[{joined(list(map(_sharding_text, inputs)))}] "
        f"out_shardings=[{joined(list(map(_sharding_text, results)))}] "
        f'manual_axes={{"d"}} ({joined(block_arguments)}) {{',
        *(
            f"%y{n} = stablehlo.reshape %x{n} : ({_type_text(t, (1,))}) -> {_type_text(t, ())}"
            for n, t in enumerate(inputs)
        ),
        f"{assigned['c']}func.call @local({joined(names('y', inputs))}) : "
        f"({joined(types(inputs))}) -> ({joined(types(results))})",
        *(
            f"%z{n} = stablehlo.reshape %c#{n} : ({_type_text(t, ())}) -> {_type_text(t, (1,))}"
            for n, t in enumerate(results)
        ),
        _return_text("sdy.return", names("z", results), types(results, 1)),
        f"}} : ({joined(types(inputs, devices))}) -> ({joined(types(results, devices))})",
        _return_text("return", [f"%r#{n}" for n in range(len(results))], types(results, devices)),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _return_text(name: str, values: Sequence[str], types: Sequence[str]) -> str:
    return f"{name} {', '.join(values)} : {', '.join(types)}" if values else name


def _type_text(type: Type, lead: Sequence[int]) -> str:
    assert isinstance(type, RankedTensor)
    return plain_type(RankedTensor((*lead, *type.shape), type.element))


def _sharding_text(type: Type) -> str:
    assert isinstance(type, RankedTensor)
    dims = ['{"d"}', *["{}"] * len(type.shape)]
    return f"<@devices, [{', '.join(dims)}]>"


# fft needs row-major operands and results, but XLA may lay them out otherwise, and then fails on the CPU.
#
# A flat tensor has only one layout. The barrier keeps XLA from merging the reshapes around it.


def make_row_major(module: ModuleOp) -> None:
    """Makes XLA use row-major layouts where it needs them, in place."""
    rewriter = Rewriter()
    for op in list(module.walk()):
        if isinstance(op, FftOp):
            rewriter.set_operands(op, [_row_major(op.operand, {"before": op}, rewriter)])
            after = op.next
            assert after is not None
            uses = list(op.result.uses)
            result = _row_major(op.result, {"before": after}, rewriter)
            for use in uses:
                rewriter.set_operand(use, result)


def _row_major(value: Value, insertion_point: InsertionPoint, rewriter: Rewriter) -> Value:
    type = value.type
    assert isinstance(type, RankedTensor)
    flat = RankedTensor((type.num_elements,), type.element)
    value = rewriter.create(ReshapeOp, [value], [flat], **insertion_point).result
    value = rewriter.create(OptimizationBarrierOp, [value], [flat], **insertion_point).results[0]
    return rewriter.create(ReshapeOp, [value], [type], **insertion_point).result
