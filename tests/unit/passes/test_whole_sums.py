"""Sums with other terms, such as those of a long residual connection, are examined once."""

import pytest

import sdyopt
from passes.partitioning import merge_all_reduces
from sdyopt.mlir.ir.value import Value


def test_sums_of_a_mixed_sum_are_not_examined_again(monkeypatch: pytest.MonkeyPatch) -> None:
    count, examined = 200, 0
    is_zero = merge_all_reduces._is_zero

    def counted(value: Value) -> bool:
        nonlocal examined
        examined += 1
        return is_zero(value)

    monkeypatch.setattr(merge_all_reduces, "_is_zero", counted)
    adds = [f"%{n + 1} = stablehlo.add %{n}, %a : tensor<8xf32>" for n in range(count)]
    lines = [
        "func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {",
        "%0 = stablehlo.add %a, %a : tensor<8xf32>",
    ]
    text = "\n".join([*lines, *adds, f"return %{count} : tensor<8xf32>", "}"])
    module = sdyopt.parse(text)
    after = module.run("-sdy-merge-all-reduces=whole-sums-only=true")
    assert str(after) == str(module)
    assert examined == 1
