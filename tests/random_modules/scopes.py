"""The text that random operations are appended to, and the values they can use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from tests.random_modules.meshes import Mesh, Sharding, random_sharding


@dataclass(frozen=True)
class Tensor:
    """A ranked tensor type."""

    shape: tuple[int, ...]
    element: str = "f32"

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.element}>"


@dataclass(frozen=True)
class Token:
    """The token type."""

    shape: tuple[int, ...] = ()

    def __str__(self) -> str:
        return "!stablehlo.token"


Type = Tensor | Token
INDEX, TRUTH, TOKEN = Tensor((), "i32"), Tensor((), "i1"), Token()
# A few types, so that most values can be operands of one operation.
TENSORS = (Tensor((8, 16)), Tensor((8, 16)), Tensor((16,)), Tensor((8, 8)), Tensor((4, 8, 16)), Tensor(()))


@dataclass(frozen=True)
class Value:
    name: str
    type: Type


@dataclass
class FunctionSignature:
    """The signature of a function that can be called."""

    name: str
    inputs: list[Type]
    outputs: list[Type]


@dataclass
class Writer:
    """The text of the function that is being written, and the settings of its module."""

    random: Random
    meshes: list[Mesh]
    # The operations of a block, with the weight of each.
    operations: Mapping[OpGenerator, int]
    # The sizes of dimensions of new shapes.
    sizes: Sequence[int] = ()
    # Whether every value has a use.
    is_all_used: bool = False
    # Operations that are excluded.
    without: Collection[OpGenerator] = ()
    # Whether operations have shardings other than constraints and those of manual computations.
    is_sharded_inside: bool = True
    # Whether loops end, so that the module can be run.
    is_executable: bool = False
    functions: list[FunctionSignature] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    # The number of values so far.
    value_count: int = 0
    # Sharding groups by what their values must have in common.
    groups: dict[object, list[int]] = field(default_factory=dict)

    def fresh(self) -> str:
        self.value_count += 1
        return f"%v{self.value_count}"


@dataclass
class Scope:
    """A block: its visible values, the axes that it cannot use, and the depth of regions it may contain."""

    writer: Writer
    values: list[Value]
    depth: int
    taken: frozenset[str] = frozenset()
    # The number of the enclosing manual computation; 0 for none.
    manual_computation: int = 0
    # The arguments of the enclosing function, if more can be added.
    inputs: list[Value] | None = None

    @property
    def random(self) -> Random:
        return self.writer.random

    def write(self, text: str) -> None:
        self.writer.lines.append("  " * (4 - self.depth) + text)

    def nested(self, arguments: Sequence[Value], is_isolated: bool) -> Scope:
        """The scope of a region with these block arguments."""
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
        """The text `%a:2 = head` of an operation; adds its results to the scope."""
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
        """A value of a type: usually an existing one, otherwise a new one."""
        candidates = [value for value in self.values if value.type == type]
        if candidates and self.random.random() < 0.95:
            return self.random.choice(candidates)
        if type == TOKEN:
            return self.result(TOKEN, "stablehlo.create_token : !stablehlo.token")
        assert isinstance(type, Tensor)
        return self.new(type)

    def new(self, type: Tensor) -> Value:
        """A value without other uses: a function argument, or else a constant."""
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

    def any_tensor(self, min_rank: int = 0) -> Value:
        """A float tensor of at least this rank."""
        candidates = [
            value for value in self.values if _is_float(value.type) and len(value.type.shape) >= min_rank
        ]
        if candidates:
            return self.random.choice(candidates)
        return self.new(self.random.choice([t for t in TENSORS if len(t.shape) >= min_rank]))

    def some(self, max_count: int, min_count: int = 0) -> list[Value]:
        """Some tensors, and sometimes a scalar or a token."""
        chosen = [self.any_tensor() for _ in range(self.random.randint(min_count, max_count))]
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


# Writes one or more operations into a block.
OpGenerator = Callable[[Scope], None]


def _is_float(type: Type) -> bool:
    return isinstance(type, Tensor) and type.element == "f32"


def names(values: Sequence[Value]) -> str:
    return ", ".join(value.name for value in values)


def types(values: Sequence[Value]) -> str:
    return ", ".join(str(value.type) for value in values)
