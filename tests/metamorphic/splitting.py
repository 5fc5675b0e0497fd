"""Splits the axes of size 4 of a program: "x"=4 becomes "x_0"=2, "x_1"=2, and the sub-axis "x":(1)2 "x_0"."""

import re
from collections import defaultdict

_MESH = re.compile(r"(?:mesh|@\w+ =) ?<\[(\"[^\]]*)\]")
_AXIS = re.compile(r'"([^"\n]+)"=(\d+)')
_REFERENCE = re.compile(r'"([^"\n]+)"(=4\b|:\(1\)2|:\(2\)2|(?=[,\]}?p> ]))')
_STABLEHLO_AXIS = re.compile(r'\{name = "([^"\n]+)", size = 4 : i64\}')
_SIZE = 4


def axes_to_split(text: str) -> set[str]:
    """The axes that have size 4 in every mesh that has them."""
    sizes: dict[str, set[str]] = defaultdict(set)
    for mesh in _MESH.findall(text):
        for name, size in _AXIS.findall(mesh):
            sizes[name].add(size)
    return {name for name, found in sizes.items() if found == {str(_SIZE)}}


def split_axes(text: str, axes: set[str]) -> str:
    """The program with two axes of size 2 instead of each of these."""

    def split(match: re.Match[str]) -> str:
        name, rest = match[1], match[2]
        if name not in axes:
            return match[0]
        major, minor = f'"{name}_0"', f'"{name}_1"'
        if rest == f"={_SIZE}":
            return f"{major}=2, {minor}=2"
        if rest:
            return major if rest == ":(1)2" else minor
        return f"{major}, {minor}"

    def split_stablehlo(match: re.Match[str]) -> str:
        name = match[1]
        if name not in axes:
            return match[0]
        return ", ".join(f'{{name = "{name}_{number}", size = 2 : i64}}' for number in range(2))

    return _REFERENCE.sub(split, _STABLEHLO_AXIS.sub(split_stablehlo, text))
