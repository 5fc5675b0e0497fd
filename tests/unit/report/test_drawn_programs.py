"""Figures of programs whose operations are drawn: the exact ones are on the page exact_figures.txt.

The bytes of a hash choose what a program computes of earlier values, and what of it is in a loop.
"""

from __future__ import annotations

import re
from hashlib import sha256
from itertools import count
from typing import NamedTuple

import pytest

from sdyopt.analysis.figures.program_report import report_on
from tests.unit.report.programs import module

_GROUPS = "replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>"
_RING = "source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>"


class _Value(NamedTuple):
    """A value with its sizes and its element type."""

    name: str
    sizes: tuple[int, ...]
    element: str

    @property
    def type(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.sizes)}{self.element}>"


class _Drawn:
    """Writes operations that are drawn."""

    def __init__(self, key: str, kinds: int = 26, collectives: bool = True) -> None:
        self._kinds, self._collectives = kinds, collectives
        self._bytes = (byte for number in count() for byte in sha256(f"{key} {number}".encode()).digest())
        self._numbers = count()
        self.lines: list[str] = []
        self.zeros = {element: self._constant(element) for element in ("f32", "bf16", "i32")}

    def below(self, limit: int) -> int:
        return next(self._bytes) % limit

    def one_of(self, values: list[_Value]) -> _Value:
        """Rather a late one than an early one."""
        return values[-1 - min(self.below(len(values)), self.below(len(values)))]

    def _constant(self, element: str) -> str:
        zero = "0" if element == "i32" else "0.0"
        return self._written(f"stablehlo.constant dense<{zero}> : tensor<{element}>", (), element).name

    def _written(self, text: str, sizes: tuple[int, ...], element: str) -> _Value:
        value = _Value(f"%v{next(self._numbers)}", sizes, element)
        self.lines.append(f"{value.name} = {text}")
        return value

    def operation(self, values: list[_Value]) -> _Value:
        """Writes an operation on some values."""
        x = self.one_of(values)
        alike = [value for value in values if value.sizes == x.sizes and value.element == x.element]
        zero, index = self.zeros[x.element], self.zeros["i32"]
        sum_ = f"""({{
        ^bb0(%p: tensor<{x.element}>, %q: tensor<{x.element}>):
          %t = stablehlo.add %p, %q : tensor<{x.element}>
          stablehlo.return %t : tensor<{x.element}>
        }})"""

        def unary(name: str) -> _Value:
            return self._written(f"stablehlo.{name} {x.name} : {x.type}", x.sizes, x.element)

        def typed(text: str, sizes: tuple[int, ...], *others: str, element: str = x.element) -> _Value:
            types = ", ".join([x.type, *others])
            return self._written(f"{text} : ({types}) -> {_Value('', sizes, element).type}", sizes, element)

        kind = self.below(self._kinds)
        if kind in (23, 24, 25) and not self._collectives:
            kind += 13
        if kind < 4:
            return unary(("tanh", "exponential", "sine", "negate")[kind])
        if kind < 9:
            other = self.one_of(alike)
            name = ("add", "multiply", "maximum", "subtract", "divide")[kind - 4]
            return self._written(f"stablehlo.{name} {x.name}, {other.name} : {x.type}", x.sizes, x.element)
        if kind < 11:
            other_element = "bf16" if x.element == "f32" else "f32"
            return typed(f"stablehlo.convert {x.name}", x.sizes, element=other_element)
        if len(x.sizes) == 1:
            sizes = (x.sizes[0], 256) if kind % 2 else (512, x.sizes[0])
            return typed(f"stablehlo.broadcast_in_dim {x.name}, dims = [{(kind + 1) % 2}]", sizes)
        rows, columns = x.sizes
        if kind < 14:
            dim, name = kind % 2, "maximum" if kind == 13 else "add"
            text = f"stablehlo.reduce({x.name} init: {zero}) applies stablehlo.{name}"
            text += f" across dimensions = [{dim}]"
            return typed(text, (x.sizes[1 - dim],), f"tensor<{x.element}>")
        if kind < 17:
            contracted = [
                (value, dim)
                for value in values
                if value.element == x.element
                for dim, size in enumerate(value.sizes)
                if len(value.sizes) == 2 and size == columns
            ]
            other, dim = contracted[self.below(len(contracted))] if contracted else (x, 1)
            text = f"stablehlo.dot_general {x.name}, {other.name}, contracting_dims = [1] x [{dim}]"
            return typed(text, (rows, other.sizes[1 - dim]), other.type)
        if kind == 17:
            return typed(f"stablehlo.transpose {x.name}, dims = [1, 0]", (columns, rows))
        if kind == 18:
            return typed(f"stablehlo.reshape {x.name}", (rows // 2, columns * 2))
        if kind == 19:
            return typed(f"stablehlo.slice {x.name} [0:{rows // 2}, 0:{columns}]", (rows // 2, columns))
        if kind == 20:
            text = f"stablehlo.dynamic_slice {x.name}, {index}, {index}, sizes = [{rows}, {columns // 2}]"
            return typed(text, (rows, columns // 2), *["tensor<i32>"] * 2)
        if kind == 21:
            parts = [value for value in values if len(value.sizes) == 2 and value.element == x.element]
            parts = [value for value in parts if value.sizes[0] <= rows and value.sizes[1] <= columns]
            part = self.one_of(parts)
            text = f"stablehlo.dynamic_update_slice {x.name}, {part.name}, {index}, {index}"
            return typed(text, x.sizes, part.type, *["tensor<i32>"] * 2)
        if kind == 22:
            other = self.one_of(alike)
            text = f"stablehlo.concatenate {x.name}, {other.name}, dim = 0"
            return typed(text, (2 * rows, columns), other.type)
        if kind == 23:
            if self.below(2):
                return typed(f'"stablehlo.all_reduce"({x.name}) <{{{_GROUPS}}}> {sum_}', x.sizes)
            return typed(f'"stablehlo.collective_permute"({x.name}) <{{{_RING}}}>', x.sizes)
        if kind == 24:
            text = f'"stablehlo.all_gather"({x.name}) <{{all_gather_dim = 1 : i64, {_GROUPS}}}>'
            return typed(text, (rows, 4 * columns))
        if kind == 25:
            text = f'"stablehlo.reduce_scatter"({x.name}) <{{scatter_dimension = 0 : i64, {_GROUPS}}}> {sum_}'
            return typed(text, (rows // 4, columns))
        return self._rare(kind, x, sum_)

    def _rare(self, kind: int, x: _Value, sum_: str) -> _Value:
        """Writes an operation that is a kernel of its own, or costs more than others."""
        rows, columns = x.sizes
        zero = self.zeros[x.element]

        def typed(text: str, sizes: tuple[int, ...], *others: str) -> _Value:
            types = ", ".join([x.type, *others])
            return self._written(
                f"{text} : ({types}) -> {_Value('', sizes, x.element).type}", sizes, x.element
            )

        if kind in (26, 27):
            compared = f"tensor<{x.element}>, %q: tensor<{x.element}>"
            text = f""""stablehlo.sort"({x.name}) <{{dimension = {kind - 26} : i64}}> ({{
        ^bb0(%p: {compared}):
          %t = stablehlo.compare LT, %p, %q : (tensor<{x.element}>, tensor<{x.element}>) -> tensor<i1>
          stablehlo.return %t : tensor<i1>
        }})"""
            return typed(text, x.sizes)
        if kind == 28:
            rows_of = self._written("stablehlo.iota dim = 0 : tensor<16x1xi32>", (16, 1), "i32")
            updates = typed(f"stablehlo.slice {x.name} [0:16, 0:{columns}]", (16, columns))
            into = (
                x
                if rows > 256
                else self._written(
                    f"stablehlo.broadcast_in_dim {zero}, dims = [] : (tensor<{x.element}>) -> {x.type}",
                    x.sizes,
                    x.element,
                )
            )
            text = f""""stablehlo.scatter"({into.name}, {rows_of.name}, {updates.name}) <{{
          scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
          scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> {sum_}"""
            return typed(text, x.sizes, rows_of.type, updates.type)
        if kind == 29:
            rows_of = self._written("stablehlo.iota dim = 0 : tensor<64x1xi32>", (64, 1), "i32")
            text = f""""stablehlo.gather"({x.name}, {rows_of.name}) <{{
          dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
          start_index_map = [0], index_vector_dim = 1>,
          slice_sizes = array<i64: 1, {columns}>}}>"""
            return typed(text, (64, columns), rows_of.type)
        if kind == 30:
            text = f""""stablehlo.reduce_window"({x.name}, {zero}) <{{
          window_dimensions = array<i64: 1, {columns}>,
          padding = dense<[[0, 0], [{columns - 1}, 0]]> : tensor<2x2xi64>}}> {sum_}"""
            return typed(text, x.sizes, f"tensor<{x.element}>")
        if kind == 31:
            text = f"stablehlo.pad {x.name}, {zero}, low = [0, 128], high = [8, 0], interior = [0, 0]"
            return typed(text, (rows + 8, columns + 128), f"tensor<{x.element}>")
        if kind == 32:
            cost = (r"\22flops\22: 12345678, ", "")[rows % 3 == 0] + r"\22bytes_accessed\22: 345678"
            config = f'backend_config = "{{\\22cost_estimate\\22: {{{cost}}}}}"'
            return typed(f"stablehlo.custom_call @tpu_custom_call({x.name}) {{{config}}}", x.sizes)
        if kind == 33:
            name = ("chlo.erf", "chlo.erf_inv", "stablehlo.cosine", "stablehlo.tan")[self.below(4)]
            arrow = f" -> {x.type}" if "chlo" in name else ""
            return self._written(f"{name} {x.name} : {x.type}{arrow}", x.sizes, x.element)
        if kind == 34:
            return self._written(f"stablehlo.reverse {x.name}, dims = [0] : {x.type}", x.sizes, x.element)
        if kind == 36:
            half = f"tensor<{rows}x{columns // 2 + 1}xcomplex<f32>>"
            x = self._written(
                f"stablehlo.convert {x.name} : ({x.type}) -> {x._replace(element='f32').type}", *x[1:]
            )
            x = x._replace(element="f32")
            text = f"stablehlo.fft {x.name}, type = RFFT, length = [{columns}] : ({x.type}) -> {half}"
            name = self._written(text, (), "").name
            return self._written(
                f"stablehlo.real {name} : ({half}) -> tensor<{rows}x{columns // 2 + 1}xf32>",
                (rows, columns // 2 + 1),
                "f32",
            )
        if kind > 36:
            return self._softmax(x, has_product=kind == 37)
        square = self._written(
            f"stablehlo.slice {x.name} [0:64, 0:64] : ({x.type}) -> tensor<64x64x{x.element}>",
            (64, 64),
            x.element,
        )
        return self._written(
            f"stablehlo.cholesky {square.name}, lower = true : {square.type}", (64, 64), x.element
        )

    def _softmax(self, x: _Value, has_product: bool) -> _Value:
        """Writes a softmax along rows, and its product with itself."""
        rows, scalar = x.sizes[0], f"tensor<{x.element}>"

        def reduced(value: _Value, name: str) -> _Value:
            text = f"stablehlo.reduce({value.name} init: {self.zeros[x.element]}) applies stablehlo.{name}"
            vector = _Value("", (rows,), x.element)
            text += f" across dimensions = [1] : ({x.type}, {scalar}) -> {vector.type}"
            of_rows = self._written(text, *vector[1:])
            text = f"stablehlo.broadcast_in_dim {of_rows.name}, dims = [0] : ({of_rows.type}) -> {x.type}"
            return self._written(text, *x[1:])

        def written(text: str) -> _Value:
            return self._written(f"stablehlo.{text} : {x.type}", *x[1:])

        differences = written(f"subtract {x.name}, {reduced(x, 'maximum').name}")
        exponentials = written(f"exponential {differences.name}")
        softmax = written(f"divide {exponentials.name}, {reduced(exponentials, 'add').name}")
        if not has_product:
            return softmax
        product = _Value("", (rows, rows), x.element)
        text = f"stablehlo.dot_general {softmax.name}, {x.name}, contracting_dims = [1] x [1]"
        return self._written(f"{text} : ({x.type}, {x.type}) -> {product.type}", *product[1:])


def program(number: int) -> str:
    """A program of ten to twenty operations, a quarter of them in a loop over a stack of weights.

    From the sixtieth on, some are rare ones, as are those of sharded programs from the thirtieth on.
    """
    drawn = _Drawn(f"program {number}", kinds=26 if number < 60 else 36 if number < 84 else 39)
    a, b = _Value("%a", (512, 256), "f32"), _Value("%b", (256, 512), "bf16" if number % 3 else "f32")
    stack, c = _Value("%w", (4, 256, 256), a.element), _Value("%c", (256,), "f32")
    values = [a, b, c]
    for _ in range(5 + drawn.below(5)):
        values.append(drawn.operation(values))
    if number % 2:
        carried, i, one = _Value("%x", a.sizes, a.element), "%i", drawn.zeros["i32"]
        types = f"tensor<i32>, {carried.type}, {stack.type}"
        inside = _Drawn(f"loop {number}")
        inside.zeros, inside._numbers = drawn.zeros, count(1000)
        inside.lines.clear()
        weight = _Value("%m", (256, 256), stack.element)
        body = [carried, weight, b]
        for _ in range(4 + drawn.below(4)):
            body.append(inside.operation(body))
        last = next(value for value in reversed(body) if (value.sizes, value.element) == a[1:])
        drawn.lines.append(f"""%loop:3 = stablehlo.while(%i = {one}, %x = %a, %s = %w) : {types}
      cond {{
        %four = stablehlo.constant dense<4> : tensor<i32>
        %less = stablehlo.compare LT, {i}, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %less : tensor<i1>
      }} do {{
        %step = stablehlo.constant dense<1> : tensor<i32>
        %next = stablehlo.add {i}, %step : tensor<i32>
        %layer = stablehlo.dynamic_slice %s, {i}, {one}, {one}, sizes = [1, 256, 256]
          : ({stack.type}, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x256xf32>
        %m = stablehlo.reshape %layer : (tensor<1x256x256xf32>) -> {weight.type}
        {chr(10).join(inside.lines)}
        %y = stablehlo.dot_general {last.name}, %m, contracting_dims = [1] x [0]
          : ({last.type}, {weight.type}) -> {carried.type}
        stablehlo.return %next, %y, %s : {types}
      }}""")
        values.append(_Value("%loop#1", carried.sizes, carried.element))
        for _ in range(3):
            values.append(drawn.operation(values))
    used = " ".join(drawn.lines)
    ends = (",", " ", ")")
    returned = [value for value in values[3:] if not any(f"{value.name}{end}" in used for end in ends)]
    results = returned or values[-1:]
    types = ", ".join(value.type for value in results)
    return f"""
    func.func @main(%a: {a.type}, %b: {b.type}, %c: {c.type}, %w: {stack.type}) -> ({types}) {{
      {chr(10).join(drawn.lines)}
      return {", ".join(value.name for value in results)} : {types}
    }}
    """


def sharded_program(number: int, steps: int = 8) -> str:
    """A program without collectives that is sharded: its arguments, a result, and each fourth step."""
    drawn = _Drawn(f"sharded {number}", 23 if number < 30 or number > 99 else 39, collectives=False)
    mesh = ('"x"=4, "y"=2', '"x"=2, "y"=4', '"x"=8', '"x"=2, "y"=2, "z"=2')[number % 4]

    def sharding(rank: int) -> str:
        dims: list[list[str]] = [[] for _ in range(rank)]
        for axis in re.findall(r'"\w"', mesh):
            if (dim := drawn.below(rank + 1)) < rank:
                dims[dim].append(axis)
        return "[" + ", ".join("{" + ", ".join(axes) + "}" for axes in dims) + "]"

    values = [
        _Value("%a", (512, 256), "f32"),
        _Value("%b", (256, 512), "f32"),
        _Value("%w", (256, 256), "f32"),
    ]
    arguments = ", ".join(
        f"{value.name}: {value.type} {{sdy.sharding = #sdy.sharding<@mesh, {sharding(2)}>}}"
        f' loc("{value.name[1:]}")'
        for value in values
    )
    for step in range(steps + drawn.below(6)):
        values.append(drawn.operation(values))
        drawn.lines[-1] += (
            f' loc("jit(step)/{"transpose(jvp())/" * (step >= steps)}op"("f"("model.py":{step + 1}:5)))'
        )
        if step % 4 == 3:
            value = values[-1]
            other = sharding(len(value.sizes))
            drawn.lines.append(
                f"%c{step} = sdy.sharding_constraint {value.name} <@mesh, {other}> : {value.type}"
                f' loc("jit(step)/sharding_constraint"("f"("model.py":{step + 1}:9)))'
            )
            values[-1] = value._replace(name=f"%c{step}")
    used = " ".join(drawn.lines)
    # Before a type, a name is that of what is constrained, and not used otherwise.
    returned = [value for value in values[3:] if not any(f"{value.name}{end}" in used for end in ",)")]
    results = returned or values[-1:]
    types = ", ".join(value.type for value in results)
    first, *others = results
    shardings = ", ".join(
        [f"{first.type} {{sdy.sharding = #sdy.sharding<@mesh, {sharding(len(first.sizes))}>}}"]
        + [value.type for value in others]
    )
    return f"""
    sdy.mesh @mesh = <[{mesh}]>
    func.func @main({arguments}) -> ({shardings}) {{
      {chr(10).join(drawn.lines)}
      return {", ".join(value.name for value in results)} : {types}
    }}
    """


@pytest.mark.parametrize("number", range(100))
def test_figures_are_those_of_the_page(number: int) -> None:
    report = report_on(module(program(number)))
    assert report.memory.peak >= report.memory.arguments
