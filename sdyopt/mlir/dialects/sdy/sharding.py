"""Shardings of tensors and dimensions, the operations that have them, and manual axes in them.

    <@mesh, [{"x"}, {"y", ?}p1], replicated={"z"}, unreduced={"w"}>

Dimension 0 is sharded along axis "x" and closed. Dimension 1 is sharded along "y", open, so that
propagation may shard it further, and has priority 1. The tensor is explicitly replicated along "z" and
unreduced along "w": along that axis the devices have partial results that are not reduced yet. The reduction
is a sum unless it is named: `unreduced=max{"w"}`, `unreduced=min{"w"}`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from math import prod
from typing import cast
from weakref import WeakSet

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.interning import derived_field
from sdyopt.base.patterns import constant_pattern
from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.format.attribute_format import (
    BracketedList,
    CustomParameters,
    attribute_format,
    dialect_attribute,
    nested_list,
    parse_nested,
    with_error_at_next_token,
)
from sdyopt.mlir.asm.lexical import BARE_ID, symbol_text
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.dialects.sdy.axes import AxisRef, ManualAxes, axis_refs_text
from sdyopt.mlir.dialects.sdy.mesh import Mesh, sdy
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind, accept_reduction_kind
from sdyopt.mlir.ir.attribute import Attribute, SymbolRef
from sdyopt.mlir.ir.op_fields import attr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import of_class

MeshOrRef = Mesh | SymbolRef

# --- Dimension shardings --------------------------------------------------------------------------


def _parse_priority(parser: AsmParser) -> int | None:
    word = parser.accept_keyword()
    if word is None:
        return None
    number = word[1:]
    if word[0] != "p" or not (number.isascii() and number.isdigit()):
        raise parser.error(f"expecting priority in format 'p<number>', got: {word}")
    if number[0] == "0" and len(number) > 1:
        raise parser.error(f"priorities with leading zeros are not allowed, got: {word}")
    if len(number) > 19 or int(number) >= 1 << 63:
        raise parser.error(f"expecting integer priority, got: {word}")
    return int(number)


@dialect_attribute(sdy, "dimension_sharding", "Sdy_DimensionSharding", "{}")
class DimensionSharding(Attribute):
    """`{"x", ?}p1`: the axes that shard a dimension, major to minor.

    Propagation does not shard a closed dimension further. It starts with the dimensions of priority 0, which
    is the default, and then admits priorities 1, 2, ….
    """

    axes: tuple[AxisRef, ...] = ()
    is_closed: bool = True
    priority: int | None = None
    dialect = "sdy"

    def _dimension_text(self) -> str:
        parts = [axis_refs_text(self.axes)] if self.axes else []
        if not self.is_closed:
            parts.append("?")
        priority = "" if self.priority is None else f"p{self.priority}"
        return f"{{{', '.join(parts)}}}{priority}"

    @staticmethod
    def _parse_dimension(parser: AsmParser) -> tuple[tuple[AxisRef, ...], bool, int | None]:
        """Parses `{"x", ?}p1`."""
        parser.expect("{")
        axes: list[AxisRef] = []
        is_closed = True
        while not parser.accept("}"):
            if axes:
                parser.expect(",")
            if parser.accept("?"):
                is_closed = False
                parser.expect("}")
                break
            axes.append(AxisRef.assembly.parse(parser))
        return tuple(axes), is_closed, _parse_priority(parser)

    assembly = attribute_format(CustomParameters(_parse_dimension, _dimension_text))

    def sharded_size(self, mesh: Mesh) -> int:
        """The product of the sizes of the axes."""
        return prod(axis.size(mesh) for axis in self.axes)

    def closed(self) -> DimensionSharding:
        """This dimension sharding, closed."""
        return DimensionSharding(self.axes, True, self.priority)

    def opened(self) -> DimensionSharding:
        """This dimension sharding, open."""
        return DimensionSharding(self.axes, False, self.priority)


# --- Tensor shardings -----------------------------------------------------------------------------


def _parse_axes(parser: AsmParser) -> tuple[AxisRef, ...]:
    parser.expect("{")
    try:
        axes = parser.comma_list(lambda: parse_nested(parser, AxisRef))
    except DiagnosticError as error:
        message = "failed to parse axis list which is expected to be an `ArrayRef<AxisRefAttr>`"
        raise with_error_at_next_token(parser, error, message) from None
    parser.expect("}")
    return tuple(axes)


@dialect_attribute(sdy, "sharding", "Sdy_TensorSharding")
class TensorSharding(Attribute):
    """The sharding of a tensor: dimension shardings, explicitly replicated axes and unreduced axes.

    The mesh is a reference to a `sdy.mesh`, or inlined. `reduction` combines the partial results along the
    unreduced axes; without unreduced axes it is the default. The methods pass every field to the constructor,
    because interned objects are then looked up faster.
    """

    mesh_or_ref: MeshOrRef
    dims: tuple[DimensionSharding, ...] = ()
    replicated_axes: tuple[AxisRef, ...] = ()
    unreduced_axes: tuple[AxisRef, ...] = ()
    reduction: ReductionKind = ReductionKind.SUM
    # Whether no dimension is sharded.
    is_fully_replicated: bool = derived_field()
    dialect = "sdy"

    def _mesh_or_ref_text(self) -> str:
        mesh_or_ref = self.mesh_or_ref
        if isinstance(mesh_or_ref, SymbolRef):
            return symbol_text(mesh_or_ref.root)
        return "mesh" + Mesh.assembly.text(mesh_or_ref)

    def _other_axes_text(self) -> str:
        lists = (
            ("replicated=", self.replicated_axes),
            (f"unreduced={self.reduction.prefix}", self.unreduced_axes),
        )
        return "".join([f", {words}{{{axis_refs_text(axes)}}}" for words, axes in lists if axes])

    @staticmethod
    def _parse_mesh_or_ref(parser: AsmParser) -> tuple[MeshOrRef]:
        try:
            if parser.accept("mesh"):
                message = "failed to parse MeshAttr"
                return (parse_nested(parser, Mesh),)
            message = "expecting MeshAttr or FlatSymbolRefAttr, got: <<NULL ATTRIBUTE>>"
            start = parser.skip_trivia()
            reference = parser.attribute()
            if not isinstance(reference, SymbolRef) or reference.nested:
                raise parser.error("invalid kind of attribute specified", start)
            return (reference,)
        except DiagnosticError as error:
            raise with_error_at_next_token(parser, error, message) from None

    @staticmethod
    def _parse_other_axes(
        parser: AsmParser,
    ) -> tuple[tuple[AxisRef, ...], tuple[AxisRef, ...], ReductionKind]:
        """Parses `, replicated={"x"}` and `, unreduced=max{"y"}`, each at most once and in any order."""
        lists: dict[str, tuple[AxisRef, ...]] = {"replicated": (), "unreduced": ()}
        reduction = ReductionKind.SUM
        while parser.accept(","):
            keyword = next((word for word in lists if not lists[word] and parser.accept(word)), None)
            if keyword is None:
                raise parser.error(
                    "failed to parse Sdy_TensorSharding, expected valid named axis list after comma"
                )
            try:
                has_equal_sign = parser.accept("=")
                if not has_equal_sign and not (
                    keyword == "unreduced" and Behavior.OPTIONAL_EQUAL_SIGN.active
                ):
                    parser.expect("=")
                if keyword == "unreduced" and has_equal_sign:
                    reduction = accept_reduction_kind(parser) or ReductionKind.SUM
                lists[keyword] = _parse_axes(parser)
            except DiagnosticError as error:
                message = f"failed to parse Sdy_TensorSharding parameter '{keyword}_axes'"
                raise with_error_at_next_token(parser, error, message) from None
        return lists["replicated"], lists["unreduced"], reduction

    assembly = attribute_format(
        "<",
        CustomParameters(_parse_mesh_or_ref, _mesh_or_ref_text),
        ", ",
        BracketedList("[", nested_list("dims", DimensionSharding, "dim_shardings"), "]"),
        CustomParameters(_parse_other_axes, _other_axes_text),
        ">",
        parse_plain=lambda text, offset: _parse_plain(text, offset),
    )

    def __post_init__(self) -> None:
        _set_replicated(self, not any(dim.axes for dim in self.dims))
        if self.unreduced_axes:
            _unreduced.add(self)

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def mesh_name(self) -> str | None:
        """The name of the mesh, None if it is inlined."""
        return self.mesh_or_ref.root if isinstance(self.mesh_or_ref, SymbolRef) else None

    @property
    def axis_refs(self) -> Iterator[AxisRef]:
        """The axes of the dimensions, then the replicated axes, then the unreduced axes."""
        return chain(
            (axis for dim in self.dims for axis in dim.axes), self.replicated_axes, self.unreduced_axes
        )

    @property
    def is_fully_closed(self) -> bool:
        """Whether all dimensions are closed."""
        return all(dim.is_closed for dim in self.dims)

    def is_equivalent(self, other: TensorSharding | None) -> bool:
        """Whether both shard each dimension along the same mesh axes; None counts as fully replicated.

        Since jaxlib 0.11.2, both must also be unreduced along the same axes.
        """
        if Behavior.UNREDUCED_AXES_IN_EQUIVALENCE.active and not self._has_unreduced_axes_of(other):
            return False
        return self.shards_like(other)

    def shards_like(self, other: TensorSharding | None) -> bool:
        """Whether both shard each dimension along the same mesh axes; None counts as fully replicated.

        If a dimension is sharded, an inlined mesh and a reference to an equal mesh count as different.
        """
        if self.is_fully_replicated:
            return other is None or other.is_fully_replicated
        return (
            other is not None
            and self.mesh_or_ref is other.mesh_or_ref
            and [dim.axes for dim in self.dims] == [dim.axes for dim in other.dims]
        )

    def _has_unreduced_axes_of(self, other: TensorSharding | None) -> bool:
        if other is None or not other.unreduced_axes:
            return not self.unreduced_axes
        return self.mesh_or_ref is other.mesh_or_ref and self.unreduced_axes == other.unreduced_axes

    def with_mesh(self, mesh_or_ref: MeshOrRef) -> TensorSharding:
        """This sharding with another mesh or mesh reference."""
        return TensorSharding(
            mesh_or_ref, self.dims, self.replicated_axes, self.unreduced_axes, self.reduction
        )

    def with_dims(self, dims: Iterable[DimensionSharding]) -> TensorSharding:
        """This sharding with other dimension shardings."""
        return TensorSharding(
            self.mesh_or_ref, tuple(dims), self.replicated_axes, self.unreduced_axes, self.reduction
        )

    def with_replicated_axes(self, axes: tuple[AxisRef, ...]) -> TensorSharding:
        """This sharding with other explicitly replicated axes."""
        return TensorSharding(self.mesh_or_ref, self.dims, axes, self.unreduced_axes, self.reduction)

    def with_unreduced_axes(
        self, axes: tuple[AxisRef, ...], reduction: ReductionKind | None = None
    ) -> TensorSharding:
        """This sharding with other unreduced axes, and with another reduction if one is given.

        Without unreduced axes, the reduction is the default.
        """
        kind = self.reduction if reduction is None else reduction
        return TensorSharding(
            self.mesh_or_ref, self.dims, self.replicated_axes, axes, kind if axes else ReductionKind.SUM
        )

    def closed(self) -> TensorSharding:
        """This sharding with all dimensions closed, without replicated axes, which are then redundant."""
        dims = tuple(dim.closed() for dim in self.dims)
        return TensorSharding(self.mesh_or_ref, dims, (), self.unreduced_axes, self.reduction)


# As `set_derived`, which is slower: programs have many shardings.
_set_replicated = vars(TensorSharding)["is_fully_replicated"].__set__
# All shardings with unreduced axes.
_unreduced: WeakSet[TensorSharding] = WeakSet()


def are_there_unreduced_axes() -> bool:
    """Whether any sharding has unreduced axes. In most programs, none has."""
    return len(_unreduced) > 0


# `<@mesh, [{"x"}, {?}]>`.
_PLAIN = constant_pattern(rf"<@({BARE_ID}), \[([^\[\]\n]*)\]>")
_PLAIN_DIMENSION = constant_pattern(r'(?:"([A-Za-z0-9_]+(?:", "[A-Za-z0-9_]+)*)"(, \?)?)?|(\?)')


def _parse_plain(text: str, offset: int) -> tuple[TensorSharding, int] | None:
    """The sharding at an offset, and its end; None unless it has only dimensions, of full axes."""
    match = _PLAIN.match(text, offset)
    if match is None:
        return None
    dims = list(map(_plain_dimension, match[2][1:-1].split("}, {"))) if match[2] else []
    if match[2] and (match[2][0] != "{" or match[2][-1] != "}" or None in dims):
        return None
    mesh = SymbolRef(match[1], ())
    return TensorSharding(
        mesh, tuple(cast(list[DimensionSharding], dims)), (), (), ReductionKind.SUM
    ), match.end()


@lru_cache(maxsize=4096)
def _plain_dimension(text: str) -> DimensionSharding | None:
    """The dimension sharding with this text between its braces; None if it is not plain."""
    match = _PLAIN_DIMENSION.fullmatch(text)
    if match is None:
        return None
    names = match[1].split('", "') if match[1] else []
    return DimensionSharding(tuple([AxisRef(name, None) for name in names]), not (match[2] or match[3]), None)


@dialect_attribute(sdy, "sharding_per_value", "Sdy_TensorShardingPerValue")
class ShardingPerValue(Attribute):
    """`<[<@mesh, […]>, …]>`: a sharding for each operand or result of an operation."""

    shardings: tuple[TensorSharding, ...] = ()
    dialect = "sdy"
    assembly = attribute_format("<", BracketedList("[", nested_list("shardings", TensorSharding), "]"), ">")

    def symbol_references(self) -> Sequence[SymbolRef]:
        """The meshes, each once."""
        meshes = dict.fromkeys([sharding.mesh_or_ref for sharding in self.shardings])
        return [mesh for mesh in meshes if isinstance(mesh, SymbolRef)]

    def at(self, index: int) -> TensorSharding | None:
        """The sharding of a value; None if the list is too short, which the verifier rejects."""
        return self.shardings[index] if index < len(self.shardings) else None

    def __iter__(self) -> Iterator[TensorSharding]:
        return iter(self.shardings)

    def __len__(self) -> int:
        return len(self.shardings)


def fully_replicated(rank: int, mesh_or_ref: MeshOrRef, is_closed: bool) -> TensorSharding:
    """The sharding that shards no dimension."""
    return TensorSharding(mesh_or_ref, (DimensionSharding((), is_closed),) * rank)


def sharding_text(sharding: TensorSharding) -> str:
    """`<@mesh, [{"x"}, {}], replicated={"y"}, unreduced={"z"}>`."""
    return TensorSharding.assembly.text(sharding)


_MANUAL_AXES = of_class(ManualAxes, "A list of axes that a ManualComputationOp is manual on")


class ShardingOwner(Op):
    """An operation that stores the shardings of its results and block arguments in inherent attributes."""

    def result_sharding(self, index: int) -> TensorSharding | None:
        """The sharding of a result."""
        raise NotImplementedError

    def argument_sharding(self, index: int) -> TensorSharding | None:
        """The sharding of a block argument, without the manual axes."""
        raise NotImplementedError


class AxisBinder(Op):
    """An operation whose body is manual along some axes, along which no value in the body may be sharded."""

    manual_axes = attr(_MANUAL_AXES)


def without_manual_axes(sharding: TensorSharding, manual: ManualAxes) -> TensorSharding:
    """The sharding in the body. In each dimension of a valid `sharding`, the manual axes come first."""
    if not manual:
        return sharding

    def free(axes: Iterable[AxisRef]) -> tuple[AxisRef, ...]:
        return tuple(axis for axis in axes if axis.name not in manual)

    dims = tuple(
        DimensionSharding(dim.axes[_manual_count(dim.axes, manual) :], dim.is_closed, dim.priority)
        for dim in sharding.dims
    )
    return (
        sharding.with_dims(dims)
        .with_replicated_axes(free(sharding.replicated_axes))
        .with_unreduced_axes(free(sharding.unreduced_axes))
    )


def with_manual_axes(free: TensorSharding, outside: TensorSharding, manual: ManualAxes) -> TensorSharding:
    """The sharding outside the body.

    Each dimension has the manual axes of `outside`, then the axes of `free`. The mesh is
    that of `free`; replicated and unreduced axes are those of `outside`. In an invalid sharding group, `free`
    may have another rank; as in C++, the rank is that of `outside`.
    """
    dims = tuple(
        DimensionSharding(
            outer.axes[: _manual_count(outer.axes, manual)] + dim.axes, dim.is_closed, dim.priority
        )
        for dim, outer in zip(free.dims, outside.dims, strict=False)
    )
    return outside.with_mesh(free.mesh_or_ref).with_dims(dims + outside.dims[len(dims) :])


def _manual_count(axes: tuple[AxisRef, ...], manual: ManualAxes) -> int:
    """The number of manual axes before the free axes.

    A binary search as in Shardy, so that axes in an invalid order, which may occur during a pass, give the
    same number as in Shardy.
    """
    return bisect_left(axes, True, key=lambda axis: axis.name not in manual)
