"""Reads a sharding in any notation, such as that of the mesh dialect, whose axes are numbers.

The notation is recognized by the start of the text. Errors are located in the text. The mesh dialect writes

#mesh.shard<@mesh, [[0], [1, 2]], partial = sum[3]>                       LLVM 19
mesh.sharding @mesh split_axes = [[0], [1, 2]] partial = sum [3] : !mesh.sharding    LLVM 21
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from sdyopt.base.dataclasses import NamedTuple, dataclass
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.lexical import symbol_text
from sdyopt.mlir.dialects.mesh.attributes import Axes, MeshSharding, axes_lists_text
from sdyopt.mlir.dialects.mesh.attributes import ReductionKind as PartialKind
from sdyopt.mlir.dialects.mesh.attributes import sharding_text as mesh_sharding_text
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_ref_text, mesh_order
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, MeshOrRef, TensorSharding, sharding_text
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.shardy.notation.device_tiling import (
    DeviceTiling,
    Maximal,
    Tiling,
    Uniform,
    digits_of,
    order_of_digits,
    uniform_tiling,
)
from sdyopt.shardy.notation.gspmd import (
    OPENING,
    UniformOnMesh,
    gspmd_text,
    named_sharding_text,
    parse_gspmd,
    parse_named_sharding,
)
from sdyopt.shardy.notation.mesh_text import Shape, TextParser, check_sdy, error_at_range, parse_sdy
from sdyopt.shardy.notation.partition_spec import parse_partition_spec, partition_spec_text
from sdyopt.shardy.notation.sharding_on_mesh import (
    MAX_LISTED,
    NotExpressible,
    ShardingOnMesh,
    sharding_on,
    sharding_on_new_mesh,
    sorted_replicas,
    tiling_of,
)

_HELP = "such as <@mesh, [[0], [1]]> or mesh.sharding @mesh split_axes = [[0], [1]]"
_AXIS_RANGES = {0: "no axes", 1: "one axis, 0"}
_UNSUPPORTED = re.compile("halo_sizes|sharded_dims_offsets")

# --- Text -----------------------------------------------------------------------------------------


def mesh_dialect_text(on_mesh: ShardingOnMesh, mesh_version: int = 19) -> str:
    """The text of a sharding in the mesh dialect of an LLVM release. Raises NotExpressible."""
    sharding, mesh = on_mesh.sharding, on_mesh.mesh
    if not mesh.axes:
        raise NotExpressible("its mesh has no axes")
    if mesh.device_ids:
        raise NotExpressible("the mesh dialect has no device_ids")
    if on_mesh.manual_axes:
        raise NotExpressible("the mesh dialect has no manual axes")
    split = tuple([_numbers(dim.axes, mesh) for dim in sharding.dims])
    partial_axes = _numbers(sharding.unreduced_axes, mesh)
    symbol = sharding.mesh_or_ref if isinstance(sharding.mesh_or_ref, SymbolRef) else SymbolRef("mesh")
    if mesh_version < 21:
        kind = PartialKind(str(sharding.reduction))
        return "#mesh.shard" + mesh_sharding_text(MeshSharding(symbol, split, partial_axes, kind))
    lists = axes_lists_text(split or ((),))
    partial_text = ""
    if partial_axes:
        partial_text = f" partial = {sharding.reduction} [{', '.join(map(str, partial_axes))}]"
    return f"mesh.sharding {symbol_text(symbol.root)} split_axes = {lists}{partial_text} : !mesh.sharding"


def _numbers(axes: tuple[AxisRef, ...], mesh: Mesh) -> Axes:
    for axis in axes:
        if axis.sub_axis is not None:
            raise NotExpressible(
                f"{axis_ref_text(axis)} is a sub-axis, and the mesh dialect has full axes only"
            )
    return tuple([mesh.axis_position(axis.name) for axis in axes])


# --- Parsing --------------------------------------------------------------------------------------


def parse_mesh_dialect(
    source: Source, mesh: Mesh, mesh_or_ref: MeshOrRef, rank: int | None
) -> TensorSharding:
    """Parses a sharding of the mesh dialect, in the syntax of either release.

    Dimensions up to `rank` that the text leaves out are not sharded. Raises DiagnosticError.
    """
    parser = _MeshDialectParser(source, mesh)
    split, partial_axes, reduction = parser.parse()
    text = TextParser(source, len(source.text.rstrip()))
    if rank is not None and len(split) > rank and any(split[rank:]):
        message = f"the sharding has {len(split)} dimensions, but the tensor has {rank}"
        raise text.error_since(0, message, "remove the lists of dimensions that the tensor does not have")
    length = len(split) if rank is None else rank
    dims = [DimensionSharding(split[at] if at < len(split) else ()) for at in range(length)]
    return TensorSharding(mesh_or_ref, tuple(dims), (), partial_axes, reduction)


class _MeshDialectParser(TextParser):
    def __init__(self, source: Source, mesh: Mesh) -> None:
        super().__init__(source)
        self._mesh = mesh
        self._used: set[str] = set()

    def parse(self) -> tuple[list[tuple[AxisRef, ...]], tuple[AxisRef, ...], ReductionKind]:
        """The axes of each dimension, the partial axes, and the reduction along them."""
        is_attribute = self.accept("#mesh.shard") or self.looking_at("<")
        if is_attribute:
            self.expect("<", _HELP)
        else:
            self.accept("mesh.sharding")
        self.expect("@", _HELP)
        self.accept_name()
        if is_attribute:
            self.expect(",", _HELP)
        else:
            self.expect("split_axes", _HELP)
            self.expect("=")
        self.expect("[", _HELP)
        split = self.items(self._axes, "]")
        partial_axes: tuple[AxisRef, ...] = ()
        reduction = ReductionKind.SUM
        if self.accept(",") if is_attribute else self.looking_at("partial"):
            reduction, partial_axes = self._partial_axes()
        self._refuse_unsupported()
        if is_attribute:
            self.expect(">")
        elif self.accept(":"):
            self.expect("!mesh.sharding")
        self.finish("remove it")
        return split, partial_axes, reduction if partial_axes else ReductionKind.SUM

    def _axes(self) -> tuple[AxisRef, ...]:
        self.expect("[", "write a list of axis numbers for each dimension, such as [[0], []]")
        return tuple(self.items(self._axis, "]"))

    def _partial_axes(self) -> tuple[ReductionKind, tuple[AxisRef, ...]]:
        self.expect("partial")
        self.expect("=")
        kind = next((kind for kind in ReductionKind if self.accept(str(kind))), None)
        if kind is None:
            raise self.error(
                "expected 'sum', 'max' or 'min'", "sdy has no other reductions along unreduced axes"
            )
        return kind, tuple(sorted(self._axes(), key=partial(mesh_order, mesh=self._mesh)))

    def _axis(self) -> AxisRef:
        start = self.skip_space()
        number = self.number("the number of an axis")
        count = len(self._mesh.axes)
        if number >= count:
            help = f"the mesh has {_AXIS_RANGES.get(count) or f'the axes 0 to {count - 1}'}"
            raise self.error_since(start, f"axis {number} is not in the mesh", help)
        name = self._mesh.axes[number].name
        if name in self._used:
            raise self.error_since(start, f"axis {number} is used twice", "use each axis once")
        self._used.add(name)
        return AxisRef(name)

    def _refuse_unsupported(self) -> None:
        match = _UNSUPPORTED.match(self.source.text, self.skip_space())
        if match is not None:
            self.position = match.end()
            raise self.error_since(
                match.start(), f"{match[0]} is not supported here", "remove it; all other notations lack it"
            )


# The name of an attribute, which users may copy together with its value.
_ATTRIBUTE = re.compile(r"\s*(?:(?:sdy|mhlo)\.)?sharding\s*=\s*")
_VALUE = re.compile(r"\s*[@%](?!\w+\s+split_axes)")
# `params['w']`, `state.params['w'][0]`, `tokens`.
_PYTHON_NAME = re.compile(r"\s*[A-Za-z_]\w*(?P<accessors>(?:\[[^\[\]]*\]|\.\w+)*)\s*\Z")
_MESH_NAME = re.compile(r"[^@]*@\"?(\w+)")


@dataclass(frozen=True)
class MeshAndShape:
    """The context of a sharding's text: its mesh and the shape of the tensor. Both may be unknown."""

    mesh: Mesh | None
    shape: Shape | None


def names_a_value(text: str, has_program: bool) -> bool:
    """Whether a text names a value of a program instead of a sharding.

    A word such as `tokens` does so only if there is a program to look it up in.
    """
    if any(pattern.match(text) for pattern, _ in _NOTATIONS):
        return _VALUE.match(text) is not None
    name = _PYTHON_NAME.match(text)
    return _VALUE.match(text) is not None or (name is not None and (has_program or bool(name["accessors"])))


def mesh_name(text: str) -> str | None:
    """The name of the mesh that a text refers to; None if it refers to none."""
    match = _MESH_NAME.match(text)
    return None if match is None else match[1]


def read_sharding(source: Source, context: MeshAndShape) -> ShardingView:
    """Reads a sharding in any notation. Raises DiagnosticError."""
    source = _without_attribute(source)
    for pattern, read in _NOTATIONS:
        if pattern.match(source.text):
            return read(source, context)
    text = source.text
    error = error_at_range(
        source, len(text) - len(text.lstrip()), len(text.rstrip()), "unknown notation of a sharding"
    )
    raise error.help(
        "write <@mesh, [{\"x\"}, {}]>, {devices=[2,1]<=[2]}, PartitionSpec('x', None), <@mesh, [[0], []]>, "
        "or a value of the program: @main %arg0 or params['w']"
    )


def _without_attribute(source: Source) -> Source:
    """The source of the sharding alone, without the name of its attribute and quotes around it."""
    match = _ATTRIBUTE.match(source.text)
    start = 0 if match is None else match.end()
    end = len(source.text.rstrip())
    if end - start > 1 and source.text[start] == source.text[end - 1] == '"':
        start, end = start + 1, end - 1
    return source.chunk(start, end)


def _mesh(source: Source, context: MeshAndShape) -> Mesh:
    if context.mesh is not None:
        return context.mesh
    text = source.text
    error = error_at_range(source, 0, len(text), "the mesh of this sharding is unknown")
    raise error.help("""give it with --mesh='"x"=4, "y"=2', or a program that has it""")


def _read_sdy(source: Source, context: MeshAndShape) -> ShardingView:
    sharding = parse_sdy(source)
    inlined = sharding.mesh_or_ref
    on_mesh = ShardingOnMesh(sharding, inlined if isinstance(inlined, Mesh) else _mesh(source, context))
    check_sdy(source, on_mesh, context.shape)
    return view_of_sharding(on_mesh, context.shape)


def _read_gspmd(source: Source, context: MeshAndShape) -> ShardingView:
    tiling = parse_gspmd(source)
    if isinstance(tiling, DeviceTiling):
        rank = len(tiling.tiles)
        if context.shape is not None and len(context.shape) != rank:
            message = f"the sharding has rank {rank}, but the tensor has rank {len(context.shape)}"
            raise error_at_range(source, 0, len(source.text), message)
    return view_of_tiling(tiling, context.mesh, context.shape)


def _read_named(source: Source, context: MeshAndShape) -> ShardingView:
    parsed = parse_named_sharding(source, DEFAULT_MESH)
    shape = context.shape
    if isinstance(parsed, UniformOnMesh):
        if shape is None and parsed.kind is not ReductionKind.SUM:
            error = error_at_range(source, 0, len(source.text), "the rank of this sharding is unknown")
            raise error.help("give the shape with --shape")
        if shape is None or parsed.mesh.is_empty:
            return view_of_tiling(Uniform(parsed.sharing), parsed.mesh, shape)
        parsed = parsed.of_rank(len(shape), DEFAULT_MESH)
    if isinstance(parsed, Maximal):
        return view_of_tiling(parsed, None, shape)
    check_sdy(source, parsed, shape)
    return view_of_sharding(parsed, shape)


_AxesParser = Callable[[Source, Mesh, SymbolRef, int | None], TensorSharding]


def _read_axes(parse: _AxesParser) -> Callable[[Source, MeshAndShape], ShardingView]:
    """A reader of a notation with a list of axes for each dimension, which `parse` parses."""

    def read(source: Source, context: MeshAndShape) -> ShardingView:
        mesh = _mesh(source, context)
        rank = None if context.shape is None else len(context.shape)
        name = mesh_name(source.text)
        reference = DEFAULT_MESH if name is None else SymbolRef(name)
        return view_of_sharding(ShardingOnMesh(parse(source, mesh, reference, rank), mesh), context.shape)

    return read


_NOTATIONS: tuple[tuple[re.Pattern[str], Callable[[Source, MeshAndShape], ShardingView]], ...] = (
    (OPENING, _read_named),
    (re.compile(r"\s*\{"), _read_gspmd),
    (re.compile(r"\s*(?:jax\.)?(?:sharding\.)?(?:PartitionSpec|P)\s*\("), _read_axes(parse_partition_spec)),
    (re.compile(r"\s*(?:#mesh\.shard\b|mesh\.sharding\b|@\w+\s+split_axes)"), _read_axes(parse_mesh_dialect)),
    (re.compile(r"\s*<\s*@[^,]*,\s*\[\s*\["), _read_axes(parse_mesh_dialect)),
    (re.compile(r"\s*(?:#sdy\.sharding|<)"), _read_sdy),
)

# The mesh that a sharding refers to if its notation does not name one.
DEFAULT_MESH = SymbolRef("mesh")


@dataclass(frozen=True)
class ShardingView:
    """A sharding to be shown. `on_mesh` is its sdy form; None if it has none, and `problem` says why."""

    shape: Shape | None
    tiling: Tiling
    on_mesh: ShardingOnMesh | None
    problem: str = ""

    @property
    def reduction(self) -> ReductionKind:
        """The combination of partial results along unreduced axes."""
        return ReductionKind.SUM if self.on_mesh is None else self.on_mesh.sharding.reduction

    @property
    def device_tiling(self) -> DeviceTiling | None:
        """The devices of each shard; None for a single device, or if the devices are unknown."""
        if isinstance(self.tiling, DeviceTiling):
            return self.tiling
        mesh = None if self.on_mesh is None else self.on_mesh.mesh
        if isinstance(self.tiling, Uniform) and mesh is not None and not mesh.is_empty:
            rank = len(self.shape or ())
            return uniform_tiling(self.tiling.sharing, mesh.total_size, rank, mesh.device_ids)
        return None

    def form(self, notation: str, write: Callable[[ShardingOnMesh], str]) -> Form:
        if self.on_mesh is None:
            return Form(notation, problem=self.problem)
        try:
            return Form(notation, write(self.on_mesh))
        except NotExpressible as reason:
            return Form(notation, problem=str(reason))


def view_of_sharding(on_mesh: ShardingOnMesh, shape: Shape | None) -> ShardingView:
    """The view of a sharding of the sdy dialect; without a shape, the sizes of dimensions are unknown."""
    if shape is None:
        shape = (None,) * on_mesh.sharding.rank
    return ShardingView(shape, tiling_of(on_mesh), on_mesh)


def view_of_tiling(tiling: Tiling, mesh: Mesh | None, shape: Shape | None) -> ShardingView:
    """The view of a tiling on a mesh; without one, on a mesh made for it."""
    if shape is None and isinstance(tiling, DeviceTiling):
        shape = (None,) * len(tiling.tiles)
    try:
        if shape is None and not isinstance(tiling, Maximal):
            raise NotExpressible("the rank is unknown; give the shape with --shape")
        rank = len(shape or ())
        if mesh is not None and not isinstance(tiling, Maximal):
            return ShardingView(shape, tiling, sharding_on(tiling, mesh, DEFAULT_MESH, rank))
        made = sharding_on_new_mesh(tiling, rank)
        sharding = made.sharding.with_mesh(DEFAULT_MESH)
        return ShardingView(shape, tiling, ShardingOnMesh(sharding, made.mesh, made.manual_axes))
    except NotExpressible as reason:
        return ShardingView(shape, tiling, None, str(reason))


# --- Notations ------------------------------------------------------------------------------------


class Form(NamedTuple):
    """The text of a sharding in a notation or, if it has none, the reason why."""

    notation: str
    text: str = ""
    problem: str = ""


def forms(view: ShardingView, mesh_version: int = 19, max_devices: int | None = None) -> Iterator[Form]:
    """The sharding in each notation, with at most `max_devices` devices of a list; None shows all."""
    writers: dict[str, Callable[[ShardingOnMesh], str]] = {
        "sdy": lambda on_mesh: "#sdy.sharding" + sharding_text(on_mesh.sharding),
        "HLO V3": lambda on_mesh: named_sharding_text(on_mesh, max_devices),
        "PartitionSpec": partition_spec_text,
        "mesh dialect": lambda on_mesh: mesh_dialect_text(on_mesh, mesh_version),
    }
    yield view.form("sdy", writers["sdy"])
    yield view.form("HLO V3", writers["HLO V3"])
    if view.reduction is ReductionKind.SUM:
        yield from _gspmd_forms(view.tiling, max_devices)
    else:
        yield Form("GSPMD V2", problem=f"partial results are combined by {view.reduction}, not summed")
    for notation in ("PartitionSpec", "mesh dialect"):
        yield view.form(notation, writers[notation])


def _gspmd_forms(tiling: Tiling, max_devices: int | None) -> Iterator[Form]:
    """GSPMD V2 and, for a list of devices, also V1, in which XLA prints such a sharding."""
    text = gspmd_text(tiling, max_devices)
    if "<=" in text or not text.startswith("{devices"):
        yield Form("GSPMD V2", text)
        return
    assert isinstance(tiling, DeviceTiling)
    iota = as_iota(tiling)
    if iota is None:
        yield Form("GSPMD V2", problem="its order of devices is not one of reshaping and transposing iota")
    else:
        yield Form("GSPMD V2", gspmd_text(iota))
    yield Form("GSPMD V1", text)


def as_iota(tiling: DeviceTiling) -> DeviceTiling | None:
    """The same tiling with an iota order instead of a list; None if there is none or the list is too long."""
    if tiling.order.is_iota or tiling.device_count > MAX_LISTED:
        return tiling if tiling.order.is_iota else None
    digits = digits_of(sorted_replicas(tiling, tiling.order.ids))
    order = None if digits is None else order_of_digits(digits)
    return None if order is None else DeviceTiling(tiling.tiles, tiling.subgroups, order)
