"""Well-known machines by name, and the shapes that they have: `tpu-v5e:4x4,slices=2`.

`machines.json` has their figures, each with its source.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import prod
from operator import le
from pathlib import Path
from typing import Any, Final

from sdyopt.analysis.figures.units import BYTES, parse_quantity
from sdyopt.analysis.interface import Request
from sdyopt.analysis.interface.flag import TextFile
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.text import counted
from sdyopt.base.diagnostics.usage import UsageError, nearest
from sdyopt.base.patterns import constant_pattern

NAMES: Final = (
    *("tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu-v7x", "a100", "h100", "h200", "b200", "gb200"),
    *("mi300", "cpu"),
)
# What clouds, GKE, drivers and JAX call the machines: patterns of names in lower case, with "-" for spaces.
_SPELLINGS: Final = (
    ("tpu-v4", r"tpu-?v4(?:-podslice)?|v4|ct4p(?:-hightpu-4t)?"),
    ("tpu-v5e", r"(?:tpu-?)?v5-?(?:e|lite(?:pod|-podslice|-device)?)|ct5l[ps](?:-hightpu-[148]t)?"),
    ("tpu-v5p", r"(?:tpu-?)?v5p(?:-slice)?|ct5p(?:-hightpu-[124]t)?"),
    ("tpu-v6e", r"(?:tpu-?)?v6-?(?:e|lite)(?:-slice|-device)?|trillium|ct6e(?:-standard-[148]t)?"),
    ("tpu-v7x", r"tpu-?v?7x?|v7x|ironwood|tpu7x-standard-4t"),
    ("a100", r"(?:nvidia-)?a100-(?:sxm4?-)?80gb|a2-ultragpu-[1248]g|dgx-a100"),
    (
        "h100",
        r"(?:nvidia-)?h100(?:-mega)?(?:-sxm5?)?(?:-?80gb)?(?:-hbm3)?|a3-(?:high|mega)gpu-[1248]g|dgx-h100",
    ),
    ("h200", r"(?:nvidia-)?h200(?:-sxm5?)?(?:-?141gb)?|a3-ultragpu-8g|dgx-h200"),
    ("b200", r"(?:nvidia-)?b200(?:-180gb)?|a4-highgpu-8g|dgx-b200"),
    ("gb200", r"(?:nvidia-)?gb200(?:-nvl72)?|a4x-highgpu-4g"),
    ("mi300", r"(?:amd-)?(?:instinct-)?mi300x?"),
)
# TPUs whose accelerator type counts TensorCores, of which a chip has two.
_OF_CORES: Final = ("tpu-v4", "tpu-v5p")
# Name -> text of a topology file.
MACHINES = {name: f'machine = "{name}"\n' for name in NAMES}
# The topology for changes of a program, where none is given.
ASSUMED_MACHINE = "tpu-v5e"

_TARGET = constant_pattern(r"(?P<name>[a-z0-9-]+)(?::(?P<shape>[^,]*))?(?:,slices=(?P<slices>.*))?", re.ASCII)
_COUNT = constant_pattern(r"(?P<name>.*?[a-z0-9])(?:-|-?[x*]-?)(?P<count>[1-9][0-9]{0,5})", re.ASCII)
_COUNT_FIRST = constant_pattern(r"(?P<count>[1-9][0-9]{0,5})-?[x*]-?(?P<name>[a-z].*)", re.ASCII)
_SHAPE = constant_pattern(r"[1-9][0-9]{0,5}(?:x[1-9][0-9]{0,5}){0,2}", re.ASCII)
_SLICES = constant_pattern(r"[1-9][0-9]{0,5}", re.ASCII)
# The slices that are smaller than a cube of 4x4x4.
# A smaller size of memory is a mistake: a number of GiB, or of MiB.
_LEAST_WITHOUT_UNIT = 1 << 20
_SMALL_CUBES = ((1, 1, 1), (2, 1, 1), (2, 2, 1), (2, 2, 2), (2, 2, 4), (2, 4, 4))


class MachineTarget(NamedTuple):
    """A machine of this name. None: as the mesh needs."""

    name: str
    shape: tuple[int, ...] | None = None
    slices: int | None = None


@cache
def machine_data() -> dict[str, Any]:
    """The figures of all machines, and their sources."""
    data: dict[str, Any] = json.loads(Path(__file__).with_name("machines.json").read_bytes())
    return data


def target_text(name: str, shape: tuple[int, ...] | None, slices: int) -> str:
    """`tpu-v5e:4x4,slices=2`."""
    shown = "" if shape is None else f":{shape_text(shape)}"
    return f"{name}{shown}{f',slices={slices}' if slices > 1 else ''}"


def shape_text(shape: tuple[int, ...]) -> str:
    """`4x4`."""
    return "x".join(map(str, shape))


def is_target(text: str) -> bool:
    """Whether a text names a machine and not a file."""
    return re.split("[:,]", _usual(text), maxsplit=1)[0] in MACHINES


@cache
def _usual(text: str) -> str:
    """`tpu-v5e:4x4` for `v5litepod-16`, `h100:1x8` for `8xH100`: a name of a machine as it is written here.

    A text that is none, or is ambiguous, stays as it is.
    """
    written, separator, rest = re.split("([:,])", f"{text}:", maxsplit=1)
    name, rest = re.sub(r"[\s_]+", "-", written.strip().lower()), f"{separator}{rest}"[:-1]
    if name in MACHINES:
        return f"{name}{rest}"
    if (machine := _spelled(name)) is not None:
        return f"{machine}{rest}"
    match = _COUNT.fullmatch(name) or _COUNT_FIRST.fullmatch(name)
    if match is None or rest.startswith(":"):
        return text
    machine = match["name"] if match["name"] in MACHINES else _spelled(match["name"])
    shape = None if machine is None else _shape_of_count(machine, int(match["count"]))
    return text if machine is None or shape is None else f"{machine}:{shape_text(shape)}{rest}"


def _spelled(name: str) -> str | None:
    """The machine that is spelled so; None for none."""
    return next((known for known, spellings in _SPELLINGS if re.fullmatch(spellings, name)), None)


def _shape_of_count(name: str, count: int) -> tuple[int, ...] | None:
    """The slice, or the nodes, of so many chips of an accelerator type; None if there is not exactly one."""
    machine = machine_data()["machines"][name]
    if (pod := machine.get("pod")) is None:
        node = machine.get("node", count)
        return (-(-count // node), min(count, node)) if count <= node or count % node == 0 else None
    # Chips of v7x may be counted, or its devices.
    chips = Fraction(count, 2 if name in _OF_CORES else 1)
    if _devices_per_chip(name) > 1:
        return None
    shape = _slice_shape(tuple(pod), int(chips))
    return shape if prod(shape) == chips else None


def read_target(text: str) -> MachineTarget:
    """The machine of `tpu-v5e:4x4,slices=2`. Raises UsageError."""
    text = _usual(text)
    name = re.split("[:,]", text, maxsplit=1)[0]
    if name not in MACHINES:
        listed = f"the machines are {', '.join(NAMES)}"
        raise UsageError(f"unknown machine '{name}'", _similar(name) or listed)
    machine = machine_data()["machines"][name]
    match = _TARGET.fullmatch(text)
    if match is None:
        raise UsageError(f"'{text}' is not a machine with its shape", f"write {_example(machine, name)}")
    if (slices := match["slices"]) is not None:
        if machine["compiler"] != "tpu":
            message = f"'{text}': only TPUs have slices"
            raise UsageError(message, f"write nodes and devices of a node, such as {name}:2x8")
        if _SLICES.fullmatch(slices) is None:
            raise UsageError(
                f"'{slices}' is not a number of slices", f"write {_example(machine, name)},slices=2"
            )
    shape = None if match["shape"] is None else _shape(match["shape"], name, machine)
    return MachineTarget(name, shape, None if slices is None else int(slices))


def _similar(name: str) -> str:
    """The machines that may be meant by a name; "" for none."""
    usual = re.sub(r"[\s_]+", "-", name.strip().lower())
    if _SHAPE.fullmatch(usual) is not None and "x" in usual:
        return f"name the machine, too, such as {ASSUMED_MACHINE}:{usual}"
    match = _COUNT.fullmatch(usual) or _COUNT_FIRST.fullmatch(usual)
    machine = _spelled(usual if match is None else match["name"])
    if machine is not None:
        return f"write its shape, such as {_example(machine_data()['machines'][machine], machine)}"
    if "a100" in usual or usual.startswith("a2-highgpu"):
        return "write a100, which has 80 GB, and --device-memory=40GB for the other"
    within = " or ".join(f"'{known}'" for known in NAMES if usual and usual in known)
    return f"did you mean {within}?" if within else nearest(usual, NAMES)


def _shape(text: str, name: str, machine: dict[str, Any]) -> tuple[int, ...]:
    if _SHAPE.fullmatch(text) is None:
        raise UsageError(f"'{text}' is not a shape of {name}", f"write {_example(machine, name)}")
    shape = tuple(map(int, text.split("x")))
    if (pod := machine.get("pod")) is not None:
        if len(shape) != len(pod):
            message = f"'{text}' is not a shape of {name}, which has {len(pod)} dimensions"
            raise UsageError(message, f"write {_example(machine, name)}")
        if any(size > most for size, most in zip(sorted(shape), pod, strict=True)):
            message = f"'{text}' is larger than a slice of {name}, which is at most {shape_text(tuple(pod))}"
            raise UsageError(
                message, f"write the number of slices, such as {_example(machine, name)},slices=2"
            )
        _check_hosts(shape, name)
        return shape
    node = machine.get("node")
    if len(shape) > 2 or (node is not None and shape[-1] > node):
        message = f"'{text}' is not a shape of {name}"
        within = "" if node is None else f" of at most {node} devices each"
        raise UsageError(message, f"write {_example(machine, name)}: nodes{within}, and devices of a node")
    return (1, *shape)[-2:]


def _check_hosts(shape: tuple[int, ...], name: str) -> None:
    """Raises UsageError for a slice that does not consist of whole hosts of 2x2 chips, of 2 or of 1 chip."""
    smaller, larger = (
        tuple(
            size + step if size % 2 and size > 1 and number < 2 else size for number, size in enumerate(shape)
        )
        for step in (-1, 1)
    )
    if larger == shape:
        return
    near = " or ".join(
        f"{target_text(name, near, 1)} ({counted(devices_of(name, near, 1), 'device')})"
        for near in (smaller, larger)
    )
    message = f"'{shape_text(shape)}' is not a shape of {name}: {prod(shape)} chips are no whole hosts of 2x2"
    raise UsageError(message, f"write {near}")


def _example(machine: dict[str, Any], name: str) -> str:
    if (pod := machine.get("pod")) is not None:
        return f"{name}:{'4x4' if len(pod) == 2 else '2x2x4'}"
    return f"{name}:2x{machine.get('node', 8)}"


def devices_of(name: str, shape: tuple[int, ...], slices: int) -> int:
    """The number of devices of JAX on a machine."""
    return prod(shape) * slices * _devices_per_chip(name)


def _devices_per_chip(name: str) -> int:
    number: int = machine_data()["machines"][name].get("devices_per_chip", 1)
    return number


@cache
def shape_for(target: MachineTarget, devices: int) -> tuple[tuple[int, ...], int]:
    """The shape and the number of slices that a mesh of so many devices needs; the smallest with as many.

    Raises UsageError if the shape and the number of slices are given, and have fewer.
    """
    machine = machine_data()["machines"][target.name]
    chips = -(-devices // _devices_per_chip(target.name))
    if (pod := machine.get("pod")) is None:
        node = machine.get("node", chips)
        if target.shape is not None:
            return (max(target.shape[0], -(-chips // target.shape[1])), target.shape[1]), 1
        # As few nodes as have enough devices, equally many of each.
        nodes = -(-chips // node)
        return (nodes, -(-chips // nodes)), 1
    if target.shape is not None:
        needed = -(-chips // prod(target.shape))
        if target.slices is not None and needed > target.slices:
            given = devices_of(target.name, target.shape, target.slices)
            name = f"{target.name}:{shape_text(target.shape)},slices="
            fitting, slices = shape_for(MachineTarget(target.name), devices)
            raise UsageError(
                f"{name}{target.slices} has {counted(given, 'device')}, and the program {devices}",
                f"write {name}{needed}, or {target_text(target.name, fitting, slices)}",
            )
        return target.shape, target.slices or needed
    slices = target.slices or -(-chips // prod(pod))
    while chips % slices and slices < chips and target.slices is None:
        slices += 1
    return _slice_shape(tuple(pod), -(-chips // slices)), slices


def slices_of(topology: str, devices: int) -> int:
    """The number of slices that a mesh is on; 1 for what has none."""
    return shape_for(read_target(topology), devices)[1] if is_target(topology) else 1


def idle_text(topology: str, devices: int) -> str:
    """`1 of 16 devices of tpu-v5e:4x4 is idle`: what a mesh leaves; "" if it has all."""
    if not is_target(topology):
        return ""
    target = read_target(topology)
    shape, slices = shape_for(target, devices)
    all_devices = devices_of(target.name, shape, slices)
    if (idle := all_devices - devices) <= 0:
        return ""
    of = f"{counted(all_devices, 'device')} of {target_text(target.name, shape, slices)}"
    return f"{idle} of {of} {'is' if idle == 1 else 'are'} idle"


def machine_of_mesh(topology: str, devices: int) -> str:
    """What is idle, or `tpu-v5e:2x4,slices=2: the mesh has 16 devices`; "" if all is as it is named."""
    if not is_target(topology):
        return ""
    target = read_target(topology)
    shape, slices = shape_for(target, devices)
    if target.shape is None or slices == (target.slices or 1):
        return idle_text(topology, devices)
    name = target_text(target.name, shape, slices)
    return idle_text(topology, devices) or f"{name}: the mesh has {counted(devices, 'device')}"


def _slice_shape(pod: tuple[int, ...], chips: int) -> tuple[int, ...]:
    """The smallest slice with so many chips, the closest to a square or a cube."""
    shapes: list[tuple[int, ...]]
    if len(pod) == 2:
        sides = combinations_with_replacement((1, 2, 4, 8, 16), 2)
        shapes = [(short, long) for short, long in sides if long <= 2 * short]
    else:
        cubes = combinations_with_replacement(range(4, pod[-1] + 1, 4), 3)
        shapes = [*_SMALL_CUBES, *(shape for shape in cubes if all(map(le, shape, pod)))]
    enough = [shape for shape in shapes if prod(shape) >= chips]
    return min(enough, key=lambda shape: (prod(shape), max(shape)), default=pod)


def topology_file(request: Request) -> TextFile | None:
    """The topology that --topology names: a machine or a file. Raises FileProblem and UsageError."""
    name: str | None = request["topology"]
    if name is None:
        return None
    if (text := machine_text(name)) is not None:
        return TextFile(name, text)
    return request.read_text(name)


def machine_text(name: str) -> str | None:
    """The topology file of a machine with its shape; None for the name of a file. Raises UsageError."""
    if not is_target(name) and not _may_be_machine(name):
        return None
    read_target(name)
    return f'machine = "{name}"\n'


def _may_be_machine(name: str) -> bool:
    """Whether a name that is of no file looks like that of a machine."""
    return re.fullmatch(r"[\w* -]+(?:[:,][\w=,-]*)?", name) is not None and not Path(name).exists()


def memory_size(flag: str, size: str | None) -> int | None:
    """The bytes of a size of memory that is the value of a flag; None for none. Raises UsageError."""
    if not size:
        return None
    quantity = parse_quantity(int(size) if size.isascii() and size.isdecimal() else size, BYTES)
    if not quantity:
        number = re.fullmatch(r"([0-9]+(?:[.][0-9]+)?) *([KMGT])", size, re.IGNORECASE | re.ASCII)
        help = "such as 16GiB"
        if number is not None:
            help = f"write {number[1]}{number[2].upper()}iB"
        raise UsageError(f"for the --{flag} option: '{size}' is not a size of memory", help)
    if size.isdecimal() and quantity < _LEAST_WITHOUT_UNIT:
        raise UsageError(
            f"for the --{flag} option: '{size}' has no unit", f"write {size}GiB, or {size}B for bytes"
        )
    return int(quantity)
