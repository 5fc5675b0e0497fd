"""The subset of the affine dialect that programs of the mesh dialect use: apply, delinearize_index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.directives import DynamicIndexList, has_operand_per_dynamic_index
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.arith.compare import make_constant
from sdyopt.mlir.ir.affine import (
    MAX_DEPTH,
    AffineBinary,
    AffineConstant,
    AffineDim,
    AffineExpr,
    AffineMapAttr,
    AffineOperator,
    AffineSymbol,
    add,
    ceil_divide,
    constant,
    floor_divide,
    modulo,
    multiply,
)
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray, IntegerAttr, integer
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import attr, operand, operands, result, results
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import AFFINE_SCOPE, I64_ARRAY, INDEX_VALUE, PURE, of_class
from sdyopt.mlir.ir.types import DYNAMIC, I64, INDEX, Type
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value

_BUILD: dict[AffineOperator, Callable[[AffineExpr, AffineExpr], AffineExpr]] = {
    AffineOperator.ADD: add,
    AffineOperator.MULTIPLY: multiply,
    AffineOperator.MODULO: modulo,
    AffineOperator.FLOOR_DIVIDE: floor_divide,
    AffineOperator.CEIL_DIVIDE: ceil_divide,
}


# Limits of a composed map. Its text and its operands can double with each map composed.
_MAX_SIZE = 1_000
_MAX_OPERANDS = 1_000


class AffineApply(Op):
    """Base of the operation that applies a map: affine.apply."""

    map = attr(of_class(AffineMapAttr, "AffineMap attribute"))
    map_operands = operands(INDEX_VALUE)


@dataclass(frozen=True)
class AppliedMap:
    """A map with one result, and its operands: dimensions first, then symbols."""

    map: AffineMapAttr
    operands: tuple[Value, ...]

    def compose(self) -> AppliedMap | None:
        """Substitutes the maps of affine.apply operands.

        None if no affine.apply defines an operand, or if the composed map would be too large.
        """
        map, operands = self.map, self.operands
        if not any(_applied_map(value) for value in operands):
            return None
        dims: list[Value] = []
        symbols: list[Value] = []
        replacements: dict[AffineExpr, AffineExpr] = {}
        inner: list[tuple[AffineExpr, AppliedMap]] = []
        for kind, position, value in _operands_of(map, operands):
            inner_map = _applied_map(value)
            if inner_map is not None:
                inner.append((kind(position), inner_map))
            elif kind is AffineDim:
                replacements[kind(position)] = AffineDim(len(dims))
                dims.append(value)
            else:
                replacements[kind(position)] = AffineSymbol(len(symbols))
                symbols.append(value)
        for old, inner_map in inner:
            renumbered: dict[AffineExpr, AffineExpr] = {}
            for kind, position, value in _operands_of(inner_map.map, inner_map.operands):
                # The operands of a map that replaces a symbol are all symbols.
                if kind is AffineDim and isinstance(old, AffineDim):
                    renumbered[kind(position)] = AffineDim(len(dims))
                    dims.append(value)
                else:
                    renumbered[kind(position)] = AffineSymbol(len(symbols))
                    symbols.append(value)
            replacements[old] = substitute(inner_map.map.results[0], renumbered.__getitem__)
        expression = substitute(map.results[0], replacements.__getitem__)
        if (
            expression.size > _MAX_SIZE
            or expression.depth > MAX_DEPTH
            or len(dims) + len(symbols) > _MAX_OPERANDS
        ):
            return None
        return AppliedMap(AffineMapAttr(len(dims), len(symbols), (expression,)), (*dims, *symbols))


def substitute(expression: AffineExpr, replace: Callable[[AffineExpr], AffineExpr]) -> AffineExpr:
    """Replaces the dimensions and symbols of an expression; visits a shared subexpression once."""

    @cache
    def rebuild(expression: AffineExpr) -> AffineExpr:
        if isinstance(expression, AffineDim | AffineSymbol):
            return replace(expression)
        if not isinstance(expression, AffineBinary):
            return expression
        return _BUILD[expression.operator](rebuild(expression.lhs), rebuild(expression.rhs))

    return rebuild(expression)


def fold_operands(map: AffineMapAttr, constants: Sequence[int | None]) -> list[AffineExpr]:
    """The results of a map with constant operands folded. `constants` has None for the other operands."""

    def fold(expression: AffineExpr) -> AffineExpr:
        assert isinstance(expression, AffineDim | AffineSymbol)
        is_dim = isinstance(expression, AffineDim)
        number = constants[expression.position + (0 if is_dim else map.num_dims)]
        return expression if number is None else constant(number)

    return [substitute(expression, fold) for expression in map.results]


def is_symbol(value: Value) -> bool:
    """Whether a value can be a symbol operand.

    It must be defined at the top level of an affine scope, be constant, or result from an affine.apply of
    such values.
    """
    pending, visited = [value], {value}
    while pending:
        current = pending.pop()
        if _is_symbol_by_definition(current):
            continue
        if not isinstance(current.defining_op, AffineApply):
            return False
        operands = [operand for operand in current.defining_op.operands if operand not in visited]
        pending.extend(operands)
        visited.update(operands)
    return True


def _is_symbol_by_definition(value: Value) -> bool:
    """Whether a value can be a symbol operand, whatever the operands of its defining operation are."""
    if isinstance(value, BlockArgument):
        owner = value.block.parent_op
        return owner is not None and AFFINE_SCOPE in owner.traits
    assert isinstance(value, OpResult)
    parent = value.op.parent_op
    return (parent is not None and AFFINE_SCOPE in parent.traits) or constant_value(value.op) is not None


def canonicalize(applied: AppliedMap) -> AppliedMap:
    """Composes a map with the maps of affine.apply operands, and folds constants.

    Unused and duplicate operands are removed.
    """
    while (composed := applied.compose()) is not None:
        applied = composed
    map, operands = applied.map, applied.operands
    dims: list[Value] = []
    symbols: list[Value] = []
    replacements: dict[AffineExpr, AffineExpr] = {}
    used = _used(map.results[0])
    for kind, position, value in _operands_of(map, operands):
        old: AffineExpr = kind(position)
        folded = constant_value(value.defining_op)
        if old not in used:
            continue
        if isinstance(folded, IntegerAttr):
            replacements[old] = constant(folded.value)
        elif kind is AffineSymbol or is_symbol(value):
            if value not in symbols:
                symbols.append(value)
            replacements[old] = AffineSymbol(symbols.index(value))
        else:
            if value not in dims:
                dims.append(value)
            replacements[old] = AffineDim(dims.index(value))
    order = _order_symbols(map, operands, symbols, used)
    renumbered = {AffineSymbol(old): AffineSymbol(order.index(value)) for old, value in enumerate(symbols)}
    replacements = {old: renumbered.get(new, new) for old, new in replacements.items()}  # type: ignore[call-overload]
    expression = simplify(substitute(map.results[0], lambda old: replacements[old]))
    return AppliedMap(AffineMapAttr(len(dims), len(order), (expression,)), (*dims, *order))


def _order_symbols(
    map: AffineMapAttr, operands: tuple[Value, ...], symbols: list[Value], used: set[AffineExpr]
) -> list[Value]:
    """Orders symbol operands: those that are symbols of the map precede those that are its dimensions."""
    old = [v for p, v in enumerate(operands[map.num_dims :]) if AffineSymbol(p) in used]
    ordered = [value for value in dict.fromkeys(old) if value in symbols]
    return ordered + [value for value in symbols if value not in ordered]


def _operands_of(
    map: AffineMapAttr, operands: tuple[Value, ...]
) -> list[tuple[type[AffineDim] | type[AffineSymbol], int, Value]]:
    dims = [(AffineDim, i, value) for i, value in enumerate(operands[: map.num_dims])]
    symbols = [(AffineSymbol, i, value) for i, value in enumerate(operands[map.num_dims :])]
    return [*dims, *symbols]


def _used(expression: AffineExpr) -> set[AffineExpr]:
    """The dimensions and symbols in an expression."""
    pending, visited = [expression], {expression}
    while pending:
        current = pending.pop()
        if isinstance(current, AffineBinary):
            operands = {current.lhs, current.rhs} - visited
            pending.extend(operands)
            visited |= operands
    return {expr for expr in visited if isinstance(expr, AffineDim | AffineSymbol)}


def _applied_map(value: Value) -> AppliedMap | None:
    op = value.defining_op
    return AppliedMap(op.map, tuple(op.operands)) if isinstance(op, AffineApply) else None


def simplify(expression: AffineExpr) -> AffineExpr:
    """Merges the terms of a linear expression, and orders them by position; keeps any other expression."""
    terms = _linear_terms(expression)
    if terms is None:
        return expression
    total: AffineExpr = constant(0)
    for variable in sorted((term for term in terms if term is not None), key=_position):
        if terms[variable]:
            total = add(total, multiply(variable, constant(terms[variable])))
    return add(total, constant(terms.get(None, 0)))


def _position(variable: AffineExpr) -> tuple[bool, int]:
    assert isinstance(variable, AffineDim | AffineSymbol)
    return isinstance(variable, AffineSymbol), variable.position


def _linear_terms(expression: AffineExpr) -> dict[AffineExpr | None, int] | None:
    """The coefficient of each dimension and symbol, and the constant under None; None if not linear."""

    @cache
    def terms_of(expression: AffineExpr) -> dict[AffineExpr | None, int] | None:
        if isinstance(expression, AffineConstant):
            return {None: expression.value}
        if isinstance(expression, AffineDim | AffineSymbol):
            return {expression: 1}
        assert isinstance(expression, AffineBinary)
        lhs, rhs = terms_of(expression.lhs), terms_of(expression.rhs)
        if lhs is None or rhs is None:
            return None
        if expression.operator is AffineOperator.ADD:
            return {term: lhs.get(term, 0) + rhs.get(term, 0) for term in [*lhs, *rhs]}
        if expression.operator is AffineOperator.MULTIPLY and isinstance(expression.rhs, AffineConstant):
            return {term: factor * expression.rhs.value for term, factor in lhs.items()}
        return None

    return terms_of(expression)


affine = Dialect("affine", is_partial=True)
affine.is_inlinable = True
affine.materialize_constant = make_constant


def _write_operands(out: Template, indices: range) -> None:
    for position, index in enumerate(indices):
        if position:
            out.text(", ")
        out.parts.append(index)


@affine.op("apply", PURE)
class ApplyOp(AffineApply):
    """Applies an affine map with one result to dimension and symbol operands: `(%dims)[%symbols]`."""

    out = result(INDEX_VALUE)

    @staticmethod
    def _parse_apply(op_parser: OpAsmParser) -> None:
        offset = op_parser.skip_trivia()
        map = op_parser.attribute()
        if not isinstance(map, AffineMapAttr):
            raise op_parser.error("invalid kind of attribute specified", offset)
        dims = op_parser.comma_list(op_parser.operand, "(", ")")
        symbols = op_parser.comma_list(op_parser.operand, "[", "]") if op_parser.looking_at("[") else []
        op_parser.attributes["map"] = map
        op_parser.operand_names["map_operands"] = dims + symbols
        op_parser.types["map_operands"] = [INDEX] * (len(dims) + len(symbols))
        if (map.num_dims, map.num_symbols) != (len(dims), len(symbols)):
            raise op_parser.error("dimension or symbol index mismatch", op_parser.offset)
        op_parser.result_types = [INDEX] * len(map.results)

    @staticmethod
    def _write_apply(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        map = signature[ApplyOp.map]
        out.word(out.attribute_printer.attribute(map))
        out.text("(")
        _write_operands(out, range(map.num_dims))
        out.text(")")
        if map.num_symbols:
            out.text("[")
            _write_operands(out, range(map.num_dims, len(signature.operand_types)))
            out.text("]")

    assembly = assembly("custom<apply>($map) attr-dict", apply=custom(_parse_apply, _write_apply))

    def _simplify(self, rewriter: Rewriter) -> bool:
        """Composes the map with those of affine.apply operands, folds constants, drops unused operands."""
        old = AppliedMap(self.map, tuple(self.map_operands))
        new = canonicalize(old)
        if new.map is old.map and new.operands == old.operands:
            return False
        new_op = rewriter.create(
            ApplyOp, new.operands, [INDEX], {"map": new.map}, before=self, location=self.location
        )
        rewriter.replace(self, new_op)
        return True

    canonicalizations = (Pattern(_simplify),)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        map = signature[ApplyOp.map]
        if len(signature.operand_types) != map.num_dims + map.num_symbols:
            raise signature.op_error("operand count and affine map dimension and symbol count must match")
        if len(map.results) != 1:
            raise signature.op_error("mapping must produce one value")

    def verify_in_context(self) -> None:
        for value in self.map_operands[self.map.num_dims :]:
            if not is_symbol(value):
                raise self.op_error("symbols must be valid symbols")

    def fold(self, constants: Sequence[Attribute | None]) -> Sequence[Value | Attribute] | None:
        numbers = [c.value if isinstance(c, IntegerAttr) else None for c in constants]
        (expression,) = fold_operands(self.map, numbers)
        if isinstance(expression, AffineDim):
            return [self.map_operands[expression.position]]
        if isinstance(expression, AffineSymbol):
            return [self.map_operands[self.map.num_dims + expression.position]]
        if isinstance(expression, AffineConstant):
            return [integer(expression.value, INDEX)]
        return None


@affine.op("delinearize_index", PURE)
class DelinearizeIndexOp(Op):
    """The multi-index of a row-major linear index, in a grid whose sizes are the basis."""

    linear_index = operand(INDEX_VALUE)
    basis = operands(INDEX_VALUE)
    multi_index = results(INDEX_VALUE)

    assembly = assembly("$linear_index `into` ` ` `(` $basis `)` attr-dict `:` type($multi_index)")

    @classmethod
    def insert_before(cls, op: Op, rewriter: Rewriter, linear_index: Value, sizes: Sequence[Value]) -> Op:
        """Inserts the operation with a basis of values."""
        types = [INDEX] * len(sizes)
        return rewriter.create(cls, [linear_index, *sizes], types, before=op, location=op.location)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [INDEX] * len(signature[DelinearizeIndexOp.basis])

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        basis = signature[DelinearizeIndexOp.basis]
        if not basis:
            raise signature.op_error("basis should not be empty")
        if len(basis) != len(signature.result_types):
            raise signature.op_error("should return an index for each basis element")


# --- LLVM 21 --------------------------------------------------------------------------------------

# The dialect of LLVM 21, selected with its mesh dialect: sizes of a basis may be attributes.
affine21 = Dialect("affine", is_partial=True)
affine21.is_inlinable = True
affine21.materialize_constant = make_constant


def _multi_index(index: int, sizes: Sequence[int]) -> list[int]:
    """The row-major multi-index; no size bounds its first index."""
    indices = []
    for size in reversed(sizes):
        index, remainder = divmod(index, size)
        indices.append(remainder)
    return [index, *reversed(indices)]


def _constants(numbers: Sequence[int], op: Op, rewriter: Rewriter) -> list[Value]:
    values: list[Value] = []
    for number in numbers:
        constant_op = make_constant(integer(number, INDEX), INDEX, op.location)
        assert constant_op is not None
        rewriter.insert(constant_op, before=op)
        values.append(constant_op.results[0])
    return values


@affine21.op("delinearize_index", PURE)
class DelinearizeIndex21Op(Op):
    """The multi-index of a row-major linear index, in a grid whose sizes are the basis.

    Without the size of the first dimension, there is one index more than sizes.
    """

    linear_index = operand(INDEX_VALUE)
    dynamic_basis = operands(INDEX_VALUE)
    static_basis = attr(I64_ARRAY)
    multi_index = results(INDEX_VALUE)

    assembly = assembly(
        "$linear_index `into` ` ` custom<basis>($dynamic_basis, $static_basis) attr-dict `:` "
        "type($multi_index)",
        basis=lambda operands, numbers: DynamicIndexList(operands, numbers, "()"),
    )
    # The first is a fold, which all passes with patterns do.

    def _fold_basis(self, rewriter: Rewriter) -> bool:
        """Makes constant sizes static; an index that is constant, or the only one, is folded."""
        if len(self.results) == 1:
            rewriter.replace(self, [self.linear_index])
            return True
        sizes, dynamic = list(self.static_basis), list(self.dynamic_basis)
        positions = [position for position, size in enumerate(sizes) if size == DYNAMIC]
        for position, value in zip(positions, self.dynamic_basis, strict=True):
            size = constant_value(value.defining_op)
            if isinstance(size, IntegerAttr):
                sizes[position] = size.value
                dynamic.remove(value)
        index = constant_value(self.linear_index.defining_op)
        if not dynamic and isinstance(index, IntegerAttr) and all(size > 0 for size in sizes):
            inner_sizes = sizes[len(sizes) - len(self.results) + 1 :]
            rewriter.replace(self, _constants(_multi_index(index.value, inner_sizes), self, rewriter))
            return True
        if len(dynamic) == len(positions):
            return False
        attributes = {"static_basis": DenseArray(I64, tuple(sizes))}
        folded = rewriter.create(
            type(self),
            [self.linear_index, *dynamic],
            self.result_types,
            attributes,
            before=self,
            location=self.location,
        )
        rewriter.replace(self, folded)
        return True

    folding = Pattern(_fold_basis)

    def _drop_unit_sizes(self, rewriter: Rewriter) -> bool:
        """The index along a size of 1 is 0."""
        kept = [position for position, size in enumerate(self.static_basis) if size != 1]
        if len(kept) == len(self.static_basis) or len(self.results) != len(self.static_basis):
            return False
        (zero,) = _constants([0], self, rewriter)
        indices = dict.fromkeys(range(len(self.results)), zero)
        if kept:
            attributes = {
                "static_basis": DenseArray(I64, tuple(self.static_basis[position] for position in kept))
            }
            operands, types = self.operands, [INDEX] * len(kept)
            rest = rewriter.create(
                type(self), operands, types, attributes, before=self, location=self.location
            )
            indices.update(zip(kept, rest.results, strict=True))
        rewriter.replace(self, [indices[position] for position in range(len(self.static_basis))])
        return True

    canonicalizations = (folding, Pattern(_drop_unit_sizes))

    @classmethod
    def insert_before(cls, op: Op, rewriter: Rewriter, linear_index: Value, sizes: Sequence[Value]) -> Op:
        """Inserts the operation with a basis of values."""
        types, attributes = [INDEX] * len(sizes), {"static_basis": DenseArray(I64, (DYNAMIC,) * len(sizes))}
        operands = [linear_index, *sizes]
        return rewriter.create(cls, operands, types, attributes, before=op, location=op.location)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        basis = signature[DelinearizeIndex21Op.static_basis]
        if not has_operand_per_dynamic_index(signature, "dynamic_basis", "static_basis"):
            raise signature.op_error(
                "mismatch between dynamic and static basis (kDynamic marker but no corresponding dynamic "
                "basis entry) -- this can only happen due to an incorrect fold/rewrite"
            )
        if not 0 <= len(signature.result_types) - len(basis) <= 1:
            raise signature.op_error(
                "should return an index for each basis element and up to one extra index"
            )
        if any(size <= 0 and size != DYNAMIC for size in basis):
            raise signature.op_error("no basis element may be statically non-positive")


for _mnemonic, _op_class in affine.ops.items():
    affine21.ops.setdefault(_mnemonic, _op_class)

DIALECT = affine
