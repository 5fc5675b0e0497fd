"""FLOPs of the products of a printed program, from the sizes and the dimension numbers in its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import log2, prod

from tests.recomputation.text_program import Operation, Program, manual_axes

CONTRACTING = re.compile(r"contracting_dims = \[([\d, ]*)\] x \[([\d, ]*)\]")
BATCHING = re.compile(r"batching_dims = \[([\d, ]*)\] x \[([\d, ]*)\]")
DIMENSIONS = re.compile(r"dim_numbers = \[(.*?)\]x\[(.*?)\]->\[(.*?)\]")
PRODUCTS = ("stablehlo.dot_general", "stablehlo.dot", "stablehlo.convolution", "stablehlo.fft")

Sizes = list[int]


@dataclass(frozen=True)
class RecomputedProduct:
    """FLOPs of one product: of the local shapes, and of the global shapes; None for dynamic shapes."""

    kind: str
    flops: int | None
    global_flops: int | None
    value: str


def products(program: Program) -> Iterator[Operation]:
    """The products of a program, in order."""
    for function in program.functions.values():
        yield from (op for op in function.walk() if op.name in PRODUCTS)


def recompute(program: Program) -> Iterator[RecomputedProduct]:
    """The figures of the products of a program, in order."""
    for op in products(program):
        (result,) = op.results
        whole, local = flops(op)
        if whole is not None:
            whole *= prod(manual_sizes(program, op))
        yield RecomputedProduct(op.name.removeprefix("stablehlo."), local, whole, result.name)


def flops(op: Operation) -> tuple[int | None, int | None]:
    """FLOPs of the shapes in the text and of the local shapes; None for dynamic shapes."""
    values = [*op.operands, *op.results]
    whole = [value.sizes for value in values]
    local = [value.local_sizes for value in values]
    if any(sizes is None for sizes in whole):
        return None, None
    if op.name == "stablehlo.fft":
        return _fft(op, *(sizes or [] for sizes in whole)), _fft(op, *(sizes or [] for sizes in local))
    count = _convolution if op.name == "stablehlo.convolution" else _dot
    return count(op, *(sizes or [] for sizes in whole)), count(op, *(sizes or [] for sizes in local))


def _fft(op: Operation, operand: Sizes, result: Sizes) -> int:
    lengths = re.search(r"length = \[([\d, ]*)\]", op.text)
    assert lengths is not None
    share = 5 if re.search(r"type = +I?RFFT", op.text) else 10
    doublings = log2(max(1, prod(int(each) for each in lengths[1].split(","))))
    return int(share * max(prod(operand), prod(result)) * doublings) // 2


def _dot(op: Operation, lhs: Sizes, rhs: Sizes, result: Sizes) -> int:
    """Results have the batching dimensions, then the free dimensions of the left and the right operand."""
    contracting = _pairs(CONTRACTING, op.text)
    if op.name == "stablehlo.dot":
        contracting = [(len(lhs) - 1, 0)]
    batching = _pairs(BATCHING, op.text)
    sizes = [min(lhs[left], rhs[right]) for left, right in contracting]
    used_left = {left for left, _ in batching + contracting}
    used_right = {right for _, right in batching + contracting}
    free_left = [size for number, size in enumerate(lhs) if number not in used_left]
    free_right = [size for number, size in enumerate(rhs) if number not in used_right]
    outer = [min(lhs[left], rhs[right]) for left, right in batching] + free_left + free_right
    sizes += [min(pair) for pair in zip(outer, result, strict=True)]
    return 2 * prod(sizes)


def _convolution(op: Operation, lhs: Sizes, rhs: Sizes, result: Sizes) -> int:
    """With batch groups, the input has a larger batch than the result; with feature groups, more features
    than the kernel.
    """
    dimensions = DIMENSIONS.search(op.text)
    assert dimensions is not None
    of_lhs = _by_name(dimensions[1], lhs)
    of_rhs = _by_name(dimensions[2], rhs)
    of_result = _by_name(dimensions[3], result)
    batch, features, input_features = of_result["b"], of_result["f"], of_rhs["i"]
    if _count("batch_group_count", op.text) == 1:
        batch = min(batch, of_lhs["b"])
    features = min(features, of_rhs["o"])
    if _count("feature_group_count", op.text) == 1:
        input_features = min(input_features, of_lhs["f"])
    window = [size for name, size in of_rhs.items() if name.isdigit()]
    spatial = [size for name, size in of_result.items() if name.isdigit()]
    return int(2 * prod([batch, features, *spatial, *window, input_features]) * _share_in_input(op))


def _share_in_input(op: Operation) -> Fraction:
    """The share of the positions of the window that are on elements of the input, counted one by one."""
    dimensions = DIMENSIONS.search(op.text)
    assert dimensions is not None
    shapes = [value.sizes or [] for value in (*op.operands[:2], *op.results)]
    named = [_by_name(names, shape) for names, shape in zip(dimensions.groups(), shapes, strict=True)]
    count = sum(name.isdigit() for name in named[0])
    window = re.search(r"window = \{(.*?)\}", op.text)
    text = "" if window is None else window[1]
    strides, gaps, spreads = (_list(name, text, count) for name in ("stride", "lhs_dilate", "rhs_dilate"))
    pads = re.search(r"pad = \[\[(.*?)\]\]", text)
    before = [0] * count if pads is None else [int(each.split(",")[0]) for each in pads[1].split("], [")]
    share = Fraction(1)
    for number in range(count):
        size, kernel, places = (each[str(number)] for each in named)
        positions = [
            place * strides[number] + element * spreads[number] - before[number]
            for place in range(places)
            for element in range(kernel)
        ]
        real = {index * gaps[number] for index in range(size)}
        if positions and real:
            share *= Fraction(sum(position in real for position in positions), len(positions))
    return share


def _list(name: str, text: str, count: int) -> list[int]:
    match = re.search(rf"\b{name} = \[([\d, ]*)\]", text)
    return [1] * count if match is None else [int(each) for each in match[1].split(",")]


def _by_name(names: str, sizes: Sizes) -> dict[str, int]:
    """The sizes by the names of the dimensions, such as `b, 0, 1, f`."""
    return dict(zip(names.split(", "), sizes, strict=True))


def _count(name: str, text: str) -> int:
    match = re.search(rf"{name} = (\d+)", text)
    return int(match[1]) if match is not None else 1


def _pairs(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    match = pattern.search(text)
    if match is None:
        return []
    left, right = ([int(number) for number in re.findall(r"\d+", group)] for group in match.groups())
    return list(zip(left, right, strict=True))


def manual_sizes(program: Program, op: Operation, is_needed: bool = True) -> tuple[int, ...]:
    """The sizes of the manual axes around an operation, including those around calls of its function.

    If the calls differ in them: an assertion fails or, if they are not needed, none.
    """
    found: list[int] = []
    while op.parent is not None:
        op = op.parent
        axes = manual_axes(op)
        mesh = program.mesh_of(op.text) if axes else None
        found += [mesh.sizes[axis] for axis in axes] if mesh is not None else []
    callers = [
        each
        for function in program.functions.values()
        for each in function.walk()
        if each.callee is not None and program.functions[each.callee] is op
    ]
    outer = {manual_sizes(program, caller, is_needed) for caller in callers}
    if program.functions and op in program.entries():
        outer.add(())
    if len(outer) > 1 and not is_needed:
        return ()
    assert len(outer) <= 1, "the calls of a function have different manual axes around them"
    return (*found, *(outer.pop() if outer else ()))
