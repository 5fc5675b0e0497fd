"""Several runs at once: threads follow releases of their own, and diagnostics stay with their call."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

import sdyopt
from sdyopt.base.releases import followed_release
from sdyopt.mlir.pipeline import Pass
from tests.unit.api.programs import COLLECTIVES, REDUCED

COUNT = 8

RELEASES = ("jaxlib-0.10.2", "jaxlib-0.12.0.1")

# Valid in the older release only.
UNREDUCED = """\
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}], unreduced={"y"}> : tensor<8xf32>
  return %1 : tensor<8xf32>
}
"""

# Shardings propagate out of the branches in the newer release only.
BRANCHES = """\
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(
    %p: tensor<i1>, %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
) -> tensor<8xf32> {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<8xf32>
  }, {
    %1 = stablehlo.negate %a : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


class Name(Pass):
    """Remarks with the name of every function."""

    def run(self, op: Any) -> bool:
        for function in op.functions:
            function.remark(function.sym_name)
        return False


class ParseInside(Pass):
    """Parses and runs another program, and fails to parse a third."""

    def run(self, op: Any) -> bool:
        op.remark("before")
        assert [
            each.message for each in sdyopt.parse("func.func private @inner()").run(Name()).diagnostics
        ] == ["inner"]
        with pytest.raises(sdyopt.ParseError):
            sdyopt.parse("foo")
        op.remark("after")
        return False


def test_threads_get_the_result_of_their_program() -> None:
    expected = str(sdyopt.parse(REDUCED).run(COLLECTIVES))
    start = Barrier(COUNT)

    def work(number: int) -> tuple[str, list[str], str]:
        start.wait()
        text = str(sdyopt.parse(REDUCED).run(COLLECTIVES))
        module = sdyopt.parse(f"func.func private @f{number}()\nfunc.func private @g{number}()")
        messages = [each.message for each in module.run(Name()).diagnostics]
        with pytest.raises(sdyopt.ParseError) as caught:
            sdyopt.parse(f"foo{number}")
        return text, messages, caught.value.message

    with ThreadPoolExecutor(COUNT) as pool:
        results = list(pool.map(work, range(COUNT)))
    assert results == [
        (
            expected,
            [f"f{number}", f"g{number}"],
            f"custom op 'foo{number}' is unknown (tried 'builtin.foo{number}' as well)",
        )
        for number in range(COUNT)
    ]


def test_a_pass_may_run_another_program() -> None:
    assert [each.message for each in sdyopt.parse("").run(ParseInside()).diagnostics] == ["before", "after"]


def test_two_runs_are_under_way_at_once() -> None:
    start = Barrier(len(RELEASES))
    followed = {}

    class Meet(Pass):
        """Waits for the pass of the other thread."""

        def run(self, op: Any) -> bool:
            start.wait(timeout=60)
            followed[op.functions[0].sym_name] = followed_release().name
            return False

    def work(release: str) -> None:
        sdyopt.parse(f'func.func private @"{release}"()', sdy_version=release).run(Meet())

    with ThreadPoolExecutor() as pool:
        list(pool.map(work, RELEASES))
    assert followed == {release: release for release in RELEASES}


def test_two_threads_follow_two_releases_at_once() -> None:
    alone = [_outcomes(release) for release in RELEASES]
    assert all(older != newer for older, newer in zip(*alone, strict=True))
    start = Barrier(len(RELEASES))

    def work(release: str) -> list[list[str]]:
        start.wait()
        return [_outcomes(release) for _ in range(10)]

    interval = sys.getswitchinterval()
    # Threads take turns as often as possible.
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor() as pool:
            together = list(pool.map(work, RELEASES))
    finally:
        sys.setswitchinterval(interval)
    assert together == [[outcomes] * 10 for outcomes in alone]


def _outcomes(release: str) -> list[str]:
    """The programs after the pipelines in a release, or the errors in them."""
    return [_outcome(text, release) for text in (UNREDUCED, BRANCHES)]


def _outcome(text: str, release: str) -> str:
    try:
        module = sdyopt.parse(text, sdy_version=release)
        return str(module.run("sdy-propagation-pipeline", "sdy-export-pipeline"))
    except sdyopt.Error as error:
        return str(error)
