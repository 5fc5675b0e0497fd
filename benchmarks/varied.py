"""Generates programs of many small, different models, by a seed and without JAX.

Names, shapes, constants, shardings, attributes and locations are those of each model: more than 60 % of the
statements are distinct without SSA names and locations. The other generated programs repeat one layer.
"""

import sys
from pathlib import Path
from random import Random

from benchmarks.tape import Tape, Tensor

UNARY = ("tanh", "exponential", "logistic", "negate", "abs", "sqrt", "rsqrt", "log", "cosine", "floor")
BINARY = ("add", "subtract", "multiply", "maximum", "minimum", "divide", "power", "remainder", "atan2")


def varied(statements: int, seed: int = 1) -> str:
    """The text of a module with about this many statements."""
    random = Random(seed)
    models: list[Model] = []
    while sum(len(model.lines) for model in models) < statements:
        models.append(Model(random, len(models)))
    return "".join(
        [
            "module @varied attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {\n",
            *(f"  {model.mesh}\n" for model in models),
            *(line for model in models for line in model.lines),
            "}\n",
            *(location for model in models for location in model.locations),
        ]
    )


class Model:
    """A function with a training step of one model, and the private functions that it calls.

    `lines` are those of the functions, `locations` the definitions of the locations.
    """

    def __init__(self, random: Random, number: int) -> None:
        self.random = random
        self.name = f"{_word(random)}_{number}"
        sizes = random.choice([(2, 4), (2, 2, 2), (8,), (4, 2)])
        self.axes = dict(zip([_word(random) for _ in sizes], sizes, strict=True))
        axes = ", ".join(f'"{name}"={size}' for name, size in self.axes.items())
        self.mesh = f"sdy.mesh @mesh_{self.name} = <[{axes}]>"
        self.locations: list[str] = []
        self.helpers: list[str] = []
        self.tape = Tape()
        self.sizes = [random.randrange(1, 40) * random.choice((1, 2, 8, 8, 16)) for _ in range(8)]
        batch, length, width = random.sample(self.sizes, 3)
        x = Tensor("%arg0", (batch, length, width))
        layers = [[Tensor("", shape) for shape in self._layer(width)] for _ in range(random.randrange(1, 4))]
        self.arguments = [x]
        for index, weight in enumerate(weight for layer in layers for weight in layer):
            self.arguments.append(Tensor(f"%arg{index + 1}", weight.shape))
        weights = iter(self.arguments[1:])
        operations = [random.randrange(6) for _ in range(random.randrange(3, 9))]
        for layer in layers:
            x = self._apply([next(weights) for _ in layer], x, operations)
        loss = self.tape.reduce("add", x, [0, 1, 2])
        gradients = self.tape.gradients(loss)
        results = [self._update(each, gradients[each]) for each in self.arguments if each in gradients]
        self.lines = [*self.helpers, *self._function([*results, loss])]

    def _layer(self, width: int) -> list[tuple[int, ...]]:
        """The shapes of the weights of a layer: two matrices and a bias."""
        self.hidden = self.random.choice(self.sizes)
        return [(width, self.hidden), (self.hidden,), (self.hidden, width)]

    def _apply(self, weights: list[Tensor], x: Tensor, operations: list[int]) -> Tensor:
        up, bias, down = weights
        tape = self.tape
        hidden = tape.dot(x, up, [], [2], [0])
        hidden = tape.add(hidden, tape.broadcast(bias, hidden.shape, [2]))
        for operation in operations:
            hidden = tape.add(hidden, self._branch(hidden, operation))
        if self.random.random() < 0.7:
            hidden = tape.constrain(hidden, self._sharding(hidden))
        return tape.add(x, tape.dot(hidden, down, [], [2], [0]))

    def _branch(self, x: Tensor, operation: int) -> Tensor:
        """A value of the same shape, computed from `x`; gradients do not pass through it."""
        random, tape = self.random, self.tape
        is_recording, tape.is_recording = tape.is_recording, False
        dimension = random.randrange(len(x.shape))
        others = [d for d in range(len(x.shape)) if d != dimension]
        if operation == 0:
            out = tape._elementwise(random.choice(UNARY), x)
        elif operation == 1:
            value = tape.filled(f"{random.uniform(-9, 9):.6e}", x)
            out = tape._elementwise(random.choice(BINARY), x, value)
        elif operation == 2:
            total = tape.reduce(random.choice(["add", "maximum"]), x, [dimension])
            out = tape.broadcast(total, x.shape, others)
        elif operation == 3:
            order = random.sample(range(3), 3)
            turned = tape.transpose(x, order)
            turned = tape._elementwise(random.choice(UNARY), turned)
            out = tape.transpose(turned, [order.index(d) for d in range(3)])
        elif operation == 4:
            out = self._call(x)
        else:
            flat = tape.reshape(x, (x.shape[0] * x.shape[1], x.shape[2]))
            half = flat.shape[0] - random.randrange(1, 1 + flat.shape[0] // 2)
            low, high = (
                tape_slice(tape, flat, start, end) for start, end in ((0, half), (half, flat.shape[0]))
            )
            text = f"stablehlo.concatenate {low.name}, {high.name}, dim = 0 : ({low.type}, {high.type})"
            out = tape.reshape(tape._emit(text, flat.shape, arrow=True), x.shape)
        tape.is_recording = is_recording
        return out

    def _call(self, x: Tensor) -> Tensor:
        """A call of a new private function."""
        name = f"{_word(self.random)}_{self.name}_{len(self.helpers)}"
        inner = Tape()
        argument = Tensor("%arg0", x.shape)
        limit = inner.filled(f"{self.random.uniform(-9, 9):.6e}", argument)
        is_greater = inner.compare(self.random.choice(["GT", "LT", "GE"]), argument, limit)
        out = inner.where(is_greater, argument, limit)
        self.helpers += [
            f"  func.func private @{name}(%arg0: {x.type}) -> {out.type} {{\n",
            *inner.lines,
            f"    return {out.name} : {out.type}\n",
            "  }\n",
        ]
        return self.tape._emit(f"call @{name}({x.name}) : ({x.type})", x.shape, arrow=True)

    def _update(self, weight: Tensor, gradient: Tensor) -> Tensor:
        rate = self.tape.filled(f"{self.random.uniform(0, 1):.6e}", weight)
        step = self.tape._elementwise("multiply", gradient, rate)
        return self.tape._elementwise("subtract", weight, step)

    def _sharding(self, x: Tensor) -> str:
        """Each axis on one dimension whose size it divides, or on none."""
        random = self.random
        used: dict[int, list[str]] = {}
        for axis, size in self.axes.items():
            dimension = random.randrange(len(x.shape))
            taken = 1
            for other in used.get(dimension, []):
                taken *= self.axes[other]
            if x.shape[dimension] % (taken * size) == 0:
                used.setdefault(dimension, []).append(axis)
        return ", ".join(
            "{"
            + ", ".join(f'"{axis}"' for axis in used.get(dimension, []))
            + random.choice(["}", "}", ", ?}"])
            if used.get(dimension)
            else random.choice(["{}", "{?}"])
            for dimension in range(len(x.shape))
        )

    def _function(self, results: list[Tensor]) -> list[str]:
        mesh = f"@mesh_{self.name}"
        arguments = [
            f"{each.name}: {each.type} {{sdy.sharding = #sdy.sharding<{mesh}, [{self._sharding(each)}]>}}"
            for each in self.arguments
        ]
        types = [
            f"{each.type} {{jax.result_info = \"result['{_word(self.random)}'][{index}]\"}}"
            for index, each in enumerate(results)
        ]
        lines = [line.replace("<@mesh,", f"<{mesh},") for line in self.tape.lines]
        if self.random.random() < 0.5:
            lines = [self._with_location(line) for line in lines]
        name = "main" if self.name.endswith("_0") else f"train_{self.name}"
        return [
            f"  func.func public @{name}({', '.join(arguments)}) -> ({', '.join(types)}) {{\n",
            *lines,
            f"    return {', '.join(each.name for each in results)} : "
            f"{', '.join(each.type for each in results)}\n",
            "  }\n",
        ]

    def _with_location(self, line: str) -> str:
        """The line with a new location, or with the previous one."""
        if not self.locations or self.random.random() < 0.5:
            row, column = self.random.randrange(1, 900), self.random.randrange(1, 60)
            location = f'loc("{self.name}.py":{row}:{column})'
            self.locations.append(f"#loc_{self.name}_{len(self.locations)} = {location}\n")
        return line.replace("\n", f" loc(#loc_{self.name}_{len(self.locations) - 1})\n")


def _word(random: Random) -> str:
    return "".join(random.choice("bdfklmnprstvz") + random.choice("aeiou") for _ in range(3))


def tape_slice(tape: Tape, x: Tensor, start: int, end: int) -> Tensor:
    """The rows from `start` to `end`."""
    text = f"stablehlo.slice {x.name} [{start}:{end}, 0:{x.shape[1]}] : ({x.type})"
    return tape._emit(text, (end - start, x.shape[1]), arrow=True)


if __name__ == "__main__":
    count, seed, output = sys.argv[1:]
    Path(output).write_text(varied(int(count), int(seed)), encoding="utf-8")
