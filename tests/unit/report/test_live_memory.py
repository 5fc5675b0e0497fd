"""Peaks of memory, worked out by hand. A tensor<256xf32> takes 1 KiB."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from sdyopt.analysis.figures.buffers import Buffer
from sdyopt.analysis.figures.local_shapes import element_bits
from sdyopt.analysis.figures.peak_memory import LiveMemory, Peak, _OnChip, donations
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.topology import built_in_topology
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.ir.types import IntegerType, RankedTensor
from sdyopt.mlir.ir.value import Value
from tests.unit.report.programs import module, report

KIB = 1024


def test_arguments_and_results_take_memory_during_the_whole_run() -> None:
    # %0 is an operand of a dot that does not compute it, so it has a buffer. %1 is the result.
    memory = report(
        """
        func.func @main(%a: tensor<16x16xf32>) -> tensor<16x16xf32> {
          %0 = stablehlo.tanh %a : tensor<16x16xf32>
          %1 = stablehlo.dot %0, %0 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
          return %1 : tensor<16x16xf32>
        }
        """
    ).memory
    assert (memory.arguments, memory.results, memory.constants) == (KIB, KIB, 0)
    assert memory.peak == 3 * KIB


def test_an_elementwise_operation_is_fused_into_its_use() -> None:
    memory = report(
        """
        func.func @main(%a: tensor<256xf32>) -> tensor<256xf32> {
          %0 = stablehlo.negate %a : tensor<256xf32>
          %1 = stablehlo.add %0, %0 : tensor<256xf32>
          return %1 : tensor<256xf32>
        }
        """
    ).memory
    assert memory.peak == 2 * KIB


def test_a_value_with_two_users_has_a_buffer_which_the_last_of_them_overwrites() -> None:
    # %0 is for %1 and %2; %2 is written over %0, and the result %3 has its own memory.
    memory = report(
        """
        func.func @main(%a: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
          %0 = stablehlo.negate %a : tensor<16x16xf32>
          %1 = stablehlo.sine %0 : tensor<16x16xf32>
          %2 = stablehlo.cosine %0 : tensor<16x16xf32>
          %3 = stablehlo.dot %2, %2 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
          return %1, %3 : tensor<16x16xf32>, tensor<16x16xf32>
        }
        """
    ).memory
    assert memory.peak == 4 * KIB


def test_an_operation_overwrites_an_operand_of_the_operations_fused_into_it() -> None:
    # %2 is fused into %3, which is written over %0.
    memory = report(
        """
        func.func @main(%a: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
          %0 = stablehlo.negate %a : tensor<16x16xf32>
          %1 = stablehlo.sine %0 : tensor<16x16xf32>
          %2 = stablehlo.cosine %0 : tensor<16x16xf32>
          %3 = stablehlo.negate %2 : tensor<16x16xf32>
          %4 = stablehlo.dot %3, %3 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
          return %1, %4 : tensor<16x16xf32>, tensor<16x16xf32>
        }
        """
    ).memory
    assert memory.peak == 4 * KIB


@pytest.mark.parametrize(("additions", "peak"), [(16, 4 * KIB), (17, 5 * KIB)])
def test_at_most_32_operands_of_fused_operations_are_considered(additions: int, peak: int) -> None:
    # From the last addition on, the operands are %i, the addition before, %i and so on; the last one is %0.
    chain = "\n".join(f"%{n + 2} = stablehlo.add %{n + 1 if n else 0}, %i : T" for n in range(additions))
    last = additions + 1
    memory = report(
        f"""
        func.func @main(%a: T) -> (T, T) {{
          %i = stablehlo.iota dim = 0 : T
          %0 = stablehlo.dot %a, %a : (T, T) -> T
          %1 = stablehlo.sine %0 : T
          {chain}
          %{last + 1} = stablehlo.cholesky %{last} : T
          return %1, %{last + 1} : T, T
        }}
        """.replace("T", "tensor<16x16xf32>")
    ).memory
    assert memory.peak == peak


def test_what_is_used_several_times_is_computed_again_from_what_is_no_larger() -> None:
    # %1 is computed in both sums from %0, which is live until the second one.
    memory = report(
        """
        func.func @main(%a: tensor<16x16xf32>) -> (tensor<f32>, tensor<f32>) {
          %z = stablehlo.constant dense<0.0> : tensor<f32>
          %0 = stablehlo.dot %a, %a : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
          %1 = stablehlo.multiply %0, %0 : tensor<16x16xf32>
          %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [0, 1]
              : (tensor<16x16xf32>, tensor<f32>) -> tensor<f32>
          %3 = stablehlo.negate %1 : tensor<16x16xf32>
          %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [0, 1]
              : (tensor<16x16xf32>, tensor<f32>) -> tensor<f32>
          return %2, %4 : tensor<f32>, tensor<f32>
        }
        """
    ).memory
    assert [each.value for each in memory.live_at_peak] == ["%arg0", "%0", "%2", "%4"]
    assert memory.peak == 2 * KIB + 8


def test_a_result_takes_the_memory_of_a_donated_argument_only_after_its_last_use() -> None:
    memory = report(
        """
        func.func @main(%a: tensor<16x16xf32> {tf.aliasing_output = 0 : i32}) -> tensor<16x16xf32> {
          %0 = stablehlo.dot %a, %a : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
          return %0 : tensor<16x16xf32>
        }
        """
    ).memory
    assert memory.peak == 2 * KIB


def test_a_constant_that_a_loop_does_not_change_is_computed_in_it() -> None:
    memory = report(
        """
        func.func @main(%n: tensor<i32>) -> tensor<f32> {
          %z = stablehlo.constant dense<0.0> : tensor<f32>
          %one = stablehlo.constant dense<1> : tensor<i32>
          %c = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
          %r:3 = stablehlo.while(%i = %n, %x = %c, %sum = %z) : tensor<i32>, tensor<16x16xf32>, tensor<f32>
          cond {
            %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %p : tensor<i1>
          } do {
            %next = stablehlo.add %i, %one : tensor<i32>
            %s = stablehlo.reduce(%x init: %sum) applies stablehlo.add across dimensions = [0, 1]
              : (tensor<16x16xf32>, tensor<f32>) -> tensor<f32>
            stablehlo.return %next, %x, %s : tensor<i32>, tensor<16x16xf32>, tensor<f32>
          }
          return %r#2 : tensor<f32>
        }
        """,
        "tpu-v5e:2x2",
    ).memory
    assert memory.peak < KIB


def test_constants_and_what_follows_from_them_are_computed_where_they_are_used() -> None:
    memory = report(
        """
        func.func @main(%a: tensor<256xf32>) -> tensor<256xf32> {
          %c = stablehlo.constant dense<1.0> : tensor<f32>
          %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<256xf32>
          %1 = stablehlo.iota dim = 0 : tensor<256xf32>
          %2 = stablehlo.add %0, %1 : tensor<256xf32>
          %3 = stablehlo.multiply %a, %2 : tensor<256xf32>
          %4 = stablehlo.add %3, %2 : tensor<256xf32>
          return %4 : tensor<256xf32>
        }
        """
    ).memory
    assert memory.peak == 2 * KIB


def test_a_donated_argument_has_the_memory_of_its_result() -> None:
    def peak(attribute: str) -> int:
        return report(
            f"""
            func.func @main(%a: tensor<256xf32> {{{attribute}}}, %b: tensor<64xf32>)
                -> (tensor<64xf32>, tensor<256xf32>) {{
              %0 = stablehlo.negate %a : tensor<256xf32>
              %1 = stablehlo.sine %b : tensor<64xf32>
              return %1, %0 : tensor<64xf32>, tensor<256xf32>
            }}
            """
        ).memory.peak

    assert peak("") == 2 * KIB + 2 * 256
    assert peak("tf.aliasing_output = 1 : i32") == KIB + 2 * 256
    assert peak("jax.buffer_donor = true") == KIB + 2 * 256


def test_an_update_writes_into_an_operand_that_is_not_used_afterwards() -> None:
    def peak(attribute: str) -> int:
        return report(
            f"""
            func.func @main(%a: tensor<256xf32> {{{attribute}}}, %b: tensor<16xf32>, %i: tensor<i32>)
                -> (tensor<256xf32>, tensor<f32>) {{
              %z = stablehlo.constant dense<0.0> : tensor<f32>
              %0 = stablehlo.dynamic_update_slice %a, %b, %i
                  : (tensor<256xf32>, tensor<16xf32>, tensor<i32>) -> tensor<256xf32>
              %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0]
                  : (tensor<256xf32>, tensor<f32>) -> tensor<f32>
              return %0, %1 : tensor<256xf32>, tensor<f32>
            }}
            """
        ).memory.peak

    assert peak("tf.aliasing_output = 0 : i32") == KIB + 64 + 4 + 4
    assert peak("") == 2 * KIB + 64 + 4 + 4


def test_a_function_does_not_write_into_an_operand_that_is_used_afterwards() -> None:
    # %a, %0, which the second dot needs, and the two results.
    memory = report(
        """
        func.func @main(%a: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
          %0 = stablehlo.dot %a, %a : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
          %1 = call @update(%0) : (tensor<16x16xf32>) -> tensor<16x16xf32>
          %2 = stablehlo.dot %0, %1 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
          return %1, %2 : tensor<16x16xf32>, tensor<16x16xf32>
        }
        func.func private @update(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
          %i = stablehlo.constant dense<0> : tensor<i32>
          %u = stablehlo.constant dense<1.0> : tensor<1x1xf32>
          %0 = stablehlo.dynamic_update_slice %x, %u, %i, %i
            : (tensor<16x16xf32>, tensor<1x1xf32>, tensor<i32>, tensor<i32>) -> tensor<16x16xf32>
          return %0 : tensor<16x16xf32>
        }
        """
    ).memory
    assert memory.peak == 4 * KIB


def test_a_sharded_value_takes_its_shard() -> None:
    memory = report(
        """
        sdy.mesh @mesh = <["x"=4]>
        func.func @main(%a: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
            -> (tensor<256xf32> {tf.aliasing_output = 0 : i32}) {
          return %a : tensor<256xf32>
        }
        """
    ).memory
    # The argument, and a copy of it as the result, which has no sharding of its own.
    assert memory.peak == KIB // 2
    assert [(value.bytes, value.replicas) for value in memory.live_at_peak] == [(KIB // 4, 1)]


def test_a_call_adds_what_the_function_needs_besides_its_arguments_and_results() -> None:
    # In @callee, %0 has a buffer of 1 KiB; its result is that of the call and of @main.
    memory = report(
        """
        func.func @main(%a: tensor<16x16xf32>) -> tensor<16x16xf32> {
          %0 = call @callee(%a) : (tensor<16x16xf32>) -> tensor<16x16xf32>
          return %0 : tensor<16x16xf32>
        }
        func.func private @callee(%b: tensor<16x16xf32>) -> tensor<16x16xf32> {
          %0 = stablehlo.tanh %b : tensor<16x16xf32>
          %1 = stablehlo.dot %0, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
          return %1 : tensor<16x16xf32>
        }
        """
    ).memory
    assert memory.peak == 3 * KIB


def test_a_loop_carries_a_value_in_one_buffer() -> None:
    # The argument may not be overwritten, so the loop has a buffer, which is the result's: %1 is written over
    # %v. %2 is written while %w is still needed.
    def peak(body: str) -> int:
        return report(
            f"""
            func.func @main(%a: tensor<16x16xf32>, %p: tensor<i1>) -> tensor<16x16xf32> {{
              %0 = stablehlo.while(%v = %a) : tensor<16x16xf32>
              cond {{
                stablehlo.return %p : tensor<i1>
              }} do {{
                {body}
                stablehlo.return %1 : tensor<16x16xf32>
              }}
              return %0 : tensor<16x16xf32>
            }}
            """
        ).memory.peak

    dot = "stablehlo.dot %v, %v : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>"
    assert peak("%1 = stablehlo.negate %v : tensor<16x16xf32>") == 2 * KIB + 1
    assert peak(f"%1 = {dot}") == 3 * KIB + 1


def test_values_of_dynamic_shape_are_counted_and_not_guessed() -> None:
    memory = report(
        """
        func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
          return %a : tensor<?xf32>
        }
        """
    ).memory
    assert (memory.peak, memory.unknown_values) == (0, 1)


def test_a_timeline_has_what_is_live_at_each_point_of_a_loop() -> None:
    # The loop carries %a; its body has two buffers of 1 KiB at once for %0 and %1.
    found = report(
        """
        func.func @main(%a: tensor<16x16xf32>) -> tensor<16x16xf32> {
          %i = stablehlo.constant dense<0> : tensor<i32>
          %n = stablehlo.constant dense<3> : tensor<i32>
          %l:2 = stablehlo.while(%j = %i, %x = %a) : tensor<i32>, tensor<16x16xf32>
          cond {
            %c = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          } do {
            %0 = stablehlo.dot %x, %x : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
            %1 = stablehlo.dot %0, %x : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
            %2 = stablehlo.dot %1, %0 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
            %one = stablehlo.constant dense<1> : tensor<i32>
            %k = stablehlo.add %j, %one : tensor<i32>
            stablehlo.return %k, %2 : tensor<i32>, tensor<16x16xf32>
          }
          return %l#1 : tensor<16x16xf32>
        }
        """
    )
    timeline = found.timeline(600)
    assert max(point.bytes for point in timeline.points) == found.memory.peak
    at = [point.bytes for point in timeline.points].index(found.memory.peak)
    live = [
        [[(0, 0, 0), *(each for each in group.changes if each[0] <= point)][-1] for group in timeline.groups]
        for point in range(len(timeline.points))
    ]
    assert sum(size for _, _, size in live[at]) == found.memory.peak
    assert [sum(number for _, number, _ in groups) for groups in live] == timeline.counts
    assert max(point for group in timeline.groups for point, _, _ in group.changes) < len(timeline.points)


def test_a_timeline_of_few_points_has_the_peak() -> None:
    chain = "\n".join(f"%{n + 1} = stablehlo.dot %{n}, %{n} : (t, t) -> t" for n in range(50))
    found = report(
        f"func.func @main(%0: t) -> t {{ {chain}\n return %50 : t }}".replace("t,", "tensor<16x16xf32>,")
        .replace(": t)", ": tensor<16x16xf32>)")
        .replace("-> t", "-> tensor<16x16xf32>")
        .replace(" t)", " tensor<16x16xf32>)")
        .replace("%50 : t ", "%50 : tensor<16x16xf32> ")
    )
    timeline = found.timeline(7)
    assert len(timeline.points) <= 7
    assert max(point.bytes for point in timeline.points) == found.memory.peak


@pytest.mark.parametrize(("width", "bits"), [(1, 8), (2, 2), (4, 4), (7, 7), (8, 8), (9, 16), (64, 64)])
def test_integers_take_whole_bytes_except_for_those_of_less_than_8_bits(width: int, bits: int) -> None:
    assert element_bits(IntegerType(width)) == bits


def test_a_value_that_is_partly_on_the_chip_counts_the_rest() -> None:
    # %0 and %39 are live for so long that TPU moves a part of them away, and %1 to %38 are on the chip.
    chain = "".join(
        f"%{number} = stablehlo.dot %{number - 1}, %w : (tensor<256x256xf32>, tensor<256x256xf32>)"
        " -> tensor<256x256xf32>\n"
        for number in range(2, 40)
    )
    program = f"""
        func.func @main(%x: tensor<4096x256xf32>, %w: tensor<256x256xf32>, %y: tensor<256x4096xf32>)
            -> tensor<256x256xf32> {{
          %0 = stablehlo.dot %x, %w : (tensor<4096x256xf32>, tensor<256x256xf32>) -> tensor<4096x256xf32>
          %1 = stablehlo.dot %y, %x : (tensor<256x4096xf32>, tensor<4096x256xf32>) -> tensor<256x256xf32>
          {chain}
          %50 = stablehlo.dot %y, %0 : (tensor<256x4096xf32>, tensor<4096x256xf32>) -> tensor<256x256xf32>
          %51 = stablehlo.dot %50, %39 : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
          return %51 : tensor<256x256xf32>
        }}
    """
    memory = report_on(module(program), built_in_topology("tpu-v5e")).memory
    rest, last = (
        value.bytes for name in ("%0", "%39") for value in memory.live_at_peak if value.value == name
    )
    assert 0 < rest < 4096 * KIB
    assert 0 < last < 256 * KIB
    gaps = (rest + last) * 3 // 100
    assert sum(value.bytes for value in memory.live_at_peak) + gaps == memory.peak


@pytest.mark.parametrize(
    ("buffers", "work", "in_loop", "on_chip"),
    [
        # All fits. The second is live for longer than five times its copy: the square of 35 %, the largest
        # share that is live, of it is not there.
        (
            [(0, 2, 20), (2, 5, 10), (1, 3, 5)],
            (0, 100, 0, 30, 21, 0),
            0,
            [20, 25, 33.775, 13.775, 8.775, 8.775],
        ),
        ([(0, 2, 20), (2, 5, 10), (1, 3, 5)], (9, 100, 0, 29, 21, 9), 0, [20, 25, 35, 15, 10, 10]),
        # In the loop is no room for the second one, which is as small as the first but longer.
        ([(0, 2, 20), (1, 4, 20), (3, 3, 1)], (0, 0, 99, 2, 0, 0), 70, [20, 20, 20, 1, 0, 0]),
        # What goes is by size, where some must.
        ([(2, 3, 30), (2, 4, 31)], (0,) * 6, 40, [0, 0, 61, 61, 31, 0]),
        # With more than three quarters nothing is there across the loop, nor what is long unless it is small.
        (
            [(0, 2, 36), (2, 5, 40), (3, 5, 8), (0, 1, 5), (2, 2, 1)],
            (0, 0, 0, 0, 201, 0),
            0,
            [0, 0, 1, 8, 8, 8],
        ),
        (
            [(0, 2, 36), (2, 5, 40), (3, 5, 8), (1, 2, 5), (2, 2, 1)],
            (0, 0, 0, 0, 40, 0),
            0,
            [0, 0, 41, 48, 48, 48],
        ),
        ([(0, 2, 36), (2, 5, 37), (3, 5, 2), (0, 0, 5), (2, 2, 2)], (0,) * 6, 0, [41, 36, 75, 39, 39, 39]),
        # More than there is: what is long is not there, however small.
        ([(2, 5, 90), (3, 5, 8), (3, 4, 3)], (0, 0, 0, 0, 41, 0), 0, [0, 0, 90, 93, 93, 90]),
        ([(3, 5, 11), (2, 4, 78)], (0, 0, 0, 0, 56, 0), 0, [0, 0, 78, 78, 78, 0]),
    ],
)
def test_what_is_on_the_chip_is_what_fits_and_is_not_live_for_long(
    buffers: list[tuple[int, int, int]], work: tuple[int, ...], in_loop: int, on_chip: list[float]
) -> None:
    # Of operations 0 to 5, number 1 is a loop. Sizes are in MiB, of which there are 100.
    program = module(
        """
        func.func @main(%a: tensor<i1>) -> tensor<i1> {
          %0 = stablehlo.not %a : tensor<i1>
          %1 = stablehlo.while(%i = %0) : tensor<i1> cond {
            stablehlo.return %i : tensor<i1>
          } do {
            stablehlo.return %i : tensor<i1>
          }
          %2 = stablehlo.not %1 : tensor<i1>
          %3 = stablehlo.not %2 : tensor<i1>
          %4 = stablehlo.not %3 : tensor<i1>
          return %4 : tensor<i1>
        }
        """
    )
    (function,) = (op for op in program.walk() if isinstance(op, FuncOp))
    ops, mib = list(function.entry.ops), KIB << 10
    temporaries = [Buffer(ops[0].results[0], start, end, size * mib) for start, end, size in buffers]
    nested = [None, Peak(on_chip=in_loop * mib), None, None, None, None]
    chip = _OnChip(ops, temporaries, nested, 100 * mib, [moved * mib for moved in work])
    assert [round(size / mib, 3) for size in chip.bytes] == on_chip


def test_each_size_of_a_donated_argument_or_result_is_asked_for_once() -> None:
    count = 20
    state = ", ".join(f"%a{n}: tensor<{n % 2 + 1}xf32> {{jax.buffer_donor = true}}" for n in range(count))
    values = ", ".join(f"%a{count - 1 - n}" for n in range(count))
    types = ", ".join(f"tensor<{(count - 1 - n) % 2 + 1}xf32>" for n in range(count))
    text = f"func.func @main({state}) -> ({types}) {{\n  return {values} : {types}\n}}"
    (function,) = (op for op in module(text).walk() if isinstance(op, FuncOp))
    asked: list[Value] = []

    def bytes_of(value: Value) -> int:
        asked.append(value)
        assert isinstance(value.type, RankedTensor)
        return value.type.shape[0]

    # The first result of the size that is left.
    assert donations(function, bytes_of) == {n: n + 1 if n % 2 == 0 else n - 1 for n in range(count)}
    assert len(asked) == 2 * count


def test_a_scatter_is_read_at_the_end_of_a_long_chain() -> None:
    steps = "\n".join(f"%{step} = stablehlo.abs %{step - 1} : tensor<64x64xf32>" for step in range(1, 2001))
    program = module(
        f"""
        sdy.mesh @mesh = <["x"=4]>
        func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {{
          %0 = sdy.reduce_scatter [{{"x"}}, {{}}] %a out_sharding=<@mesh, [{{"x"}}, {{}}]> : tensor<64x64xf32>
          {steps}
          return %2000 : tensor<64x64xf32>
        }}
        """
    )
    assert report_on(program, built_in_topology("tpu-v5e")).memory.peak >= 16 * KIB


@pytest.mark.parametrize(
    ("batch", "features", "peak"), [(7, 32, 835_584), (8, 31, 909_312), (8, 32, 2_113_536)]
)
def test_features_of_a_convolution_are_in_lanes_if_tiles_are_full(
    batch: int, features: int, peak: int
) -> None:
    """Although an image of 128 columns would take less memory with these in lanes."""
    images, kernel = f"tensor<{batch}x3x128x{features}xf32>", f"tensor<3x3x{features}x{features}xf32>"
    program = f"""
        func.func @main(%a: {images}, %k: {kernel}) -> {images} {{
          %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
              window = {{pad = [[1, 1], [1, 1]]}}
              {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
              : ({images}, {kernel}) -> {images}
          return %0 : {images}
        }}
    """
    assert report_on(module(program), built_in_topology("tpu-v5e")).memory.peak == peak


MIB = 1 << 20


@pytest.mark.parametrize(
    ("temporaries", "inside"),
    [
        # Start, end and MiB; the results are computed at 10, and have 16 and 32 MiB.
        ([(0, 9, 16)], "a"),
        ([(0, 10, 16)], ""),
        ([(0, 9, 15)], ""),
        ([(0, 9, 32)], "a"),
        ([(0, 9, 33)], ""),
        # Two are in one result if one ends before the other starts; else in the next larger one.
        ([(0, 4, 16), (5, 9, 16)], "ab"),
        ([(0, 2, 16), (3, 5, 16), (6, 9, 16)], "abc"),
        ([(6, 9, 16), (3, 5, 16), (0, 2, 16)], "abc"),
        ([(5, 9, 16), (0, 5, 16), (0, 5, 16)], "ab"),
        ([(0, 5, 16), (5, 9, 16), (5, 9, 16)], "ab"),
        ([(0, 9, 32), (0, 9, 20)], "a"),
        # Arguments are before the temporaries.
        ([(0, 9, 16), (0, 9, 32)], "ab"),
    ],
)
def test_temporaries_are_in_the_smallest_result_that_is_computed_after_them(
    temporaries: list[tuple[int, int, int]], inside: str
) -> None:
    results = [
        Buffer(cast(Value, name), 10, 20, size * MIB)
        for name, size in (("r", 32), ("s", 16), ("t", 15), ("d", 99))
    ]
    of_value = {str(buffer.value): buffer for buffer in results}
    # What is computed in the buffer of another value, and what is in a donated argument, has no room.
    of_value["u"] = results[3]
    block = SimpleNamespace(last=SimpleNamespace(operands=["r", "s", "t", "d", "u"]))
    counted = [Buffer(cast(Value, "argument"), 0, 1, 16 * MIB)]
    counted += [
        Buffer(cast(Value, name), start, end, size * MIB)
        for name, (start, end, size) in zip("abc", temporaries, strict=False)
    ]
    left = LiveMemory._without_those_in_results(
        *cast(Any, (None, counted, 1, block, SimpleNamespace(buffer=of_value.get), {3: 0}))
    )
    assert "".join(str(buffer.value) for buffer in counted if buffer not in left) == inside


@pytest.mark.parametrize(("rows", "tensors"), [(7680, 4), (7681, 3)])
def test_gpus_sum_up_in_place_what_is_too_large_to_be_combined(rows: int, tensors: int) -> None:
    """XLA combines all-reduces of up to 30 MiB, which it writes side by side."""
    tensor = f"tensor<{rows}x1024xf32>"
    program = f"""
        sdy.mesh @mesh = <["x"=4]>
        func.func @main(%a: {tensor}) -> {tensor} {{
          %0 = stablehlo.custom_call @f(%a) : ({tensor}) -> {tensor}
          %1 = sdy.all_reduce {{"x"}} %0 out_sharding=<@mesh, [{{}}, {{}}]> : {tensor}
          %2 = stablehlo.custom_call @g(%1) : ({tensor}) -> {tensor}
          return %2 : {tensor}
        }}
    """
    memory = report_on(module(program), built_in_topology("h100")).memory
    assert memory.peak == tensors * rows * 1024 * 4
