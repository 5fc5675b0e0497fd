"""Lists of integers that are written as splats, which the verifier expands up to a bound."""

import sdyopt

RANK = 20_000


def test_a_splat_list_may_be_as_long_as_the_rank_requires() -> None:
    tensor, ones = f"tensor<{'1x' * RANK}f32>", ", ".join(["1"] * RANK)
    text = f"""func.func @main(%a: {tensor}, %b: tensor<f32>) -> {tensor} {{
      %0 = "stablehlo.reduce_window"(%a, %b) <{{
        window_dimensions = array<i64: {ones}>, padding = dense<0> : tensor<{RANK}x2xi64>
      }}> ({{
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        "stablehlo.return"(%x) : (tensor<f32>) -> ()
      }}) : ({tensor}, tensor<f32>) -> {tensor}
      return %0 : {tensor}
    }}"""
    assert "stablehlo.reduce_window" in str(sdyopt.parse(text))
