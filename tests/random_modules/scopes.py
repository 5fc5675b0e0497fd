"""What random operations are written into: text, and the values that can be used there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from tests.random_modules.meshes import Mesh, Sharding, random_sharding


@dataclass(frozen=True)
class Tensor:
    """The type of a tensor."""

    shape: tuple[int, ...]
    element: str = "f32"

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.element}>"


@dataclass(frozen=True)
class Token:
    """The type of what is not a tensor."""

    shape: tuple[int, ...] = ()

    def __str__(self) -> str:
        return "!stablehlo.token"


Type = Tensor | Token
INDEX, TRUTH, TOKEN = Tensor((), "i32"), Tensor((), "i1"), Token()
# Few types, so that most values can be used together.
TENSORS = (Tensor((8, 16)), Tensor((8, 16)), Tensor((16,)), Tensor((8, 8)), Tensor((4, 8, 16)), Tensor(()))


@dataclass(frozen=True)
class Value:
    name: str
    type: Type


@dataclass
class Signature:
    """A function that can be called."""

    name: str
    inputs: list[Type]
    outputs: list[Type]


@dataclass
class Writer:
    """The text so far, and what holds for the whole module."""

    random: Random
    meshes: list[Mesh]
    # What may stand in a block, and how often it is chosen.
    operations: Mapping[Maker, int]
    # The sizes of which new shapes are made.
    sizes: Sequence[int] = ()
    # Whether every value is used somewhere.
    is_all_used: bool = False
    # What may not stand in a block although it has a body.
    without: Collection[Maker] = ()
    # Whether operations have shardings other than constraints and those of manual computations.
    is_sharded_inside: bool = True
    functions: list[Signature] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    values: int = 0
    # Groups by what their values must have in common.
    groups: dict[object, list[int]] = field(default_factory=dict)

    def fresh(self) -> str:
        self.values += 1
        return f"%v{self.values}"


@dataclass
class Scope:
    """A block: the values seen from there, the axes that are taken, and how much more may go inside."""

    writer: Writer
    values: list[Value]
    depth: int
    taken: frozenset[str] = frozenset()
    # The manual computation around, by number; 0 for none.
    border: int = 0
    # The arguments of the function around, where it may get more.
    inputs: list[Value] | None = None

    @property
    def random(self) -> Random:
        return self.writer.random

    def write(self, text: str) -> None:
        self.writer.lines.append("  " * (4 - self.depth) + text)

    def nested(self, arguments: Sequence[Value], is_isolated: bool) -> Scope:
        """The scope of a body with these arguments."""
        values = [*arguments] if is_isolated else [*self.values, *arguments]
        inputs = None if is_isolated else self.inputs
        return replace(self, values=values, depth=self.depth - 1, inputs=inputs)

    def result(self, type: Type, operation: str) -> Value:
        """Writes an operation with one result."""
        value = Value(self.writer.fresh(), type)
        self.write(f"{value.name} = {operation}")
        self.values.append(value)
        return value

    def results(self, types: Sequence[Type], head: str) -> str:
        """The text `%a:2 = head` of an operation with these results, which can be used afterwards."""
        name = self.writer.fresh()
        if not types:
            return head
        if len(types) == 1:
            self.values.append(Value(name, types[0]))
            return f"{name} = {head}"
        self.values.extend([Value(f"{name}#{index}", type) for index, type in enumerate(types)])
        return f"{name}:{len(types)} = {head}"

    def arguments(self, types: Sequence[Type]) -> list[Value]:
        return [Value(self.writer.fresh(), type) for type in types]

    # --- Choices --------------------------------------------------------------------------

    def one_of(self, type: Type) -> Value:
        """A value of a type; a new one if there is none."""
        found = [value for value in self.values if value.type == type]
        if found and self.random.random() < 0.95:
            return self.random.choice(found)
        if type == TOKEN:
            return self.result(TOKEN, "stablehlo.create_token : !stablehlo.token")
        assert isinstance(type, Tensor)
        return self.new(type)

    def new(self, type: Tensor) -> Value:
        """A value that nobody else uses: an argument of the function, or else a constant."""
        if self.inputs is None or self.random.random() < 0.05:
            return self.constant(type)
        value = Value(self.writer.fresh(), type)
        self.inputs.append(value)
        self.values.append(value)
        return value

    def constant(self, type: Tensor) -> Value:
        number = self.random.randrange(3)
        literal = f"{number}" if type.element.startswith(("i", "ui")) else f"{number}.0"
        literal = {"i1": "true", "complex<f32>": f"({literal}, 0.0)"}.get(type.element, literal)
        return self.result(type, f"stablehlo.constant{self.attributes([type])} dense<{literal}> : {type}")

    def any_tensor(self, least_rank: int = 0) -> Value:
        """A value that is a tensor of floats with so many dimensions at least."""
        found = [
            value for value in self.values if _is_float(value.type) and len(value.type.shape) >= least_rank
        ]
        if found:
            return self.random.choice(found)
        return self.new(self.random.choice([t for t in TENSORS if len(t.shape) >= least_rank]))

    def some(self, most: int, least: int = 0) -> list[Value]:
        """Some tensors, and now and then something else."""
        chosen = [self.any_tensor() for _ in range(self.random.randint(least, most))]
        if self.random.random() < 0.15:
            chosen.append(self.one_of(self.random.choice((INDEX, TOKEN))))
        return chosen

    def sharding(self, type: Type, mesh: Mesh | None = None, is_closed: bool | None = None) -> Sharding:
        mesh = mesh or self.random.choice(self.writer.meshes)
        taken = {name for name, _ in mesh.axes} if type == TOKEN else self.taken
        return random_sharding(self.random, mesh, len(type.shape), taken, is_closed)

    def shardings(self, types: Sequence[Type], mesh: Mesh | None = None) -> str:
        mesh = mesh or self.random.choice(self.writer.meshes)
        return f"[{', '.join(str(self.sharding(type, mesh)) for type in types)}]"

    def attributes(self, types: Sequence[Type], word: str = "") -> str:
        """` {sdy.sharding = …}` for an operation with these results, or nothing."""
        if not types or not self.writer.is_sharded_inside or self.random.random() < 0.7:
            return ""
        return f" {word}{{sdy.sharding = #sdy.sharding_per_value<{self.shardings(types)}>}}"


# Writes an operation, or a few, into a block.
Maker = Callable[[Scope], None]


def _is_float(type: Type) -> bool:
    return isinstance(type, Tensor) and type.element == "f32"


def names(values: Sequence[Value]) -> str:
    return ", ".join(value.name for value in values)


def types(values: Sequence[Value]) -> str:
    return ", ".join(str(value.type) for value in values)
