"""Tiles of TPUs, and which shapes of machines are squares and cubes."""

from fractions import Fraction
from itertools import permutations, product
from math import ceil, prod

import pytest

from sdyopt.analysis.figures.compiled_collectives import Machine
from sdyopt.analysis.figures.local_shapes import elements_of_tiles, padded_to_tiles

SIZES = (1, 2, 3, 7, 8, 16, 100, 128, 130, 300)


def _height(rows: int) -> int:
    """The rows of a tile: 8, or the least power of two for fewer."""
    return next((height for height in (1, 2, 4) if rows <= height), 8)


def _padding(lanes: int, rows: int) -> Fraction:
    """The elements of whole tiles of 128 columns for each of two dimensions."""
    height = _height(rows)
    return Fraction(ceil(lanes / 128) * 128 * ceil(rows / height) * height, lanes * rows)


def _minor(shape: tuple[int, ...]) -> tuple[int, int]:
    """The two dimensions that are padded least; of several, the last ones."""
    pairs = permutations(reversed(range(len(shape))), 2)
    lane, row = min(pairs, key=lambda pair: _padding(shape[pair[0]], shape[pair[1]]))
    return shape[lane], shape[row]


@pytest.mark.parametrize("first", SIZES)
def test_tensors_take_the_tiles_of_the_dimensions_that_are_padded_least(first: int) -> None:
    for shape in ((first,), *product((first,), SIZES), *product((first,), SIZES, SIZES)):
        if len(shape) > 1:
            lanes, rows = _minor(shape)
            assert padded_to_tiles(prod(shape), shape) == prod(shape) * _padding(lanes, rows)
        sizes = tuple([size for size in shape if size > 1])
        if len(sizes) < 2:
            whole, is_low = ceil(prod(sizes) / 1024), False
        else:
            lanes, rows = _minor(sizes)
            height = _height(rows)
            whole = ceil(lanes / 128) * ceil(rows / height) * prod(sizes) // (lanes * rows)
            is_low = height < 8
        # A tile of few rows takes as many elements as any other, or two thirds of these with 16 bits.
        assert elements_of_tiles(shape) == whole * 1024
        assert elements_of_tiles(shape, True) == (whole * 2048 // 3 if is_low else whole * 1024)


def test_bytes_of_known_minor_dimensions_and_of_none_are_padded_as_they_are() -> None:
    assert padded_to_tiles(12, (3,)) == 12
    assert padded_to_tiles(0, (3, 5)) == 0
    assert padded_to_tiles(4 * 3 * 100, (3, 100), (0, 1)) == 4 * 104 * 128


@pytest.mark.parametrize(
    ("shape", "square"),
    [
        *(((), 0), ((4,), 0), ((2, 2), 0), ((2, 4), 0), ((4, 4), 16), ((2, 2, 2), 8), ((1, 1), 0)),
        *(((3, 3), 9), ((4, 4, 1), 0), ((4, 4, 8), 0), ((16, 16), 256)),
    ],
)
def test_squares_and_cubes_of_eight_or_more_devices(shape: tuple[int, ...], square: int) -> None:
    assert Machine("tpu", shape).square == square
