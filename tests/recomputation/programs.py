"""Small programs whose memory, FLOPs and executions are recomputed from their text."""

_LOOP = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<64x32xf32>
    {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}, %unknown: tensor<i32>)
    -> tensor<64x32xf32> {{
  %start = stablehlo.constant dense<{start}> : tensor<i32>
  %step = stablehlo.constant dense<2> : tensor<i32>
  %0:2 = stablehlo.while(%i = %start, %v = %a) : tensor<i32>, tensor<64x32xf32>
      attributes {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{{"x"}}, {{}}]>]>}}
  cond {{
    %bound = stablehlo.constant dense<{bound}> : tensor<i32>
    %c = stablehlo.compare {compare} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %g = sdy.all_gather [{{"x"}}, {{}}] %v out_sharding=<@mesh, [{{}}, {{}}]> : tensor<64x32xf32>
    %t = stablehlo.transpose %g, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
    %d = stablehlo.dot_general %g, %t, contracting_dims = [1] x [0]
        : (tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
    %h = sdy.all_slice [{{"x"}}, {{}}] %g out_sharding=<@mesh, [{{"x"}}, {{}}]> : tensor<64x32xf32>
    %j = stablehlo.{next} : tensor<i32>
    stablehlo.return %j, %h : tensor<i32>, tensor<64x32xf32>
  }}
  return %0#1 : tensor<64x32xf32>
}}
"""


def _loop(start: int, compare: str, bound: int, next: str = "add %i, %step") -> str:
    return _LOOP.format(start=start, compare=compare, bound=bound, next=next)


LOOPS = {
    "counts_up": _loop(0, "LT, %i, %bound, SIGNED", 7),
    "counts_up_to_and_with": _loop(-3, "LE, %i, %bound, SIGNED", 7),
    "counts_down": _loop(10, "GE, %i, %bound, SIGNED", -3, "subtract %i, %step"),
    "bound_first": _loop(0, "GT, %bound, %i, SIGNED", 7, "add %step, %i"),
    "until_equal": _loop(0, "NE, %i, %bound, SIGNED", 10),
    "never_equal": _loop(1, "NE, %i, %bound, SIGNED", 10),
    "no_trip": _loop(9, "LT, %i, %bound, SIGNED", 7),
    "unknown_step": _loop(0, "LT, %i, %bound, SIGNED", 7, "add %i, %unknown"),
    "unknown_bound": _loop(0, "LT, %i, %unknown, SIGNED", 7),
    "doubles": _loop(1, "LT, %i, %bound, SIGNED", 7, "add %i, %i"),
    "constant_minus_counter": _loop(0, "LT, %i, %bound, SIGNED", 7, "subtract %step, %i"),
}

# A bound that reaches a loop through another loop and a call. The outer loop's condition has a call.
NESTED_LOOPS = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<64x32xf32>, %p: tensor<i1>) -> tensor<64x32xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %n = %five, %v = %a) : tensor<i32>, tensor<i32>, tensor<64x32xf32>
  cond {
    %q = func.call @product(%p) : (tensor<i1>) -> tensor<i1>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r = func.call @loop(%n, %v) : (tensor<i32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %s = func.call @loop(%n, %r) : (tensor<i32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %n, %s : tensor<i32>, tensor<i32>, tensor<64x32xf32>
  }
  return %0#2 : tensor<64x32xf32>
}
func.func private @loop(%n: tensor<i32>, %a: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %v = %a) : tensor<i32>, tensor<64x32xf32>
  cond {
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %two = stablehlo.constant dense<2> : tensor<i32>
    %s = sdy.all_slice [{"x"}, {}] %v out_sharding=<@mesh, [{"x"}, {}]> : tensor<64x32xf32>
    %g = sdy.all_gather [{"x"}, {}] %s out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32>
    %j = stablehlo.add %i, %two : tensor<i32>
    stablehlo.return %j, %g : tensor<i32>, tensor<64x32xf32>
  }
  %1 = stablehlo.add %0#1, %a : tensor<64x32xf32>
  return %1 : tensor<64x32xf32>
}
func.func private @product(%p: tensor<i1>) -> tensor<i1> {
  %0 = stablehlo.constant dense<1.0> : tensor<8x8xf32>
  %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [0]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.compare EQ, %p, %p : (tensor<i1>, tensor<i1>) -> tensor<i1>
  return %2 : tensor<i1>
}
"""

# Branches that use values from outside, a branch in a branch, a case with one branch, an unused argument.
BRANCHES = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %p: tensor<i1>,
    %k: tensor<i32>, %unused: tensor<4096xf32>) -> tensor<64x32xf32> {
  %large = stablehlo.iota dim = 0 : tensor<64x32xf32>
  %small = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}
      : tensor<64x32xf32>
  %0 = "stablehlo.case"(%k) ({
    %1 = stablehlo.add %small, %small
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<64x32xf32>
    %2 = sdy.all_gather [{}, {"y"}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32>
    stablehlo.return %2 : tensor<64x32xf32>
  }, {
    %1 = "stablehlo.if"(%p) ({
      %2 = stablehlo.sine %large : tensor<64x32xf32>
      %3 = stablehlo.dot_general %2, %large, contracting_dims = [1] x [1]
          : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32>
      stablehlo.return %2 : tensor<64x32xf32>
    }, {
      stablehlo.return %a : tensor<64x32xf32>
    }) : (tensor<i1>) -> tensor<64x32xf32>
    stablehlo.return %1 : tensor<64x32xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<i32>)
      -> tensor<64x32xf32>
  %4 = "stablehlo.case"(%k) ({
    %5 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32>
    stablehlo.return %5 : tensor<64x32xf32>
  }) : (tensor<i32>) -> tensor<64x32xf32>
  %6 = stablehlo.add %4, %0 : tensor<64x32xf32>
  return %6 : tensor<64x32xf32>
}
"""

MANUAL_COMPUTATIONS = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}, {}]>]
      out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<16x64xf32>) {
    %1 = stablehlo.dot_general %b, %b, contracting_dims = [1] x [1]
        : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x16xf32>
    %2 = sdy.manual_computation(%b) in_shardings=[<@mesh, [{}, {"y"}]>]
        out_shardings=[<@mesh, [{}, {"y"}]>] manual_axes={"y"} (%c: tensor<16x32xf32>) {
      %3 = stablehlo.dot_general %c, %c, contracting_dims = [1] x [1]
          : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x16xf32>
      %4 = stablehlo.dot_general %3, %c, contracting_dims = [1] x [0]
          : (tensor<16x16xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
      sdy.return %4 : tensor<16x32xf32>
    } : (tensor<16x64xf32>) -> tensor<16x64xf32>
    sdy.return %2 : tensor<16x64xf32>
  } : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
"""

# Indivisible sizes, dimensions that are sharded in one operand only, feature groups and batch groups.
PRODUCTS = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<7x5xf32>
    {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<5x3xf32>,
    %v: tensor<5xf32>, %i: tensor<8x16x16x32xf32>
        {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>},
    %k: tensor<3x3x8x64xf32>
        {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"y"}]>}, %l: tensor<3x3x32x64xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<7x5xf32>, tensor<5x3xf32>) -> tensor<7x3xf32>
  %1 = stablehlo.dot_general %a, %a, batching_dims = [0] x [0], contracting_dims = [] x []
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}, {"x"}]>]>}
          : (tensor<7x5xf32>, tensor<7x5xf32>) -> tensor<7x5x5xf32>
  %2 = stablehlo.dot %a, %v : (tensor<7x5xf32>, tensor<5xf32>) -> tensor<7xf32>
  %3 = stablehlo.dot %v, %v : (tensor<5xf32>, tensor<5xf32>) -> tensor<f32>
  %4 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {} {batch_group_count = 1 : i64, feature_group_count = 4 : i64}
          : (tensor<8x16x16x32xf32>, tensor<3x3x8x64xf32>) -> tensor<8x14x14x64xf32>
  %5 = stablehlo.convolution(%i, %l) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {} {batch_group_count = 4 : i64, feature_group_count = 1 : i64}
          : (tensor<8x16x16x32xf32>, tensor<3x3x32x64xf32>) -> tensor<2x14x14x64xf32>
  %6 = stablehlo.convolution(%i, %l) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {} {batch_group_count = 1 : i64, feature_group_count = 1
          : i64, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}, {}, {}]>]>}
              : (tensor<8x16x16x32xf32>, tensor<3x3x32x64xf32>) -> tensor<8x14x14x64xf32>
  return
}
"""

# Packed, quantized and complex elements, tokens and tuples, sub-axes, reductions, unused results.
VALUES = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<9x7xi4>
    {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<3x!quant.uniform<u8:f32, 0.5>>,
    %c: tensor<7xcomplex<f64>>, %d: tensor<9xi1>
        {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}p1]>}, %e: tensor<0x5xf32>,
    %f: tensor<64x32xf32>
        {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], replicated={"y"}>}, %t: !stablehlo.token)
    -> (tensor<9x7xi4>, tensor<64xf32>, tensor<64xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = stablehlo.custom_call @two(%f) : (tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<1000xi2>)
  %1 = stablehlo.tuple %f, %t : tuple<tensor<64x32xf32>, !stablehlo.token>
  %2 = stablehlo.reduce(%0#0 init: %zero) across dimensions = [1]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>}
          : (tensor<64x32xf32>, tensor<f32>) -> tensor<64xf32>
   reducer(%x: tensor<f32>, %y: tensor<f32>) {
    %3 = stablehlo.constant dense<3.0> : tensor<f32>
    %4 = stablehlo.add %x, %3 : tensor<f32>
    %5 = stablehlo.add %4, %y : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }
  return %a, %2, %2 : tensor<9x7xi4>, tensor<64xf32>, tensor<64xf32>
}
"""

# Only @main is called from outside; a function that nothing calls never runs.
CALLS = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = call @twice(%a) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %1 = call @once(%0) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  return %1 : tensor<64x32xf32>
}
func.func private @twice(%a: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = call @once(%a) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %1 = call @once(%0) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %2 = stablehlo.add %1, %a : tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}
func.func private @once(%a: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = sdy.all_slice [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<64x32xf32>
  %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32>
  %2 = stablehlo.add %1, %a : tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}
func.func private @never(%a: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<64x32xf32>
  %1 = call @once(%0) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  return %1 : tensor<64x32xf32>
}
"""

# StableHLO's collectives in a partitioned program: types are local, and groups list devices.
REPLICA_GROUPS = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64,
    replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>}>
    : (tensor<8x6xf32>) -> tensor<32x6xf32>
  %1 = "stablehlo.reduce_scatter"(%0) <{
    replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<32x6xf32>) -> tensor<4x6xf32>
  %2 = "stablehlo.all_reduce"(%1) <{
    replica_groups = dense<[[0, 1, -1], [2, 3, 4], [5, 6, 7]]> : tensor<3x3xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = "stablehlo.collective_permute"(%2) <{source_target_pairs = dense<[[0, 1], [1, 0], [2, 2]]>
    : tensor<3x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %4 = "stablehlo.all_to_all"(%3) <{
    replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>,
    concat_dimension = 0 : i64, split_count = 2 : i64, split_dimension = 1 : i64}>
    : (tensor<4x6xf32>) -> tensor<8x3xf32>
  %5 = stablehlo.concatenate %4, %4, dim = 1 : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x6xf32>
  return %5 : tensor<8x6xf32>
}
"""

# Fused, though chlo gives these operations no elementwise trait.
CHLO = """
func.func @main(%a: tensor<64x32xf32>, %b: tensor<64x32xf32>) -> tensor<64xf32> {
  %0 = chlo.next_after %a, %b : tensor<64x32xf32>, tensor<64x32xf32> -> tensor<64x32xf32>
  %1 = chlo.polygamma %0, %b : tensor<64x32xf32>, tensor<64x32xf32> -> tensor<64x32xf32>
  %2 = chlo.zeta %1, %b : tensor<64x32xf32>, tensor<64x32xf32> -> tensor<64x32xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<64x32xf32>, tensor<f32>) -> tensor<64xf32>
  return %3 : tensor<64xf32>
}
"""

PROGRAMS = {
    "chlo": CHLO,
    **LOOPS,
    "replica_groups": REPLICA_GROUPS,
    "nested_loops": NESTED_LOOPS,
    "branches": BRANCHES,
    "manual_computations": MANUAL_COMPUTATIONS,
    "products": PRODUCTS,
    "values": VALUES,
    "calls": CALLS,
    "public_functions": CALLS.replace("@main", "@first").replace("private @never", "@second"),
}
