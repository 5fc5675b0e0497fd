"""A tape that writes StableHLO operations as text, and their gradients.

Names and layout are those that MLIR prints, so that a driver prints a generated program unchanged.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Tensor:
    """An SSA value: its name, shape and element type."""

    name: str
    shape: tuple[int, ...]
    element: str = "f32"

    @property
    def type(self) -> str:
        return f"tensor<{'x'.join([*map(str, self.shape), self.element])}>"


Gradients = Iterator[tuple[Tensor, Tensor]]


@dataclass
class Tape:
    """The body of a function, and the gradient functions of its operations."""

    lines: list[str] = field(default_factory=list)
    backward: list[tuple[Tensor, Callable[[Tensor], Gradients]]] = field(default_factory=list)
    is_recording: bool = True
    _next_number: int = 0
    _conflicts: int = 0
    _taken: set[str] = field(default_factory=set)

    def constant(self, value: str, shape: tuple[int, ...] = (), element: str = "f32") -> Tensor:
        name = "cst" if element == "f32" else "c"
        if name in self._taken:
            name, self._conflicts = f"{name}_{self._conflicts}", self._conflicts + 1
        self._taken.add(name)
        tensor = Tensor(f"%{name}", shape, element)
        self.lines.append(f"    {tensor.name} = stablehlo.constant dense<{value}> : {tensor.type}\n")
        return tensor

    def filled(self, value: str, like: Tensor) -> Tensor:
        return self.broadcast(self.constant(value), like.shape, ())

    def add(self, a: Tensor, b: Tensor) -> Tensor:
        return self._record(self._elementwise("add", a, b), lambda g: iter([(a, g), (b, g)]))

    def subtract(self, a: Tensor, b: Tensor) -> Tensor:
        return self._record(
            self._elementwise("subtract", a, b), lambda g: iter([(a, g), (b, self._elementwise("negate", g))])
        )

    def multiply(self, a: Tensor, b: Tensor) -> Tensor:
        def backward(g: Tensor) -> Gradients:
            yield a, self._elementwise("multiply", g, b)
            yield b, self._elementwise("multiply", a, g)

        return self._record(self._elementwise("multiply", a, b), backward)

    def divide(self, a: Tensor, b: Tensor) -> Tensor:
        def backward(g: Tensor) -> Gradients:
            scaled = self._elementwise("divide", g, b)
            yield a, scaled
            yield b, self._elementwise("negate", self._elementwise("multiply", scaled, out))

        out = self._record(self._elementwise("divide", a, b), backward)
        return out

    def exponential(self, a: Tensor) -> Tensor:
        out = self._elementwise("exponential", a)
        return self._record(out, lambda g: iter([(a, self._elementwise("multiply", g, out))]))

    def log(self, a: Tensor) -> Tensor:
        return self._record(
            self._elementwise("log", a), lambda g: iter([(a, self._elementwise("divide", g, a))])
        )

    def sqrt(self, a: Tensor) -> Tensor:
        return self._elementwise("sqrt", a)

    def rsqrt(self, a: Tensor) -> Tensor:
        def backward(g: Tensor) -> Gradients:
            cubed = self._elementwise("divide", out, a)
            yield (
                a,
                self._elementwise(
                    "multiply", g, self._elementwise("multiply", self.filled("-5.000000e-01", a), cubed)
                ),
            )

        out = self._record(self._elementwise("rsqrt", a), backward)
        return out

    def tanh(self, a: Tensor) -> Tensor:
        def backward(g: Tensor) -> Gradients:
            slope = self._elementwise(
                "subtract", self.filled("1.000000e+00", a), self._elementwise("multiply", out, out)
            )
            yield a, self._elementwise("multiply", g, slope)

        out = self._record(self._elementwise("tanh", a), backward)
        return out

    def where(self, condition: Tensor, a: Tensor, otherwise: Tensor) -> Tensor:
        def select(b: Tensor, c: Tensor) -> Tensor:
            return self._emit(
                f"stablehlo.select {condition.name}, {b.name}, {c.name} : {condition.type}, {b.type}", b.shape
            )

        return self._record(
            select(a, otherwise), lambda g: iter([(a, select(g, self.filled("0.000000e+00", g)))])
        )

    def compare(self, direction: str, a: Tensor, b: Tensor) -> Tensor:
        comparison = "FLOAT" if a.element == "f32" else "SIGNED"
        text = f"stablehlo.compare {direction}, {a.name}, {b.name}, {comparison} : ({a.type}, {b.type})"
        return self._emit(text, a.shape, "i1", arrow=True)

    def convert(self, a: Tensor, element: str) -> Tensor:
        return self._emit(f"stablehlo.convert {a.name} : ({a.type})", a.shape, element, arrow=True)

    def iota(self, shape: tuple[int, ...], dimension: int) -> Tensor:
        tensor = Tensor("", shape, "i32")
        return self._emit(f"stablehlo.iota dim = {dimension} : {tensor.type}", shape, "i32")

    def broadcast(self, a: Tensor, shape: tuple[int, ...], dims: Sequence[int]) -> Tensor:
        def backward(g: Tensor) -> Gradients:
            expanded = [d for d in range(len(shape)) if d not in dims or a.shape[dims.index(d)] != shape[d]]
            summed = self.reduce("add", g, expanded) if expanded else g
            yield a, summed if summed.shape == a.shape else self.reshape(summed, a.shape)

        text = f"stablehlo.broadcast_in_dim {a.name}, dims = {list(dims)} : ({a.type})"
        return self._record(self._emit(text, shape, a.element, arrow=True), backward)

    def reduce(self, reducer: str, a: Tensor, dims: Sequence[int]) -> Tensor:
        init = self.constant("0.000000e+00" if reducer == "add" else "0xFF800000")
        remaining = [d for d in range(len(a.shape)) if d not in dims]
        text = (
            f"stablehlo.reduce({a.name} init: {init.name}) applies stablehlo.{reducer} "
            f"across dimensions = {list(dims)} : ({a.type}, {init.type})"
        )
        out = self._emit(text, tuple(a.shape[d] for d in remaining), arrow=True)
        # A maximum is only subtracted for numerical stability and has no gradient.
        return (
            out
            if reducer != "add"
            else self._record(out, lambda g: iter([(a, self.broadcast(g, a.shape, remaining))]))
        )

    def transpose(self, a: Tensor, dims: Sequence[int]) -> Tensor:
        if list(dims) == sorted(dims):
            return a
        text = f"stablehlo.transpose {a.name}, dims = {list(dims)} : ({a.type})"
        out = self._emit(text, tuple(a.shape[d] for d in dims), arrow=True)
        back = [list(dims).index(d) for d in range(len(dims))]
        return self._record(out, lambda g: iter([(a, self.transpose(g, back))]))

    def reshape(self, a: Tensor, shape: tuple[int, ...]) -> Tensor:
        out = self._emit(f"stablehlo.reshape {a.name} : ({a.type})", shape, a.element, arrow=True)
        return self._record(out, lambda g: iter([(a, self.reshape(g, a.shape))]))

    def slice(self, a: Tensor, index: int) -> Tensor:
        """The slice at an index of dimension 0, which is kept with size 1."""
        ranges = ", ".join([f"{index}:{index + 1}", *(f"0:{size}" for size in a.shape[1:])])

        def backward(g: Tensor) -> Gradients:
            zero = self.constant("0.000000e+00")
            low, high = ([edge] + [0] * (len(a.shape) - 1) for edge in (index, a.shape[0] - index - 1))
            text = (
                f"stablehlo.pad {g.name}, {zero.name}, low = {low}, high = {high}, "
                f"interior = {[0] * len(a.shape)} : ({g.type}, {zero.type})"
            )
            yield a, self._emit(text, a.shape, arrow=True)

        text = f"stablehlo.slice {a.name} [{ranges}] : ({a.type})"
        return self._record(self._emit(text, (1, *a.shape[1:]), arrow=True), backward)

    def dot(
        self, a: Tensor, b: Tensor, batch: Sequence[int], left: Sequence[int], right: Sequence[int]
    ) -> Tensor:
        """A dot_general that contracts dimensions `left` of `a` with `right` of `b`.

        `batch` are the batching dimensions of both, which are their leading ones.
        """

        def backward(g: Tensor) -> Gradients:
            count, free = len(batch), len(left_free)
            of_left = list(range(count, count + free))
            of_right = list(range(count + free, len(g.shape)))
            yield (
                a,
                self._dot_back(
                    g,
                    b,
                    batch,
                    of_right,
                    right_free,
                    (*batch, *left_free, *_order_of_contracted(right, left)),
                ),
            )
            yield (
                b,
                self._dot_back(
                    g, a, batch, of_left, left_free, (*batch, *right_free, *_order_of_contracted(left, right))
                ),
            )

        left_free = [d for d in range(len(a.shape)) if d not in (*batch, *left)]
        right_free = [d for d in range(len(b.shape)) if d not in (*batch, *right)]
        batching = f"batching_dims = {list(batch)} x {list(batch)}, " if batch else ""
        text = (
            f"stablehlo.dot_general {a.name}, {b.name}, {batching}"
            f"contracting_dims = {list(left)} x {list(right)}, "
            f"precision = [DEFAULT, DEFAULT] : ({a.type}, {b.type})"
        )
        shape = (*(a.shape[d] for d in (*batch, *left_free)), *(b.shape[d] for d in right_free))
        return self._record(self._emit(text, shape, arrow=True), backward)

    def constrain(self, a: Tensor, sharding: str) -> Tensor:
        out = self._emit(f"sdy.sharding_constraint {a.name} <@mesh, [{sharding}]> : {a.type}", a.shape)
        return self._record(out, lambda g: iter([(a, self.constrain(g, sharding))]))

    def gradients(self, loss: Tensor) -> dict[Tensor, Tensor]:
        """Emits the backward pass and returns the gradient of each value that the loss depends on."""
        self.is_recording = False
        gradients = {loss: self.constant("1.000000e+00", loss.shape)}
        for value, backward in reversed(self.backward):
            if value not in gradients:
                continue
            for operand, gradient in backward(gradients[value]):
                previous = gradients.get(operand)
                gradients[operand] = (
                    gradient if previous is None else self._elementwise("add", previous, gradient)
                )
        return gradients

    def _dot_back(
        self,
        g: Tensor,
        other: Tensor,
        batch: Sequence[int],
        of_gradient: Sequence[int],
        of_other: Sequence[int],
        order: tuple[int, ...],
    ) -> Tensor:
        product = self.dot(g, other, batch, of_gradient, of_other)
        return self.transpose(product, [order.index(d) for d in range(len(order))])

    def _elementwise(self, operation: str, *operands: Tensor) -> Tensor:
        names = ", ".join(operand.name for operand in operands)
        return self._emit(f"stablehlo.{operation} {names} : {operands[0].type}", operands[0].shape)

    def _emit(
        self, text: str, shape: tuple[int, ...], element: str = "f32", *, arrow: bool = False
    ) -> Tensor:
        tensor = Tensor(f"%{self._next_number}", shape, element)
        self._next_number += 1
        self.lines.append(f"    {tensor.name} = {text}{f' -> {tensor.type}' if arrow else ''}\n")
        return tensor

    def _record(self, out: Tensor, backward: Callable[[Tensor], Gradients]) -> Tensor:
        if self.is_recording:
            self.backward.append((out, backward))
        return out


def _order_of_contracted(mine: Sequence[int], others: Sequence[int]) -> list[int]:
    """The contracted dimensions of the other operand, sorted by the dimensions of this one they pair with."""
    return [other for _, other in sorted(zip(mine, others, strict=True))]
