"""How lookups and updates of tables are computed: worked examples, and the page lookups.txt.

The log of XLA's partitioner has the same costs of the ways to form groups.

    python -m tests.unit.sharding.explicit_reshards.test_lookups    # writes the page
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.shardy.sharding.axis_lists import Axes
from sdyopt.shardy.sharding.explicit_reshards.lookups import (
    Lookup,
    _Groups,
    _Search,
    find_lookup,
    find_stages,
)
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of
from sdyopt.shardy.sharding.sharding_projection import project
from tests.unit.report.programs import module, parts_of_page
from tests.unit.sharding.notation import read_mesh, read_sharding, write_axes

PAGE = Path(__file__).with_name("lookups.txt")

# The types of the table, the indices and the rows, and the dimension numbers of a gather. A scatter has other
# names for them.
_SHAPES = {
    "rows": ("64x32xbf16", "16x8x1xi32", "16x8x32xbf16", "[2]", "[0]", "[0]", "", "", 2, "1, 32"),
    "wide": ("8x512xcomplex<f32>", "4x1xi8", "4x512xcomplex<f32>", "[1]", "[0]", "[0]", "", "", 1, "1, 512"),
    "cells": ("16x16x8xf32", "32x2xi32", "32x8xf32", "[1]", "[0, 1]", "[0, 1]", "", "", 1, "1, 1, 8"),
    "batches": ("8x64x16xf32", "8x32x1xi32", "8x32x16xf32", "[2]", "[1]", "[1]", "[0]", "[0]", 2, "1, 1, 16"),
    "parts": ("16x64xi1", "32x1xi32", "32x8x64xi1", "[1, 2]", "[]", "[0]", "", "", 1, "8, 64"),
}


@cache
def _operation(name: str, shape: str) -> GatherOp | ScatterOp:
    table, indices, rows, window, whole, at, batch, index_batch, vector, sizes = _SHAPES[shape]
    numbers = f"offset_dims = {window}, collapsed_slice_dims = {whole}, start_index_map = {at}"
    if batch:
        numbers += f", operand_batching_dims = {batch}, start_indices_batching_dims = {index_batch}"
    numbers += f", index_vector_dim = {vector}"
    if name == "scatter":
        for old, new in (
            ("offset", "update_window"),
            ("collapsed_slice", "inserted_window"),
            ("start_indices_batching", "scatter_indices_batching"),
            ("operand_batching", "input_batching"),
            ("start_index_map", "scatter_dims_to_operand_dims"),
        ):
            numbers = numbers.replace(old, new)
    types = f"tensor<{table}>, tensor<{indices}>"
    element = table.rpartition("x")[2] if "complex" not in table else "complex<f32>"
    if name == "gather":
        text = f"""%0 = "stablehlo.gather"(%t, %i) <{{dimension_numbers = #stablehlo.gather<{numbers}>,
            slice_sizes = array<i64: {sizes}>}}> : ({types}) -> tensor<{rows}>"""
    else:
        text = f"""%0 = "stablehlo.scatter"(%t, %i, %u) <{{
            scatter_dimension_numbers = #stablehlo.scatter<{numbers}>}}> ({{
          ^bb0(%a: tensor<{element}>, %b: tensor<{element}>):
            %1 = stablehlo.add %a, %b : tensor<{element}>
            stablehlo.return %1 : tensor<{element}>
          }}) : ({types}, tensor<{rows}>) -> tensor<{table}>"""
    arguments = f"%t: tensor<{table}>, %i: tensor<{indices}>, %u: tensor<{rows}>"
    program = module(f"func.func @main({arguments}) {{\n{text}\nreturn\n}}")
    return next(op for op in program.walk() if isinstance(op, GatherOp | ScatterOp))


def _cost(case: str) -> list[tuple[str, int, int]]:
    """The axes of the ways to form groups, the most memory that each takes, and what it sends."""
    search, whole, _ = _found(case)
    return [(write_axes(way.axes), *search._cost(whole, way)) for way in search._ways(whole)]


def test_rows_are_gathered_between_groups_along_the_batch() -> None:
    """A device looks up one row of 8 of the batch, 8 x 32 of 2 bytes, and the 16 devices gather all."""
    rows = 8 * 32 * 2
    ways = [('"d", "m"', 17 * rows, 15 * rows)]
    assert _cost('gather of rows on "d"=4, "m"=4: [{}, {}]; [{"d", "m"}, {}, {}]; [{}, {}, {}]') == ways


def test_an_operation_takes_its_operands_and_its_result() -> None:
    """Nothing is resharded: a quarter of the table, of the indices of 4 bytes, and of the rows."""
    memory = (64 * 32 * 2) // 4 + (16 * 8 * 4) + (16 * 8 * 32 * 2) // 4
    ways = [('"d"', memory, 0)]
    assert _cost('gather of rows on "d"=4, "m"=4: [{}, {"d"}]; [{}, {}, {}]; [{}, {}, {"d"}]') == ways


def test_updates_of_several_tables_are_left_to_shardy() -> None:
    text = """
    func.func @main(%t: tensor<8xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>) {
      %0:2 = "stablehlo.scatter"(%t, %t, %i, %u, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
          inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
          stablehlo.return %a, %b : tensor<f32>, tensor<f32>
        }) : (tensor<8xf32>, tensor<8xf32>, tensor<4x1xi32>, tensor<4xf32>, tensor<4xf32>)
          -> (tensor<8xf32>, tensor<8xf32>)
      return
    }
    """
    op = next(op for op in module(text).walk() if isinstance(op, ScatterOp))
    rule, mesh = sharding_rule_of(op), read_mesh('"d"=4')
    assert rule is not None
    tensors = project(rule, [read_sharding(t) for t in ("[{}]", "[{}]", "[{}, {}]", *["[{}]"] * 4)], mesh)
    assert find_lookup(op.signature, rule, tensors, mesh) is None
    assert find_stages(op.signature, rule, tensors, mesh) == ()


_MESHES = ('"d"=4, "m"=4', '"a"=2, "b"=2, "c"=2', '"d"=8, "m"=2', '"x"=6, "y"=2')


def cases() -> Iterator[str]:
    """The first lines of the parts of the page: an operation, its mesh, and the shardings of its tensors."""
    for name in ("gather", "scatter"):
        for shape, (*types, _, _, _, _, _, _, _) in _SHAPES.items():
            for mesh in _MESHES:
                for number in range(3):
                    key = f"{name} {shape} {mesh} {number}"
                    shardings = [
                        _drawn(f"{key} {type}", len(re.findall(r"\dx", type)), mesh) for type in types
                    ]
                    yield f"{name} of {shape} on {mesh}: {'; '.join(shardings)}"


def _drawn(key: str, rank: int, mesh: str) -> str:
    """A sharding that the bytes of a hash choose: the dimension of each axis, or none."""
    dims: list[list[str]] = [[] for _ in range(rank)]
    for axis, byte in zip(re.findall(r'"\w"', mesh), sha256(key.encode()).digest(), strict=False):
        if byte % 4 < rank:
            dims[byte % 4].append(axis)
    return "[" + ", ".join("{" + ", ".join(axes) + "}" for axes in dims) + "]"


def part_of(case: str) -> str:
    """The part of the page for a case: the costs of the ways to form groups, and how it is computed."""
    return "".join(f"{line}\n" for line in (case, *_lines(case)))


def _lines(case: str) -> Iterator[str]:
    for axes, memory, sent in _cost(case):
        yield f"  groups along {axes}: {memory} bytes, sends {sent}"
    _, _, lookup = _found(case)
    yield f"  axes {_text(lookup.axes)}"
    for stages in lookup.stages:
        yield f"  through {' '.join(map(_text, stages))}"


def _found(case: str) -> tuple[_Search, _Groups, Lookup]:
    """The search of a case, with its first groups and its result."""
    name, shape, mesh_text, shardings = re.split(" of | on |: ", case)
    op, mesh = _operation(name, shape), read_mesh(mesh_text)
    rule = sharding_rule_of(op)
    assert rule is not None
    given = [read_sharding(text) for text in shardings.split("; ")]
    tensors = project(rule, [*given, given[0]] if name == "scatter" else given, mesh)
    lookup = find_lookup(op.signature, rule, tensors, mesh)
    assert lookup is not None
    of_tensors = [{factor: one.factors[factor].axes for factor in one.factors} for one in tensors[:3]]
    return _Search(op.signature, rule, tensors, mesh), _Groups((), {}, tuple(of_tensors)), lookup


def _text(axes: Sequence[Axes]) -> str:
    return f"[{', '.join(map(write_axes, axes))}]"


@pytest.mark.parametrize("shape", _SHAPES)
@pytest.mark.parametrize("name", ["gather", "scatter"])
def test_lookups_are_those_of_the_page(name: str, shape: str) -> None:
    start, parts = f"{name} of {shape} ", parts_of_page(PAGE)
    expected = {case: part for case, part in parts.items() if case.startswith(start)}
    assert {case: part_of(case) for case in cases() if case.startswith(start)} == expected


if __name__ == "__main__":
    PAGE.write_text("".join(map(part_of, dict.fromkeys(cases()))), encoding="utf-8")
