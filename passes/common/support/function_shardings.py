"""Functions of a module and their shardings, data-flow edges, and transformation of all shardings.

Most operations store the shardings of their results in the discardable attribute `sdy.sharding`, functions
one per argument and result, and some sdy operations in inherent attributes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of
from sdyopt.mlir.dialects.sdy.sharding import (
    ShardingOwner,
    ShardingPerValue,
    TensorSharding,
    fully_replicated,
)
from sdyopt.mlir.dialects.sdy.value_shardings import (
    IN_SHARDINGS,
    DataFlowEdgeOp,
    edge_of_owner,
    rank_of,
    sharding_in,
    sharding_of,
)
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, SymbolRef
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.symbols import (
    SymbolTableOp,
    is_public,
    lookup_symbol,
    references_of_signature,
    symbol_references,
    symbol_tables,
)
from sdyopt.mlir.ir.types import RankedShapedType, Type
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.partition.outlining import MAIN, entry_functions
from sdyopt.shardy.record import Truncation, record_truncation


def argument_shardings(function: FuncOp) -> ShardingPerValue | None:
    """The shardings of all arguments, fully open for those without one.

    None if no argument has one, or only ones with maximal meshes.
    """
    return _completed(function, function.argument_attributes, function.function_type.inputs)


def result_shardings(function: FuncOp) -> ShardingPerValue | None:
    """The shardings of all results, fully open for those without one.

    None if no result has one, or only ones with maximal meshes.
    """
    return _completed(function, function.result_attributes, function.function_type.results)


def transform_function_shardings(
    function: FuncOp,
    transform: Callable[[TensorSharding, Type], TensorSharding],
    rewriter: Rewriter,
    why: Truncation,
) -> None:
    """Replaces every sharding of an argument or result with `transform(sharding, type)`.

    The transformed sharding must be a prefix of the old one.
    """
    signature = function.function_type
    for is_result, attributes, types, set_attribute in (
        (False, function.argument_attributes, signature.inputs, rewriter.set_argument_attribute),
        (True, function.result_attributes, signature.results, rewriter.set_result_attribute),
    ):
        for index, type in enumerate(types):
            sharding = sharding_in(attributes[index])
            if sharding is None:
                continue
            new = transform(sharding, type)
            if new is not sharding:
                record_truncation(function, index, is_result, new, why)
            set_attribute(function, index, SHARDING, new)


def _completed(
    function: FuncOp, attributes: Sequence[DictAttr], types: Sequence[Type]
) -> ShardingPerValue | None:
    shardings = [sharding_in(dictionary) for dictionary in attributes]
    # Values without a sharding get the mesh of another one, but not a maximal mesh.
    candidates = (
        sharding for sharding in shardings if sharding is not None and not is_maximal(sharding, function)
    )
    first = next(candidates, None)
    if first is None:
        return None
    mesh = first.mesh_or_ref
    return ShardingPerValue(
        tuple(
            [
                fully_replicated(rank_of(type), mesh, is_closed=False) if sharding is None else sharding
                for sharding, type in zip(shardings, types, strict=True)
            ]
        )
    )


def is_maximal(sharding: TensorSharding, function: FuncOp) -> bool:
    """Whether a sharding in a function is on a single device."""
    mesh = mesh_of(sharding, function)
    return mesh is not None and mesh.is_maximal


def main_function(module: ModuleOp) -> FuncOp:
    """The only function of a module, or else its only entry function.

    Raises DiagnosticError if the module has no entry function, or several.
    """
    functions = [op for op in module.block.ops if isinstance(op, FuncOp)]
    if len(functions) == 1:
        return functions[0]
    entries = entry_functions(module)
    if len(entries) == 1:
        return entries[0]
    message = f"Failed to lookup function: {MAIN}"
    if not functions:
        error = module.error(message).help("add a function to the module as the entry point")
    else:
        error = (entries or functions)[0].error(message).help("rename the entry point to `@main`")
    error.diagnostic.operation = None  # a note would print the whole program
    raise error


class FunctionUses:
    """Counts the references to functions, in all symbol tables of a module.

    A function that is not public is dead without uses.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._all: Counter[Op] = Counter()
        self._inside: dict[FuncOp, Counter[Op]] = {}
        self._all.update(_references(module))
        tables = symbol_tables(module)
        for op in (op for table in tables for block in table.regions[0].blocks for op in block.ops):
            counts = _references(op)
            self._all.update(counts)
            if isinstance(op, FuncOp):
                self._inside[op] = counts

    def recount(self, function: FuncOp) -> None:
        """Counts the references in a function after another pass has edited it."""
        self._all.subtract(self._inside.get(function, ()))
        self._inside[function] = _references(function)
        self._all.update(self._inside[function])

    def is_dead(self, function: FuncOp) -> bool:
        return self._is_discardable(function) and self._all[function] == 0

    def has_one_use(self, function: FuncOp) -> bool:
        """Whether the function is dead after its one remaining use has been inlined."""
        return self._is_discardable(function) and self._all[function] == 1

    def _is_discardable(self, function: FuncOp) -> bool:
        # What refers to a function outside of a symbol table is not known.
        return not is_public(function) and isinstance(function.parent_op, SymbolTableOp)

    def record_inlining(self, callee: FuncOp, caller: FuncOp, is_moved: bool) -> None:
        """Updates the counts after a callee's body, or a copy of it, has replaced a call."""
        inner = self._inside[callee]
        outer = self._inside[caller]
        outer.update(inner)
        outer[callee] -= 1
        self._all[callee] -= 1
        if is_moved:
            del self._inside[callee]
        else:
            self._all.update(inner)


def _references(outer: Op) -> Counter[Op]:
    """How often an operation, and those nested in it, refer to each symbol. Skips nested symbol tables."""
    counts: Counter[SymbolRef] = Counter()
    known: dict[DictAttr, tuple[SymbolRef, ...]] = {}
    for inner in [outer] if isinstance(outer, SymbolTableOp) else _in_scope(outer):
        if inner.mutable_attributes:
            references = symbol_references(inner.inherent_attributes())
        else:
            references = inner.signature.cached(references_of_signature)
        attributes = inner.attributes
        if attributes.entries:
            if attributes not in known:
                known[attributes] = symbol_references(attributes)
            references += known[attributes]
        for reference in references:
            counts[reference] += 1
    # A symbol table does not resolve its own references.
    user = outer.parent_op if isinstance(outer, SymbolTableOp) else outer
    symbols: Counter[Op] = Counter()
    for reference, count in counts.items():
        symbol = None if user is None else lookup_symbol(user, reference)
        if symbol is not None:
            symbols[symbol] += count
    return symbols


def _in_scope(outer: Op) -> Iterator[Op]:
    """An operation and those nested in it, except symbol tables and what is nested in these."""
    pending = [outer]
    while pending:
        op = pending.pop()
        yield op
        pending += [
            child
            for region in op.regions
            for block in region.blocks
            for child in block.ops
            if not isinstance(child, SymbolTableOp)
        ]


def add_edges(owners: Sequence[Value], rewriter: Rewriter) -> None:
    """Inserts an edge with the sharding of the owner after each owner, and replaces the owner's other uses.

    Owners without a static shape, such as tokens, cannot be sharded and get no edge.
    """
    # In reverse: each edge is inserted directly after its owner, which may be before the previous edges.
    for owner in reversed(owners):
        if can_have_edge(owner):
            sharding = sharding_of(owner)
            attributes: dict[str, Attribute] = {} if sharding is None else {"sharding": sharding}
            edge = rewriter.create(
                DataFlowEdgeOp,
                [owner],
                [owner.type],
                attributes,
                location=owner.lazy_location,
                **directly_after_definition(owner),
            )
            rewriter.replace_uses_except(owner, edge.result, edge)


def expect_invalid_edges(module: Op, op_class: type[Op], rewriter: Rewriter) -> None:
    """Edges that a program already has may be invalid once there are others, until all are removed."""
    if module.nested(op_class):
        rewriter.expect_invalid()


def remove_edges(owners: Sequence[Value], rewriter: Rewriter) -> None:
    """Replaces the edges of these owners with the owners."""
    for owner in owners:
        edge = edge_of_owner(owner)
        if edge is not None:
            rewriter.replace(edge, [owner])


def shardings_of_edges(owners: Sequence[Value]) -> ShardingPerValue | None:
    """For each owner the sharding of its edge, fully open if it has none; None if no edge has one."""
    edges = [edge_of_owner(owner) for owner in owners]
    shardings = [None if edge is None else edge.sharding for edge in edges]
    first = next((sharding for sharding in shardings if sharding is not None), None)
    if first is None:
        return None
    mesh = first.mesh_or_ref
    return ShardingPerValue(
        tuple(
            [
                sharding or fully_replicated(rank_of(owner.type), mesh, is_closed=False)
                for sharding, owner in zip(shardings, owners, strict=True)
            ]
        )
    )


def can_have_edge(value: Value) -> bool:
    """Whether a value has a static shape and so can be sharded."""
    return isinstance(value.type, RankedShapedType) and value.type.has_static_shape


def remove_from_signature(function: FuncOp, names: Iterable[str], rewriter: Rewriter) -> None:
    """Removes attributes with these names from the arguments and results of a function."""
    for name in names:
        for index in range(len(function.argument_attributes)):
            rewriter.set_argument_attribute(function, index, name, None)
        for index in range(len(function.result_attributes)):
            rewriter.set_result_attribute(function, index, name, None)


Transform = Callable[[TensorSharding], TensorSharding]


def transform_shardings(root: Op, transform: Transform, rewriter: Rewriter) -> None:
    """Replaces every sharding of `root` and its nested operations with `transform(sharding)`.

    `transform` is called once for each distinct sharding, in pre-order, arguments before results.
    """
    transformer = _Transformer(transform, rewriter)
    for op in root.walk():
        transformer.visit(op)


class _Transformer:
    """Transforms operations. Caches results: a program has few distinct shardings and dictionaries."""

    def __init__(self, transform: Transform, rewriter: Rewriter) -> None:
        self._transform = cache(transform)
        self._dictionary = cache(self._new_dictionary)
        self._rewriter = rewriter

    def visit(self, op: Op) -> None:
        if isinstance(op, FuncOp):
            self._transform_function(op)
        elif isinstance(op, ShardingOwner):
            self._transform_inherent(op)
        else:
            if SHARDING in op.attributes:
                self._rewriter.set_attributes(op, self._dictionary(op.attributes))
            if op.data_flow is not None and (shardings := op.attribute(IN_SHARDINGS)) is not None:
                self._rewriter.set_attribute(op, IN_SHARDINGS, self._new(shardings))

    def _transform_function(self, function: FuncOp) -> None:
        for attributes, set_attribute in (
            (function.argument_attributes, self._rewriter.set_argument_attribute),
            (function.result_attributes, self._rewriter.set_result_attribute),
        ):
            for index, dictionary in enumerate(attributes):
                if SHARDING in dictionary:
                    set_attribute(function, index, SHARDING, self._new(dictionary[SHARDING]))

    def _transform_inherent(self, op: Op) -> None:
        for name, value in op.signature.attributes:
            self._rewriter.set_attribute(op, name, self._new(value))

    def _new_dictionary(self, attributes: DictAttr) -> DictAttr:
        return attributes.with_entry(SHARDING, self._new(attributes[SHARDING]))

    def _new(self, attribute: Attribute) -> Attribute:
        """An attribute with transformed shardings; attributes of other kinds unchanged."""
        if isinstance(attribute, TensorSharding):
            return self._transform(attribute)
        if isinstance(attribute, ShardingPerValue):
            return ShardingPerValue(tuple([self._transform(sharding) for sharding in attribute]))
        return attribute


def directly_after_definition(value: Value) -> InsertionPoint:
    """Directly after the definition of a value, and before operations that were inserted there earlier."""
    if isinstance(value, BlockArgument):
        return {"at_start_of": value.block}
    assert isinstance(value, OpResult)
    return {"after": value.op}
