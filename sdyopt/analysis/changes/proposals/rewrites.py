"""Proposals that edit no annotation: batching dimensions, collectives before loops, and donations.

Sums that a loop adds up need not be moved: the compilers of TPU and GPU move them behind the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from sdyopt.analysis.changes.edits import Change, annotation_of
from sdyopt.analysis.changes.proposals import ProposedOn, proposal
from sdyopt.analysis.figures.execution_counts import ExecutionCounts, entry_functions, functions_in
from sdyopt.analysis.figures.local_shapes import bytes_of
from sdyopt.analysis.figures.loop_invariants import is_invariant, owner_of
from sdyopt.analysis.figures.peak_memory import ALIASING_OUTPUT, BUFFER_DONOR, aliased_results
from sdyopt.analysis.figures.product_collectives import COLLECTIVES
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.dialects.func import ReturnOp
from sdyopt.mlir.dialects.sdy.ops import ReshardOp, ShardingConstraintOp
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicUpdateSliceOp
from sdyopt.mlir.ir.attribute import UnitAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.value_names import name_of, name_of_result, path_parts
from sdyopt.shardy.record import FunctionResult
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

# The bytes of arguments that are worth to be donated.
_MIN_DONATED = 1 << 20
# So many values between an argument and its new value are looked at, and so many results of its name.
_MAX_VALUES = 200
_MAX_RESULTS = 8
_PASSED = (DynamicUpdateSliceOp, ScatterOp, ShardingConstraintOp, ReshardOp)
_ROOT = constant_pattern(r"[\[.]")
BATCHING = "sdy-explicit-gather-scatter-batching"


@proposal("batching", share=1)
def batching(program: ProposedOn) -> Iterator[Change]:
    """Gathers and scatters with batching dimensions, as `jnp.take_along_axis` makes them."""
    if any(is_implicit_batching(op) for op in program.module.walk()):
        yield BATCHED


BATCHED = Change(
    passes={BATCHING: {}},
    words=("index with batching dimensions, as `jnp.take_along_axis` does", f"run -{BATCHING} first"),
)


def is_implicit_batching(op: Op) -> bool:
    """Whether a gather or scatter without batching dimensions has several indices, one of them of rows."""
    if isinstance(op, GatherOp):
        gather = op.dimension_numbers
        batching, indexed, collapsed = (
            gather.operand_batching_dims,
            gather.start_index_map,
            gather.collapsed_slice_dims,
        )
    elif isinstance(op, ScatterOp):
        scatter = op.scatter_dimension_numbers
        batching, indexed, collapsed = (
            scatter.input_batching_dims,
            scatter.scatter_dims_to_operand_dims,
            scatter.inserted_window_dims,
        )
    else:
        return False
    return not batching and len(indexed) > 1 and 0 in indexed and 0 in collapsed


@proposal("invariant collectives", share=1)
def invariant_collectives(program: ProposedOn) -> Iterator[Change]:
    """A collective before the loop in which its operands do not change."""
    counts = ExecutionCounts(program.module)
    for op in program.module.walk():
        loop = op.parent_of_type(WhileOp) if isinstance(op, COLLECTIVES) and op.results else None
        if not isinstance(loop, WhileOp) or not all(
            is_invariant(operand, loop, counts) for operand in op.operands
        ):
            continue
        if not any(loop.is_ancestor(owner_of(operand)) for operand in op.operands):
            name = op.signature.name.removeprefix("stablehlo.")
            words = f"run this {name} before the loop", ""
            yield Change(rewrite=partial(_move_before, op, loop), words=words)


@proposal("donations", share=1, is_sure=True)
def donations(program: ProposedOn) -> Iterator[Change]:
    """The arguments in whose memory results may be that are their new values, of their types and shardings.

    They are known by their keys, and are computed from them elementwise: `result[0]['w']` is that of
    `params['w']`, but not its gradient. Into an argument without keys, such as `k_cache`, other elements are
    written.
    """
    for function in entry_functions(functions_in(program.module)):
        if function.is_declaration or not isinstance(returned := function.entry.last, ReturnOp):
            continue
        # The results that have no memory of an argument, by type and the end of the name: first those of
        # which less is left out.
        aliased = set(aliased_results(function).values())
        keys = [path_parts(name_of_result(function, index)) for index in range(len(returned.operands))]
        free: dict[object, list[tuple[Value, object]]] = {}
        for start in range(max(map(len, keys), default=0) + 1):
            for index, value in enumerate(returned.operands):
                # The new value of an argument without keys is no leaf of a tree.
                is_end = start < len(keys[index]) or start == len(keys[index]) <= 1
                if index not in aliased and is_end:
                    results = free.setdefault((keys[index][start:], value.type), [])
                    if len(results) < _MAX_RESULTS:
                        results.append((value, annotation_of(FunctionResult(function, index))))
        indices, roots = [], dict[str, None]()
        for index, argument in enumerate(function.entry.arguments):
            name, attributes = name_of(argument), function.argument_attributes[index]
            values = free.get((path_parts(name), argument.type), [])
            if not name or BUFFER_DONOR in attributes or ALIASING_OUTPUT in attributes:
                continue
            if any(
                sharding in (None, annotation_of(argument)) and _is_update(value, argument)
                for value, sharding in values
            ):
                indices.append(index)
                roots[_ROOT.split(name)[0]] = None
        sizes = (bytes_of(function.entry.arguments[index].type) for index in indices)
        if sum(filter(None, sizes)) >= _MIN_DONATED:
            names = ", ".join(map(repr, roots))
            words = f"jax.jit(…, donate_argnames=[{names}])", BUFFER_DONOR
            reason = "the new values of these arguments are beside the old ones"
            yield Change(rewrite=partial(_donate, function, indices), words=words, op=function, reason=reason)


def _is_update(value: Value, argument: Value) -> bool:
    """Whether a value is computed from an argument of its type elementwise, or by writing into it.

    Something must be written into one without keys.
    """
    pending, visited = [value], {value}
    while pending and len(visited) <= _MAX_VALUES:
        one = pending.pop()
        if one is argument:
            writes = (isinstance(of.defining_op, DynamicUpdateSliceOp | ScatterOp) for of in visited)
            return bool(path_parts(name_of(argument))) or any(writes)
        op = one.defining_op
        if op is None or not (is_elementwise(op.signature) or isinstance(op, _PASSED)):
            continue
        operands = op.operands[:1] if isinstance(op, DynamicUpdateSliceOp | ScatterOp) else op.operands
        new = [operand for operand in operands if operand.type is argument.type and operand not in visited]
        pending += new
        visited.update(new)
    return False


def _donate(function: Op, indices: Sequence[int], copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
    for index in indices:
        rewriter.set_argument_attribute(copies[function], index, BUFFER_DONOR, UnitAttr())


def _move_before(op: Op, loop: Op, copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
    rewriter.move(copies[op], before=copies[loop])
