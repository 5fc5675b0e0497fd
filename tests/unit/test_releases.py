"""The table of releases, its page, and the tests that show each row."""

import re
from pathlib import Path

import pytest

import sdyopt
from docs.versions import PAGE, with_tables
from sdyopt.base.releases import (
    JUNE_2026,
    NEWEST,
    RELEASES,
    Behavior,
    cached_by_release,
    followed_release,
    following,
)
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.attribute import EMPTY_DICT
from sdyopt.mlir.ir.op_signature import OpSignature

LIT = Path(__file__).parents[1] / "lit"

PARTIAL = """\
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @f(%b: tensor<8xf32>) -> tensor<8xf32> {
  %a = sdy.reshard %b <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}], unreduced={"y"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


@pytest.mark.sources
def test_page_is_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == with_tables(text), "run: make docs"


@pytest.mark.sources
@pytest.mark.parametrize("behavior", Behavior)
def test_a_lit_case_shows_the_behavior_and_what_was_before(behavior: Behavior) -> None:
    text = (LIT / behavior.case).read_text(encoding="utf-8")
    runs = re.findall(r"^// RUN: .*", text, re.M)
    named = {name for run in runs for name in re.findall(r"--sdy-version=([\w.-]+)", run)}
    before = {each.name for each in RELEASES[: RELEASES.index(behavior.since)]}
    assert named & before, f"no RUN line of {behavior.case} has a release without {behavior.name}"
    assert named - before or any("--sdy-version" not in run for run in runs)


def test_releases_are_in_order() -> None:
    assert [each.date for each in RELEASES] == sorted(each.date for each in RELEASES)
    assert NEWEST is RELEASES[-1]


def test_the_newest_release_has_every_behavior() -> None:
    assert followed_release() is NEWEST
    assert all(behavior.active for behavior in Behavior)


def test_an_earlier_release_lacks_later_behaviors() -> None:
    with following("jaxlib-0.10.2"):
        assert followed_release() is JUNE_2026
        assert not any(behavior.active for behavior in Behavior)
        with following("jaxlib-0.10.2"):
            assert followed_release() is JUNE_2026
    assert all(behavior.active for behavior in Behavior)


def test_a_cached_function_computes_once_for_each_release() -> None:
    computed: list[int] = []

    @cached_by_release()
    def is_new(number: int) -> bool:
        computed.append(number)
        return Behavior.IF_DATA_FLOW.active

    for _ in range(2):
        assert is_new(1)
        with following("jaxlib-0.10.2"):
            assert not is_new(1)
    assert computed == [1, 1]


def test_a_signature_belongs_to_the_release_that_is_followed() -> None:
    def signature() -> OpSignature:
        return OpSignature(ModuleOp, ModuleOp.name, EMPTY_DICT, (), ())

    with following("jaxlib-0.10.2"):
        old = signature()
        assert old.release is JUNE_2026
    assert signature() is signature() is not old
    assert old.with_types((), ()) is old


def test_modules_of_two_releases_do_not_share_what_is_cached() -> None:
    """The signature of the all-reduce is the same, and valid in one release only."""
    for _ in range(2):
        sdyopt.parse(PARTIAL, sdy_version="jaxlib-0.10.2")
        with pytest.raises(sdyopt.VerifyError):
            sdyopt.parse(PARTIAL)
