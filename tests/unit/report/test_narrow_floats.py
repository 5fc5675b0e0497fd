"""Which 32-bit floats are needed with 16 bits, as worked examples."""

import pytest

import sdyopt
from sdyopt.analysis.figures.narrow_floats import is_for_products, narrower_beside
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.stablehlo.collectives import AllGatherOp, AllReduceOp
from sdyopt.mlir.ir.operation import Op

WIDE, NARROW = "tensor<8x8xf32>", "tensor<8x8xbf16>"


def _main(body: str, returned: str = "%c") -> Op:
    """A function of matrices %v, %b and %c, and of integers."""
    return sdyopt.parse(f"""
    func.func @main(%v: {WIDE}, %b: {WIDE}, %c: {WIDE}, %i: tensor<i32>, %q: tensor<8x8xi1>) -> {WIDE} {{
      %minus = stablehlo.constant dense<0xFF800000> : tensor<f32>
      {body}
      return {returned} : {WIDE}
    }}
    """).ir


def _product(of: str = "%v", precision: str = "DEFAULT") -> str:
    """A product, after the lines that compute its operand."""
    lines, _, value = of.rpartition("\n")
    attributes = f"contracting_dims = [1] x [0], precision = [{precision}, {precision}]"
    return f"{lines}\n%p = stablehlo.dot_general {value}, %b, {attributes} : ({WIDE}, {WIDE}) -> {WIDE}"


def _convert(value: str, type: str, new: str) -> str:
    return f"%n{value[1:]} = stablehlo.convert {value} : ({type}) -> {new}\n"


def _gather(operand: str = "%v", type: str = WIDE) -> str:
    """A gather %g of one device."""
    attributes = "all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>"
    return f'%g = "stablehlo.all_gather"({operand}) <{{{attributes}}}> : ({type}) -> {type}\n'


SUM = f"""%g = "stablehlo.all_reduce"(%v) <{{replica_groups = dense<0> : tensor<1x1xi64>}}> ({{
      ^bb0(%l: tensor<f32>, %r: tensor<f32>):
        %s = stablehlo.add %l, %r : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }}) : ({WIDE}) -> {WIDE}
"""
TRANSPOSE = f"%t = stablehlo.transpose {{}}, dims = [1, 0] : ({WIDE}) -> {WIDE}\n"
SLICE = f"""%t = stablehlo.dynamic_slice %v, %i, %i, sizes = [8, 8]
  : ({WIDE}, tensor<i32>, tensor<i32>) -> {WIDE}
"""
PUT = f"""%z = stablehlo.tanh %c : {WIDE}
%t = stablehlo.dynamic_update_slice {{}}, %v, %i, %i : ({WIDE}, {WIDE}, tensor<i32>, tensor<i32>) -> {WIDE}
"""
REDUCE = f"""%r = stablehlo.reduce(%v init: %minus) applies stablehlo.{{}} across dimensions = [0]
  : ({WIDE}, tensor<f32>) -> tensor<8xf32>
"""


@pytest.mark.parametrize(
    ("body", "is_so"),
    [
        ("", False),
        (_product(), True),
        (_product(precision="HIGHEST"), False),
        (_convert("%v", WIDE, NARROW), True),
        (_convert("%v", WIDE, "tensor<8x8xf64>"), False),
        (_convert("%v", WIDE, "tensor<8x8xi8>"), False),
        # All uses are, also where it is moved to.
        (f"{_product()}\n%t = stablehlo.tanh %v : {WIDE}", False),
        (_product(f"{TRANSPOSE.format('%v')}%t"), True),
        (TRANSPOSE.format("%v"), False),
        (_product(f"%t = stablehlo.maximum %v, %c : {WIDE}\n%t"), True),
        (_product(f"%t = stablehlo.add %v, %c : {WIDE}\n%t"), False),
        (_product(f"%t = stablehlo.select %q, %v, %c : tensor<8x8xi1>, {WIDE}\n%t"), True),
        (_product(f"{SLICE}%t"), True),
        (_product(f"{_gather()}%g"), True),
        # Sums are of 32 bits.
        (_product(f"{SUM}%g"), False),
        (REDUCE.format("maximum") + _convert("%r", "tensor<8xf32>", "tensor<8xbf16>"), True),
        (REDUCE.format("add") + _convert("%r", "tensor<8xf32>", "tensor<8xbf16>"), False),
        # What is written into an argument has the bits of that.
        (_product(f"{PUT.format('%z')}%t"), True),
        (_product(f"{PUT.format('%c')}%t"), False),
    ],
)
def test_a_value_is_for_products_if_only_they_use_it_wherever_it_is_moved(body: str, is_so: bool) -> None:
    function = next(op for op in _main(body).walk() if isinstance(op, FuncOp))
    assert is_for_products(function.entry.arguments[0]) == is_so


def test_what_is_returned_is_for_others_too() -> None:
    program = _main(_product(), returned="%v")
    function = next(op for op in program.walk() if isinstance(op, FuncOp))
    assert not is_for_products(function.entry.arguments[0])


@pytest.mark.parametrize(
    ("body", "type"),
    [
        (_gather(), None),
        (_gather() + _convert("%g", WIDE, NARROW), "bf16"),
        (_gather() + TRANSPOSE.format("%g") + _convert("%t", WIDE, "tensor<8x8xf16>"), "f16"),
        # Something else uses it, or it has no fewer bits.
        (f"{_gather()}{_convert('%g', WIDE, NARROW)}%u = stablehlo.tanh %g : {WIDE}", None),
        (_gather() + _convert("%g", WIDE, "tensor<8x8xf64>"), None),
        (
            _convert("%v", WIDE, NARROW) + _gather("%nv", NARROW) + _convert("%g", NARROW, "tensor<8x8xf16>"),
            None,
        ),
        # What it is converted from.
        (_convert("%v", WIDE, NARROW) + _convert("%nv", NARROW, WIDE) + _gather("%nnv"), "bf16"),
        (SUM + _convert("%g", WIDE, NARROW), None),
    ],
)
def test_a_gather_is_of_the_narrower_type_beside_it(body: str, type: str | None) -> None:
    collective = next(op for op in _main(body).walk() if isinstance(op, AllGatherOp | AllReduceOp))
    narrow = narrower_beside(collective)
    assert (None if narrow is None else str(plain_type(narrow))) == type
