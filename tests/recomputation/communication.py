"""Bytes of sdy's collectives, read off the printed program with regular expressions.

Only the text is used: the type at the end of the operation, its `out_sharding`, and the sharding of its
operand in the line that defines it. A name may be defined again in another region, so the last definition
above a use is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

BITS = {"i1": 8, "index": 64, "bf16": 16, "tf32": 32}
MESH = re.compile(r"sdy\.mesh @(\S+) = <\[(.*?)\](?:, device_ids=\[(.*?)\])?>")
AXIS_SIZE = re.compile(r'"([^"]+)"=(\d+)')
AXIS = re.compile(r'"([^"]+)"(?::\((\d+)\)(\d+))?')
SHARDING = re.compile(
    r"<(@\w+|mesh<\[[^\]]*\](?:, device_ids=\[[^\]]*\])?>), \[((?:\{[^{}]*\}(?:p\d+)?(?:, )?)*)\]"
)
KINDS = (
    "all_gather|all_reduce|all_slice|all_to_all|collective_permute|reduce_scatter|sharded_to_unreduced"
    "|replicated_to_unreduced"
)
COLLECTIVE = re.compile(
    rf"^\s*(%[\w$.-]+) = sdy\.({KINDS}) (.*?)(%[\w$.-]+(?:#\d+)?) out_sharding=(<.*?>) .*?: (\S+)"
)
RESULTS = re.compile(r"^\s*(%[\w$.-]+)(?::(\d+))? = ")
ARGUMENT = re.compile(r"(%[\w$.-]+): (?:tensor|!)[^{,) ]*(?: \{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\})?")
LOOP_ARGUMENT = re.compile(r"(%iterArg[\w]*) = (%[\w$.-]+(?:#\d+)?)")

Axis = tuple[str, int, int]  # name, pre-size, size
Dims = list[list[Axis]]


@dataclass(frozen=True)
class Mesh:
    """Axis sizes in order, and the device at each position."""

    sizes: dict[str, int]
    devices: tuple[int, ...]


@dataclass(frozen=True)
class RecomputedCollective:
    """One collective: kind, bytes in and out and on the wire for one device, mesh axes and group size.

    The axes are names of mesh axes in alphabetical order, each once; None if the groups are along no axes.
    """

    kind: str
    bytes_in: int
    bytes_out: int
    wire_bytes: Fraction
    value: str
    axes: tuple[str, ...] | None
    group_size: int | None


def recompute(text: str) -> Iterator[RecomputedCollective]:
    """The figures of the sdy collectives of a printed program, in order."""
    meshes = {name: mesh_of(axes, ids) for name, axes, ids in MESH.findall(text)}
    shardings: dict[str, str] = {}
    # The lines whose region is open: attributes of their results may follow its end.
    opened: list[str] = []
    for line in text.split("\n"):
        match = COLLECTIVE.match(line)
        if match is not None:
            yield _collective(match, shardings, meshes)
        before = opened.pop() if line.lstrip().startswith("}") and opened else ""
        if before and "sdy.sharding = " in line:
            _define(before.partition(" = ")[0] + " = " + line[line.index("sdy.sharding = ") :], shardings)
        else:
            _define(line, shardings)
        if line.endswith("{"):
            opened.append(before if line.lstrip().startswith("}") else line)


def mesh_of(axes: str, ids: str) -> Mesh:
    sizes = {name: int(size) for name, size in AXIS_SIZE.findall(axes)}
    listed = tuple(int(number) for number in ids.split(",")) if ids else tuple(range(prod(sizes.values())))
    return Mesh(sizes, listed)


def _define(line: str, shardings: dict[str, str]) -> None:
    """Records the shardings of the values that a line defines; empty for a value without one."""
    if "sdy.manual_computation" in line:
        _define_manual_arguments(line, shardings)
    elif "func.func" in line or "sdy.named_computation" in line:
        for name, attributes in ARGUMENT.findall(line):
            shardings[name] = next(iter(_shardings(attributes or "")), "")
    results = RESULTS.match(line)
    found = _shardings(_own_attributes(line)) if results is not None else []
    if "stablehlo.while" in line:
        for number, (name, _) in enumerate(LOOP_ARGUMENT.findall(line)):
            shardings[name] = found[number] if number < len(found) else ""
    if results is not None:
        count = int(results[2] or 1)
        for number in range(count):
            name = results[1] if results[2] is None else f"{results[1]}#{number}"
            shardings[name] = found[number] if number < len(found) else ""


def _define_manual_arguments(line: str, shardings: dict[str, str]) -> None:
    """Arguments have the `in_shardings` without the manual axes, along which types are local already."""
    before, _, after = line.partition("manual_axes=")
    axes, _, arguments = after.partition("}")
    outside = _shardings(before[before.index("in_shardings=") : before.index("out_shardings=")])
    for (name, _), sharding in zip(ARGUMENT.findall(arguments), outside, strict=False):
        for axis in re.findall(r'"[^"]+"', axes):
            sharding = re.sub(rf"{axis}(:\(\d+\)\d+)?(, )?", "", sharding)
        shardings[name] = sharding


def _own_attributes(line: str) -> str:
    """The line from the shardings of its results on; empty if it has none."""
    for opening in ("out_sharding=", "out_shardings=", "sdy.reshard ", "sdy.sharding_constraint "):
        if opening in line:
            return line[line.index(opening) :]
    start = line.find("sdy.sharding = ")
    return line[start:] if start >= 0 else ""


def _shardings(text: str) -> list[str]:
    return [match[0] for match in SHARDING.finditer(text)]


def _parsed(sharding: str, rank: int, meshes: dict[str, Mesh]) -> tuple[Mesh | None, Dims]:
    match = SHARDING.match(sharding)
    if match is None:
        return None, [[] for _ in range(rank)]
    if match[1].startswith("@"):
        mesh = meshes[match[1][1:]]
    else:
        axes, _, ids = match[1][len("mesh<[") : -1].partition("]")
        mesh = mesh_of(axes, ids.partition("[")[2].partition("]")[0])
    dims = [
        [(name, int(pre or 1), int(size or mesh.sizes[name])) for name, pre, size in AXIS.findall(dim)]
        for dim in re.findall(r"\{([^{}]*)\}", match[2])
    ]
    return mesh, dims


def _bytes(type: str, dims: Dims) -> int:
    sizes = _sizes(type)
    element = type.removeprefix("tensor<").removesuffix(">").split("x", len(sizes))[-1]
    local = [-(-size // prod(axis[2] for axis in axes)) for size, axes in zip(sizes, dims, strict=True)]
    return -(-_bits(element) * prod(local) // 8)


def _halo(size: int, shards: int, padded: int) -> Fraction:
    """The elements of a dimension that a device sends on average to get shards of `padded // shards`.

    Over each distance, all devices that send anything send the same elements of their shards.
    """
    old, new = -(-size // shards), padded // shards
    sent = Fraction(0)
    for hop in range(1 - shards, shards):
        parts = []
        for receiver in range(shards):
            sender = receiver + hop
            first = max(receiver * new, sender * old)
            last = min((receiver + 1) * new, (sender + 1) * old, size)
            if hop and 0 <= sender < shards and first < last:
                parts.append((first - sender * old, last - sender * old))
        if parts:
            span = max(last for _, last in parts) - min(first for first, _ in parts)
            sent += Fraction(span * len(parts), shards)
    return sent


def _count(dim: list[Axis]) -> int:
    return prod(axis[2] for axis in dim)


def _with_sizes(type: str, sizes: list[int]) -> str:
    element = type.removeprefix("tensor<").split("x", len(sizes))[-1]
    return "tensor<" + "".join(f"{size}x" for size in sizes) + element


def _sizes(type: str) -> list[int]:
    """The dimensions of `tensor<4x8xcomplex<f32>>`: 4 and 8."""
    shape = re.match(r"tensor<((?:\d+x)*)", type)
    return [int(size) for size in shape[1].split("x")[:-1]] if shape is not None else []


def _bits(element: str) -> int:
    if element in BITS:
        return BITS[element]
    if element.startswith("complex<"):
        return 2 * _bits(element[len("complex<") :].rstrip(">"))
    digits = re.search(r"\d+", element)
    assert digits is not None
    return int(digits[0])


def _collective(
    match: re.Match[str], shardings: dict[str, str], meshes: dict[str, Mesh]
) -> RecomputedCollective:
    value, kind, parameter, operand, after_text, type = match.groups()
    rank = len(_sizes(type))
    after_mesh, after = _parsed(after_text, rank, meshes)
    before_mesh, before = _parsed(shardings.get(operand, ""), rank, meshes)
    assert after_mesh is not None
    before_mesh = before_mesh or after_mesh
    bytes_in, bytes_out = _bytes(type, before), _bytes(type, after)
    axes = [
        (name, int(pre or 1), int(size or before_mesh.sizes[name]))
        for name, pre, size in AXIS.findall(parameter)
    ]
    n = prod(axis[2] for axis in axes)
    once = Fraction(n - 1, n)
    # What is sent has shards of equal size.
    old, new = [_count(dim) for dim in before], [_count(dim) for dim in after]
    even = [
        max(-(-size // one) * one, -(-size // two) * two)
        for size, one, two in zip(_sizes(type), old, new, strict=True)
    ]
    sent_in, sent_out = (_bytes(_with_sizes(type, even), dims) for dims in (before, after))
    wire = {
        "all_gather": once * sent_out,
        "reduce_scatter": once * sent_in,
        "all_reduce": 2 * once * sent_in,
        "all_to_all": once * sent_in,
    }.get(kind, Fraction(0))
    if kind == "collective_permute":
        wire = _moving_share(before_mesh, before, after_mesh, after) * sent_in
        axes = _changed(before_mesh, before, after_mesh, after)
        n = prod(_span([axis for axis in axes if axis[0] == name]) for name in {axis[0] for axis in axes})
    moved = [
        dim
        for dim, (size, one, two) in enumerate(zip(_sizes(type), old, new, strict=True))
        if one > 1 and two > 1 and -(-size // one) * one != -(-size // two) * two
    ]
    if moved and kind == "reduce_scatter":
        wire *= 2
    for dim in moved:
        # Shards with other borders exchange halos before and after.
        for counts, sent in ((old, sent_in), (new, sent_out)):
            wire += _halo(_sizes(type)[dim], counts[dim], even[dim]) * sent / (even[dim] // counts[dim])
    return RecomputedCollective(
        kind, bytes_in, bytes_out, wire, value, tuple(sorted({axis[0] for axis in axes})), n
    )


def _changed(before_mesh: Mesh, before: Dims, after_mesh: Mesh, after: Dims) -> list[Axis]:
    """The axes of the dimensions whose axes differ; all axes if the meshes differ."""
    if before_mesh != after_mesh:
        return [(name, 1, size) for name, size in before_mesh.sizes.items()]
    return [axis for old, new in zip(before, after, strict=True) if old != new for axis in (*old, *new)]


def _span(sub_axes: list[Axis]) -> int:
    """The product of the sizes of sub-axes of one axis; where they overlap, the size counts once."""
    covered, size = 1, 1
    for _, pre, length in sorted(sub_axes, key=lambda axis: axis[1]):
        end = pre * length
        if end > covered:
            size *= end // max(covered, pre)
            covered = end
    return size


def _moving_share(before_mesh: Mesh, before: Dims, after_mesh: Mesh, after: Dims) -> Fraction:
    """The share of devices whose shard changes."""
    first, second = _shards(before_mesh, before), _shards(after_mesh, after)
    return Fraction(sum(first[device] != second[device] for device in first), len(first))


def _shards(mesh: Mesh, dims: Dims) -> dict[int, tuple[int, ...]]:
    found = {}
    for position, point in enumerate(product(*(range(size) for size in mesh.sizes.values()))):
        coordinates = dict(zip(mesh.sizes, point, strict=True))
        shard = []
        for axes in dims:
            index = 0
            for name, pre, size in axes:
                below = mesh.sizes[name] // (pre * size)
                index = index * size + coordinates[name] // below % size
            shard.append(index)
        found[mesh.devices[position]] = tuple(shard)
    return found
