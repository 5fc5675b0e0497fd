"""The program on whole tensors: without shardings, and without operations of sdy.

Moving data between devices changes no tensor, so all reshards and collectives of sdy are identities.
"""

from __future__ import annotations

from sdyopt.analysis.execution.process import NotValidated
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, handling
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.computation_ops import ManualComputationOp, NamedComputationOp
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import (
    ConstantOp,
    PropagationBarrierOp,
    ReshardOp,
    ShardingConstraintOp,
    ShardingGroupOp,
)
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, FuncDataFlowEdgeOp, sharding_of
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp as StablehloConstantOp
from sdyopt.mlir.ir.attribute import SymbolRef, nested_attributes, string
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass, Pipeline
from sdyopt.mlir.pipeline.run import Verify, run_and_verify
from sdyopt.mlir.registry import lookup
from sdyopt.shardy.partition.outlining import MAIN, entry_functions

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
