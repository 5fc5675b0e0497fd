"""Local shapes: the shape of each value on one device, by its sharding.

A dimension of size 10 sharded along "x"=4 has local size 3: shard sizes are rounded up. A value without a
sharding, or on a maximal mesh, has its global shape. In a program that is partitioned already, types are
local, and the shardings that functions still have do not apply to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from heapq import nsmallest
from math import prod

from sdyopt.analysis.figures.collective_traffic import is_partitioned as has_local_types
from sdyopt.mlir.dialects.quant import QuantizedType
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import MeshOrRef, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.dialects.stablehlo.types import TokenType
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    INDEX_WIDTH,
    ComplexType,
    FloatType,
    IndexType,
    IntegerType,
    RankedShapedType,
    TupleType,
    Type,
)
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of


class LocalShapes:
    """Local shapes and sizes of the values of one module, whose shardings must not change meanwhile.

    `has_shardings` is whether any value that was looked at has a sharding. `is_partitioned`: all types are
    local, so that no value has one.
    """

    def __init__(self, module: Op, is_partitioned: bool | None = None) -> None:
        self._module = module
        self.has_shardings = False
        self.is_partitioned = has_local_types(module) if is_partitioned is None else is_partitioned
        self._meshes: dict[MeshOrRef, Mesh | None] = {}
        self._shardings: dict[Value, TensorSharding | None] = {}
        self._bytes: dict[tuple[Type, TensorSharding | None], int | None] = {}
        self._shapes: dict[tuple[Type, TensorSharding | None], tuple[int, ...] | None] = {}
        self._rules: dict[Op, OpShardingRule | None] = {}

    def sharding(self, value: Value) -> TensorSharding | None:
        """The sharding of a value; None if it has none, its mesh is unknown, or its type is local already."""
        if self.is_partitioned:
            return None
        if value in self._shardings:
            return self._shardings[value]
        sharding = sharding_of(value) if isinstance(value, OpResult | BlockArgument) else None
        if sharding is not None and self.mesh(sharding.mesh_or_ref) is None:
            sharding = None
        if sharding is not None:
            self.has_shardings = True
        self._shardings[value] = sharding
        return sharding

    def mesh(self, mesh_or_ref: MeshOrRef) -> Mesh | None:
        """The mesh that a sharding refers to; None if the module has none of this name."""
        if mesh_or_ref not in self._meshes:
            self._meshes[mesh_or_ref] = find_mesh(mesh_or_ref, self._module)
        return self._meshes[mesh_or_ref]

    def rule(self, op: Op) -> OpShardingRule | None:
        """The sharding rule of an operation; None if it has none."""
        if op not in self._rules:
            self._rules[op] = sharding_rule_of(op)
        return self._rules[op]

    def shape(self, value: Value) -> tuple[int, ...] | None:
        """The local shape of a value; None if its type is not a ranked shaped type."""
        return self.shape_of(value.type, self.sharding(value))

    def shape_of(self, type: Type, sharding: TensorSharding | None) -> tuple[int, ...] | None:
        """The local shape of a type under a sharding; dynamic dimensions stay `DYNAMIC`."""
        key = type, sharding
        if key not in self._shapes:
            self._shapes[key] = self._local_shape(type, sharding)
        return self._shapes[key]

    def bytes(self, value: Value) -> int | None:
        """Bytes of a value on one device; None if its shape is dynamic or its type has no size."""
        return self.bytes_of(value.type, self.sharding(value))

    def bytes_of(self, type: Type, sharding: TensorSharding | None) -> int | None:
        """Bytes of a type under a sharding on one device; None if unknown."""
        key = type, sharding
        if key not in self._bytes:
            self._bytes[key] = bytes_of(type, self.shape_of(type, sharding))
        return self._bytes[key]

    def shard_count(self, sharding: TensorSharding | None) -> int:
        """The number of shards of a tensor: the product of its dimensions' sharded sizes."""
        return 1 if sharding is None else prod(self.shards(sharding))

    def shards(self, sharding: TensorSharding) -> list[int]:
        """The number of shards of each dimension."""
        mesh = self.mesh(sharding.mesh_or_ref)
        return [1 if mesh is None else dim.sharded_size(mesh) for dim in sharding.dims]

    def _local_shape(self, type: Type, sharding: TensorSharding | None) -> tuple[int, ...] | None:
        if not isinstance(type, RankedShapedType):
            return None
        mesh = None if sharding is None else self.mesh(sharding.mesh_or_ref)
        if sharding is None or mesh is None or sharding.rank != type.rank:
            return type.shape
        sizes = [dim.sharded_size(mesh) for dim in sharding.dims]
        return tuple(
            [
                size if size == DYNAMIC else -(-size // shards)
                for size, shards in zip(type.shape, sizes, strict=True)
            ]
        )


# The bytes of a value on one device, from its type and local shape.
#
# An `i1` takes one byte, other types below 8 bits are packed, a quantized type takes as much as its storage
# type, and a token takes nothing. The size of a value with a dynamic shape is unknown.


def element_bits(type: Type) -> int | None:
    """Bits of one element; None if the type has no known size."""
    if isinstance(type, IntegerType):
        return 8 if type.width == 1 else _storage_bits(type.width)
    if isinstance(type, FloatType):
        return _storage_bits(type.width)
    if isinstance(type, ComplexType):
        part = element_bits(type.element)
        return None if part is None else 2 * part
    if isinstance(type, QuantizedType):
        return element_bits(type.storage)
    return INDEX_WIDTH if isinstance(type, IndexType) else None


def _storage_bits(width: int) -> int:
    return width if width < 8 else -(-width // 8) * 8


def bytes_of(type: Type, local_shape: Sequence[int] | None = None) -> int | None:
    """Bytes of a value of this type, with `local_shape` in place of its shape if given; None if unknown."""
    if isinstance(type, TokenType):
        return 0
    if isinstance(type, TupleType):
        parts = [bytes_of(part) for part in type.types]
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None
    if not isinstance(type, RankedShapedType):
        bits = element_bits(type)
        return None if bits is None else -(-bits // 8)
    shape = type.shape if local_shape is None else local_shape
    bits = element_bits(type.element)
    if bits is None or DYNAMIC in shape:
        return None
    return -(-bits * prod(shape) // 8)


# The tiles of a TPU's memory: elements of the minor dimension, and at most of the one before it.
_LANES = 128
_SUBLANES = 8


@cache
def padded_to_tiles(size: int, shape: tuple[int, ...], minor_dims: tuple[int, int] | None = None) -> int:
    """Bytes with the two minor dimensions padded to whole tiles, which a compiler chooses so that few are.

    A dimension of 4 before the minor one takes tiles of 4, one of 3 as well. `minor_dims` are the minor
    dimension and the one before it, if they are known.
    """
    if len(shape) < 2 or not size:
        return size
    pairs = _tilings(shape) if minor_dims is None else [minor_dims]
    return int(size * min(_columns(shape[lane]) * _rows(shape[sublane]) for lane, sublane in pairs))


def _tilings(shape: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Each minor dimension, from the last on, with the one before it that is padded least."""
    rows = {size: _rows(size) for size in set(shape)}
    least = nsmallest(2, reversed(range(len(shape))), key=lambda dim: rows[shape[dim]])
    for lane in reversed(range(len(shape))):
        yield lane, least[lane == least[0]]


@cache
def _columns(minor: int) -> Fraction:
    """The columns of whole tiles for each of a minor dimension."""
    return Fraction(-(-minor // _LANES) * _LANES, minor)


@cache
def _rows(major: int) -> Fraction:
    """The rows of whole tiles for each of the dimension before the minor one."""
    tile = _height(major)
    return Fraction(-(-major // tile) * tile, major)


def _height(major: int) -> int:
    return min(_SUBLANES, 1 << (major - 1).bit_length())


@cache
def elements_of_tiles(shape: tuple[int, ...], is_narrow: bool = False) -> int:
    """The elements that fill as many vector registers as a tensor takes: one for a tile of any height.

    The minor dimensions are those as they are, unless others take less memory. Tiles of few rows with
    `is_narrow` elements, of 16 bits or less, take two thirds of the time of others.
    """
    sizes = [size for size in shape if size > 1]
    if len(sizes) < 2:
        return -(-prod(sizes) // (_LANES * _SUBLANES)) * _LANES * _SUBLANES
    minor, major = _minor_sizes(sizes)
    tiles = -(-minor // _LANES) * -(-major // _height(major)) * (prod(sizes) // (minor * major))
    return tiles * _LANES * _SUBLANES * (2 if is_narrow and _height(major) < _SUBLANES else 3) // 3


def _minor_sizes(sizes: Sequence[int]) -> tuple[int, int]:
    lane, sublane = min(_tilings(sizes), key=lambda pair: _columns(sizes[pair[0]]) * _rows(sizes[pair[1]]))
    return sizes[lane], sizes[sublane]
