"""A tree of operations, read off a printed program with regular expressions and brackets.

It uses no code of the package: neither its parser nor its dialects and shardings. The properties of an
operation are read off its own lines, those of a value off the line that defines it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

from tests.recomputation.communication import AXIS, MESH, SHARDING, Mesh, mesh_of

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|->|[()\[\]{}<>]| : |,')
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
RESULTS = re.compile(r"(%[\w$.-]+(?::\d+)?(?:, %[\w$.-]+(?::\d+)?)*) = ")
NAME = re.compile(r'"?([a-z_]+(?:\.[\w.-]+)?)')
SYMBOL = re.compile(r'@("[^"]+"|[\w$.-]+)')
# A name before a colon or an equals sign is defined, not used.
USE = re.compile(r"%[\w$.-]+(?:#\d+)?(?![\w$.#:-]| =)")
# The text before the shardings of results. The first one in the text of an operation applies.
SHARDINGS = (
    "out_sharding=",
    "out_shardings=",
    "sdy.reshard ",
    "sdy.sharding_constraint ",
    "sdy.sharding = #sdy.sharding",
    " sharding=",
)
CARRIED = re.compile(r"(%[\w$.-]+) = %")


@dataclass(eq=False)
class Value:
    """A result or an argument: `owner` is the operation that defines it, or that has the region."""

    name: str
    type: str
    shards: list[int]
    """The number of shards of each dimension; empty if each device has the whole value."""
    owner: Operation | None = None
    number: int = 0
    is_argument: bool = False

    @property
    def sizes(self) -> list[int] | None:
        """The sizes in the text; None for a type without a static shape."""
        shape = re.match(r"tensor<((?:[\d?]+x)*)", self.type)
        if shape is None or "?" in shape[1]:
            return None
        return [int(size) for size in shape[1].split("x")[:-1]]

    @property
    def local_sizes(self) -> list[int] | None:
        sizes = self.sizes
        if sizes is None or not self.shards:
            return sizes
        return [-(-size // shards) for size, shards in zip(sizes, self.shards, strict=True)]


@dataclass(eq=False)
class Region:
    arguments: list[Value] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)


@dataclass(eq=False)
class Operation:
    """An operation; its text leaves out its results and regions."""

    name: str
    text: str
    parent: Operation | None
    operands: list[Value] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)

    def walk(self) -> Iterator[Operation]:
        yield self
        for region in self.regions:
            for each in region.operations:
                yield from each.walk()

    @property
    def callee(self) -> str | None:
        """The name of the function that a call calls."""
        return symbol(self.text) if self.name in ("call", "func.call") else None


class Program:
    """The meshes and functions of a printed module, by name and in order."""

    def __init__(self, text: str) -> None:
        self.meshes: dict[str, Mesh] = {name: mesh_of(axes, ids) for name, axes, ids in MESH.findall(text)}
        self.functions: dict[str, Operation] = {}
        self._lines = [line.strip() for line in text.partition("\n{-#")[0].split("\n") if line.strip()]
        self._next = 0
        while self._next < len(self._lines):
            if self._lines[self._next].startswith("func.func"):
                function = self._operation({}, None)
                self.functions[symbol(function.text)] = function
            else:
                self._next += 1

    def entries(self) -> list[Operation]:
        """`@main`, or else the public functions."""
        if "main" in self.functions:
            return [self.functions["main"]]
        return [each for each in self.functions.values() if " private " not in each.text.partition("(")[0]]

    def mesh_of(self, text: str) -> Mesh | None:
        """The mesh of the first sharding in a text."""
        sharding = SHARDING.search(text)
        if sharding is None:
            return None
        if sharding[1].startswith("@"):
            return self.meshes[sharding[1][1:]]
        axes, _, ids = sharding[1][len("mesh<[") : -1].partition("]")
        return mesh_of(axes, ids.partition("[")[2].partition("]")[0])

    def _operation(self, scope: dict[str, Value], parent: Operation | None) -> Operation:
        line = self._lines[self._next]
        self._next += 1
        results = RESULTS.match(line)
        body = line[results.end() :] if results is not None else line
        found = NAME.match(body)
        assert found is not None, line
        op = Operation(found[1], body, parent)
        if op.name != "func.func":
            op.operands = [scope[name] for name in USE.findall(STRING.sub('""', body))]
        if line.endswith("{") or (self._next < len(self._lines) and self._opens(self._lines[self._next])):
            self._regions(op, scope, body if line.endswith("{") else "")
        if results is not None:
            self._define(op, list(_names(results[1])), scope)
        return op

    @staticmethod
    def _opens(line: str) -> bool:
        return line == "cond {" or line.startswith("reducer(")

    def _regions(self, op: Operation, scope: dict[str, Value], opening: str) -> None:
        """The regions of an operation: each line that closes one and ends in a brace opens the next."""
        if not opening:
            opening = self._lines[self._next]
            self._next += 1
        while True:
            inner = dict(scope) if op.name != "func.func" else {}
            region = Region(self._arguments(op, opening, inner))
            op.regions.append(region)
            while not self._lines[self._next].startswith("}"):
                line = self._lines[self._next]
                if line.startswith("^"):
                    region.arguments = self._declared(op, line, inner)
                    self._next += 1
                else:
                    region.operations.append(self._operation(inner, op))
            closing = self._lines[self._next]
            self._next += 1
            # Types and attributes follow the regions of most operations, but not those of a loop or `reduce`.
            if closing not in ("}", "} do {"):
                op.text += " " + closing
            if not closing.endswith("{"):
                return
            opening = closing

    def _arguments(self, op: Operation, opening: str, inner: dict[str, Value]) -> list[Value]:
        if op.name == "stablehlo.while":
            names = CARRIED.findall(op.text)
            carried = enumerate(zip(names, op.operands, self._shards_of(op, len(names)), strict=True))
            arguments = [
                Value(name, operand.type, shards, op, number, True)
                for number, (name, operand, shards) in carried
            ]
            inner.update({each.name: each for each in arguments})
            return arguments
        arguments = self._declared(op, opening, inner)
        if op.name in ("sdy.manual_computation", "sdy.named_computation") and "in_shardings=" in opening:
            listed = opening[opening.index("in_shardings=") :].partition("out_shardings=")[0]
            manual = set(manual_axes(op))
            for argument, sharding in zip(arguments, SHARDING.finditer(listed), strict=True):
                argument.shards = self._shards(sharding, manual)
        return arguments

    def _declared(self, op: Operation, line: str, inner: dict[str, Value]) -> list[Value]:
        """The arguments `%name: type {attributes}` of a line."""
        found = []
        for number, match in enumerate(re.finditer(r"(%[\w$.-]+): ", line)):
            declaration = _up_to_comma(line[match.end() :])
            sharding = SHARDING.search(declaration.partition("sdy.sharding = #sdy.sharding")[2])
            shards = self._shards(sharding) if sharding is not None else []
            argument = Value(match[1], _without_attributes(declaration), shards, op, number, True)
            found.append(argument)
            inner[argument.name] = argument
        return found

    def _define(self, op: Operation, names: list[str], scope: dict[str, Value]) -> None:
        types = result_types(op.text, len(names))
        for number, name in enumerate(names):
            value = Value(name, types[number], self._shards_of(op, len(names))[number], op, number)
            scope[name] = value
            op.results.append(value)

    def _shards_of(self, op: Operation, count: int) -> list[list[int]]:
        """The numbers of shards of each result of an operation; empty for a result without a sharding."""
        found: list[list[int]] = []
        for opening in SHARDINGS:
            if opening in op.text:
                listed = op.text[op.text.index(opening) :]
                found = [self._shards(each) for each in SHARDING.finditer(listed)][:count]
                break
        return found + [[]] * (count - len(found))

    def _shards(self, sharding: re.Match[str], without: set[str] | None = None) -> list[int]:
        mesh = self.mesh_of(sharding[0])
        assert mesh is not None
        return [
            prod(
                int(size or mesh.sizes[name])
                for name, _, size in AXIS.findall(dim)
                if name not in (without or set())
            )
            for dim in re.findall(r"\{([^{}]*)\}", sharding[2])
        ]


def symbol(text: str) -> str:
    """The first symbol of a text, without quotes."""
    match = SYMBOL.search(text)
    assert match is not None
    return match[1].strip('"')


def manual_axes(op: Operation) -> list[str]:
    """The axes of a manual computation."""
    match = re.search(r"manual_axes=\{([^}]*)\}", op.text)
    return re.findall(r'"([^"]+)"', match[1]) if match is not None else []


def result_types(text: str, count: int) -> list[str]:
    """The result types: those after the last colon, or after the arrow there.

    If these are not as many as the results, the last of them is the type of each result.
    """
    start, depth, arrow = 0, 0, 0
    for match in TOKEN.finditer(text):
        token = match[0]
        if token in ("(", "[", "{", "<"):
            depth += 1
        elif token in (")", "]", "}", ">"):
            depth -= 1
        elif token == " : " and depth == 0:
            start, arrow = match.end(), 0
        elif token == "->" and depth == 0:
            arrow = match.end()
    types = split_at_commas(
        text[max(start, arrow) :].partition(" attributes {")[0].strip().removesuffix(" {")
    )
    if arrow > start and len(types) == 1 and types[0].startswith("("):
        types = split_at_commas(types[0][1:-1])
    return types if len(types) == count else types[-1:] * count


def split_at_commas(text: str) -> list[str]:
    """The parts of a text between the commas that are not in brackets."""
    found = []
    while text:
        part = _up_to_comma(text)
        found.append(part.strip())
        text = text[len(part) + 1 :]
    return found


def _up_to_comma(text: str) -> str:
    """The text up to the first comma or closing parenthesis that is not in brackets."""
    depth = 0
    for match in TOKEN.finditer(text):
        if depth == 0 and match[0] in (",", ")"):
            return text[: match.start()]
        depth += match[0] in ("(", "[", "{", "<")
        depth -= match[0] in (")", "]", "}", ">")
    return text


def _without_attributes(declaration: str) -> str:
    """`tensor<4xf32>` of `tensor<4xf32> {…}`."""
    return declaration.partition(" {")[0].strip()


def _names(text: str) -> Iterator[str]:
    """`%0#0` and `%0#1` of `%0:2`."""
    for name in text.split(", "):
        base, _, count = name.partition(":")
        yield from (f"{base}#{number}" for number in range(int(count))) if count else [base]
