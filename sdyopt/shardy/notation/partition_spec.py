"""PartitionSpec, as JAX programs write it.

    PartitionSpec('x', ('y', 'z'), None)    a name, names or None for each dimension
    P('x', P.UNCONSTRAINED)                 the second dimension is open
    P('x', unreduced={'y'})                 partial results along 'y', which are summed
    P(unreduced={'y'}, unreduced_kind=UnreducedKind.max)

A PartitionSpec has no sub-axes and no priorities, and an open dimension of it has no axes.
"""

from __future__ import annotations

from functools import partial

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_ref_text, mesh_order
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, MeshOrRef, TensorSharding
from sdyopt.shardy.notation.mesh_text import TextParser
from sdyopt.shardy.notation.sharding_on_mesh import NotExpressible, ShardingOnMesh

_HELP = "such as PartitionSpec('x', ('y', 'z'), None)"
_OPEN = ("PartitionSpec.UNCONSTRAINED", "P.UNCONSTRAINED", "UNCONSTRAINED")
_CLASSES = ("jax.sharding.PartitionSpec", "jax.P", "PartitionSpec", "P")
_KIND_PREFIXES = ("", "UnreducedKind.", "jax.sharding.UnreducedKind.")

# `[{"x", "y"}, {}]`.
_DIMS = constant_pattern(r"\[((?:\{[^{}]*\}(?:, )?)*)\]")
_DIM = constant_pattern(r"\{([^{}]*)\}")
# `P` has no open dimension with axes, and no priorities.
_IS_PLAIN = constant_pattern(r"none|absent|\[(?:\{(?:\?|[^{}?]*)\}(?:, )?)*\]")
_SHAPE = constant_pattern(r"tensor<((?:[0-9?]+x)*+)([^<>]+)>")

# --- Text -----------------------------------------------------------------------------------------


def partition_spec_text(on_mesh: ShardingOnMesh) -> str:
    """The PartitionSpec of a sharding, with an entry for each dimension. Raises NotExpressible."""
    entries, keywords = _parts(on_mesh)
    return f"PartitionSpec({', '.join([*entries, *keywords])})"


def annotation_spec(on_mesh: ShardingOnMesh) -> str:
    """`P('x')`: the PartitionSpec of a sharding as short as JAX accepts it. Raises NotExpressible."""
    entries, keywords = _parts(on_mesh)
    return _short_text([entry.replace("PartitionSpec.", "P.") for entry in entries], keywords)


def _parts(on_mesh: ShardingOnMesh) -> tuple[list[str], list[str]]:
    """The entries of a PartitionSpec, and its keyword arguments."""
    sharding = on_mesh.sharding
    if on_mesh.mesh.is_maximal:
        raise NotExpressible("a single device without axes is a SingleDeviceSharding in JAX")
    for axis in sharding.axis_refs:
        if axis.sub_axis is not None:
            raise NotExpressible(
                f"{axis_ref_text(axis)} is a sub-axis, and a PartitionSpec has full axes only"
            )
    entries = [_dimension_text(index, dim) for index, dim in enumerate(sharding.dims)]
    if sharding.replicated_axes and not sharding.is_fully_closed:
        raise NotExpressible(
            f"axis {axis_ref_text(sharding.replicated_axes[0])} must not shard the open dimensions"
        )
    keywords = _unreduced(sharding)
    if sharding.reduction is not ReductionKind.SUM:
        keywords.append(f"unreduced_kind=UnreducedKind.{sharding.reduction}")
    return entries, keywords


def _unreduced(sharding: TensorSharding) -> list[str]:
    axes = [repr(axis.name) for axis in sharding.unreduced_axes]
    return [f"unreduced={{{', '.join(axes)}}}"] if axes else []


def short_spec(sharding: TensorSharding, is_annotation: bool = False) -> str:
    """`P('x')`: the axes that shard each dimension; "" for sub-axes, which a PartitionSpec cannot have.

    It is what the sharding is at present: dimensions that are open look like others. In an annotation, an
    open dimension without axes is `P.UNCONSTRAINED`.
    """
    if any(axis.sub_axis is not None for axis in sharding.axis_refs):
        return ""
    parts = []
    for dim in sharding.dims:
        names = tuple([axis.name for axis in dim.axes])
        if is_annotation and not dim.is_closed and not names:
            parts.append("P.UNCONSTRAINED")
        else:
            parts.append(repr(names if len(names) > 1 else names[0]) if names else "None")
    return _short_text(parts, _unreduced(sharding))


def _short_text(entries: list[str], keywords: list[str]) -> str:
    """`P('x')`: the dimensions at the end that are not sharded are left out, as JAX allows it."""
    while entries and entries[-1] == "None":
        entries = entries[:-1]
    return f"P({', '.join([*entries, *keywords])})"


def specs_of(text: str) -> str:
    """A text with `P('x')` for `[{"x"}, {}]`; a sub-axis, which JAX has no word for, is `'x':(1)2`."""

    def entry(dim: str) -> str:
        names = [axis.replace('"', "'") for axis in dim.split(", ") if axis and axis != "?"]
        if not names:
            return "P.UNCONSTRAINED" if dim == "?" else "None"
        return names[0] if len(names) == 1 else f"({', '.join(names)})"

    return _DIMS.sub(lambda dims: _short_text([entry(dim) for dim in _DIM.findall(dims[1])], []), text)


def specs_or_dims(old: str, new: str) -> tuple[str, str]:
    """Two shardings as `specs_of` writes them; as they are, if that is the same or does not say all."""
    specs = specs_of(old), specs_of(new)
    says_all = _IS_PLAIN.fullmatch(old) and _IS_PLAIN.fullmatch(new)
    return specs if says_all and specs[0] != specs[1] else (old, new)


def jax_type(text: str) -> str:
    """`f32[16,32]` for `tensor<16x32xf32>`, as JAX writes types; any other type as it is."""
    match = _SHAPE.fullmatch(text)
    if match is None:
        return text
    element = match[2].replace("ui", "u") if match[2].startswith("ui") else match[2]
    return f"{'bool' if element == 'i1' else element}[{match[1].rstrip('x').replace('x', ',')}]"


def _dimension_text(index: int, dim: DimensionSharding) -> str:
    if dim.priority:
        raise NotExpressible(f"dimension {index} has priority {dim.priority}")
    if not dim.is_closed:
        if dim.axes:
            raise NotExpressible(f"dimension {index} is sharded and open; an UNCONSTRAINED one has no axes")
        return "PartitionSpec.UNCONSTRAINED"
    if not dim.axes:
        return "None"
    names = [repr(axis.name) for axis in dim.axes]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


# --- Parsing --------------------------------------------------------------------------------------


def parse_partition_spec(
    source: Source, mesh: Mesh, mesh_or_ref: MeshOrRef, rank: int | None
) -> TensorSharding:
    """Parses a PartitionSpec. Dimensions up to `rank` that it leaves out are not sharded.

    Raises DiagnosticError.
    """
    return _SpecParser(source, mesh).sharding(mesh_or_ref, rank)


class _SpecParser:
    def __init__(self, source: Source, mesh: Mesh) -> None:
        self._parser = TextParser(source)
        self._mesh = mesh
        self._used: set[str] = set()
        self._sets: dict[str, list[AxisRef]] = {}
        self._kind: ReductionKind | None = None

    def sharding(self, mesh_or_ref: MeshOrRef, rank: int | None) -> TensorSharding:
        parser = self._parser
        next(filter(parser.accept, _CLASSES), None)
        parser.expect("(", _HELP)
        dims = [dim for dim in parser.items(self._argument, ")", _HELP) if dim is not None]
        parser.finish("remove it")
        if rank is not None and len(dims) > rank:
            message = f"the PartitionSpec has {len(dims)} dimensions, but the tensor has {rank}"
            parser.position = len(parser.source.text.rstrip())
            raise parser.error_since(0, message, "remove the dimensions that the tensor does not have")
        missing = max(0, (rank or 0) - len(dims))
        unreduced = sorted(self._sets.get("unreduced", []), key=partial(mesh_order, mesh=self._mesh))
        all_dims = (*dims, *[DimensionSharding()] * missing)
        kind = self._kind if unreduced and self._kind is not None else ReductionKind.SUM
        return TensorSharding(mesh_or_ref, all_dims, (), tuple(unreduced), kind)

    def _argument(self) -> DimensionSharding | None:
        """Parses the entry of a dimension, or a keyword argument."""
        parser = self._parser
        if parser.accept("unreduced_kind"):
            parser.expect("=")
            self._kind = self._reduction_kind()
            return None
        for keyword in ("unreduced", "reduced"):
            if parser.accept(keyword):
                parser.expect("=")
                parser.expect("{")
                # A value is replicated along reduced axes; only its gradient is unreduced along them.
                self._sets[keyword] = parser.items(self._axis, "}")
                return None
        if self._sets or self._kind is not None:
            raise parser.error("expected ')' after unreduced and reduced axes")
        if parser.accept("None"):
            return DimensionSharding()
        if next(filter(parser.accept, _OPEN), None):
            return DimensionSharding((), False)
        if parser.accept("("):
            return DimensionSharding(tuple(parser.items(self._axis, ")")))
        return DimensionSharding((self._axis(),))

    def _reduction_kind(self) -> ReductionKind:
        """Parses `UnreducedKind.max`, or `max` as JAX prints it."""
        parser = self._parser
        for kind in ReductionKind:
            if any(parser.accept(prefix + str(kind)) for prefix in _KIND_PREFIXES):
                return kind
        raise parser.error(
            f"expected one of {', '.join(map(str, ReductionKind))}", "such as UnreducedKind.max"
        )

    def _axis(self) -> AxisRef:
        parser = self._parser
        start = parser.skip_space()
        name = parser.accept_string()
        if name is None:
            raise self._not_an_axis()
        if not self._mesh.has_axis(name):
            names = ", ".join([repr(axis.name) for axis in self._mesh.axes])
            help = f"the mesh has {names}" if names else "the mesh has no axes"
            raise parser.error_since(start, f"unknown axis name: '{name}'", help)
        if name in self._used:
            raise parser.error_since(start, f"axis '{name}' is used twice", "use each axis once")
        self._used.add(name)
        return AxisRef(name)

    def _not_an_axis(self) -> DiagnosticError:
        parser = self._parser
        start = parser.skip_space()
        name = parser.accept_name()
        if name is None:
            return parser.error("expected an axis name in quotes, names in parentheses, or None", _HELP)
        help = f"write '{name}'" if self._mesh.has_axis(name) else _HELP
        return parser.error_since(start, "expected an axis name in quotes", help)
