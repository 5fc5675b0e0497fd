"""Propagation steps: which shardings of an operation are updated, and what makes a step impossible."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import MeshOrRef
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.shardy.sharding.propagation.propagation_step import (
    StepKind,
    StepRunner,
    Strategy,
    Updates,
    identity_rule,
)
from sdyopt.shardy.sharding.propagation.step_input import DirectionPolicy
from tests.unit.sharding.notation import NONE, read_mesh, read_rule, read_sharding, write_sharding

MESHES = {
    "mesh": read_mesh('"x"=2, "y"=2'),
    "other": read_mesh('"x"=4'),
    "same_axes": read_mesh('"x"=2, "y"=2'),
    "empty": read_mesh(""),
}
NEGATE = identity_rule((8, 8), operand_count=1)
ADD = identity_rule((8, 8), operand_count=2)


def mesh_of(mesh_or_ref: MeshOrRef) -> Mesh | None:
    return MESHES.get(mesh_or_ref.root) if isinstance(mesh_or_ref, SymbolRef) else mesh_or_ref


def new_runner(strategy: Strategy = Strategy.BASIC) -> StepRunner:
    return StepRunner(StepKind(DirectionPolicy.BOTH, strategy), mesh_of)


def updates(rule: OpShardingRule, *shardings: str, meshes: tuple[str, ...] = ()) -> dict[int, str]:
    """The updated shardings by index."""
    symbols = meshes or ("mesh",) * len(shardings)
    before = tuple(read_sharding(text, f"@{symbol}") for text, symbol in zip(shardings, symbols, strict=True))
    return _texts(new_runner().updates(rule, before))


def _texts(found: Updates) -> dict[int, str]:
    return {index: write_sharding(sharding) for index, sharding in found}


def test_identity_rules_map_dimensions_to_factors() -> None:
    assert ADD is read_rule("([i, j], [i, j])->([i, j]) {i=8, j=8}")


# --- Updates --------------------------------------------------------------------------------------


def test_only_tensors_whose_sharding_changes_are_updated() -> None:
    assert updates(ADD, '[{"x"}, {?}]', '[{"x", ?}, {?}]', "[{?}, {?}]") == {2: '[{"x", ?}, {?}]'}


def test_a_missing_sharding_is_open() -> None:
    assert updates(NEGATE, '[{"x"}, {}]', NONE) == {1: '[{"x", ?}, {?}]'}


def test_a_missing_sharding_without_axes_stays_missing() -> None:
    assert updates(NEGATE, "[{}, {}]", NONE) == {}


def test_axes_that_shard_no_dimension_are_no_update() -> None:
    # "x" shards j, but the shards of the operand would not be contiguous: i is not sharded.
    split = read_rule("([ij])->([i, j]) {i=2, j=4}")
    assert updates(split, NONE, '[{?}, {"x"}]') == {}
    assert updates(split, NONE, '[{"y"}, {"x"}]') == {0: '[{"y", "x", ?}]'}


def test_without_any_sharding_there_is_no_step() -> None:
    assert updates(NEGATE, NONE, NONE) == {}


def test_replicated_and_unreduced_axes_are_kept() -> None:
    assert updates(NEGATE, '[{"x"}, {}]', '[{?}, {?}], replicated={"y"}') == {
        1: '[{"x", ?}, {?}], replicated={"y"}'
    }


def test_the_strategy_decides_on_conflicts() -> None:
    shardings = tuple(read_sharding(text) for text in ('[{"x"}, {}]', '[{}, {"x"}]', "[{?}, {?}]"))
    assert _texts(new_runner(Strategy.BASIC).updates(ADD, shardings)) == {}
    assert _texts(new_runner(Strategy.AGGRESSIVE).updates(ADD, shardings)) == {2: '[{"x", ?}, {?}]'}


# --- Meshes and ranks -----------------------------------------------------------------------------


def test_shardings_with_different_meshes_do_not_propagate() -> None:
    assert updates(NEGATE, '[{"x"}, {}]', "[{?}, {?}]", meshes=("mesh", "other")) == {}


def test_equal_meshes_may_have_different_symbols() -> None:
    assert updates(NEGATE, '[{"x"}, {}]', "[{?}, {?}]", meshes=("mesh", "same_axes")) == {
        1: '[{"x", ?}, {?}]'
    }


def test_an_empty_mesh_matches_any_mesh() -> None:
    assert updates(NEGATE, "[{?}, {?}]", '[{"x"}, {}]', meshes=("empty", "mesh")) == {0: '[{"x", ?}, {?}]'}


def test_a_maximal_mesh_has_nothing_to_propagate() -> None:
    maximal = read_sharding("[]", "mesh<[], device_ids=[0]>")
    assert new_runner().run(identity_rule((), 1), (maximal, None)) is None


def test_a_sharding_of_another_rank_does_not_propagate() -> None:
    assert updates(NEGATE, '[{"x"}]', "[{?}, {?}]") == {}


# --- Results and cache ----------------------------------------------------------------------------


def test_a_result_has_the_projections_before_and_after() -> None:
    result = new_runner().run(NEGATE, (read_sharding('[{"x"}, {}]'), None))
    assert result is not None
    assert result.mesh is MESHES["mesh"]
    assert result.before[1].factors[0].axes == ()
    assert result.after[1].factors[0].axes == result.before[0].factors[0].axes != ()


def test_updates_are_computed_once_per_rule_and_shardings() -> None:
    looked_up = []

    def recording_mesh_of(mesh_or_ref: MeshOrRef) -> Mesh | None:
        looked_up.append(mesh_or_ref)
        return mesh_of(mesh_or_ref)

    runner = StepRunner(StepKind(DirectionPolicy.BOTH, Strategy.BASIC), recording_mesh_of)
    shardings = read_sharding('[{"x"}, {}]'), None
    first = runner.updates(NEGATE, shardings)
    count = len(looked_up)
    assert first and count
    assert runner.updates(NEGATE, shardings) is first
    assert len(looked_up) == count
    assert runner.updates(ADD, (*shardings, None)) != first


# --- Plain steps ----------------------------------------------------------------------------------

RULES = [
    ADD,
    read_rule("([i, k], [k, j])->([i, j]) {i=8, j=8, k=8} reduction={k}"),
    read_rule("([i, j])->([j, i]) {i=8, j=8}"),
    read_rule("([i, j])->([i, j], [i, k]) {i=8, j=8, k=4} need_replication={k} blocked_propagation={k}"),
]


@pytest.mark.parametrize("strategy", Strategy)
@pytest.mark.parametrize("policy", DirectionPolicy)
@pytest.mark.parametrize("rule", RULES)
def test_plain_steps_have_the_updates_of_a_run(
    rule: OpShardingRule, policy: DirectionPolicy, strategy: Strategy
) -> None:
    dims = ["{}", "{?}", '{"x", ?}p1', '{"y"}', '{"x", "y", ?}', '{"x":(1)2, ?}']
    texts = [f"[{first}, {second}]" for first, second in product(dims, dims)]
    valid = [text for text in texts if max(text.count('"x'), text.count('"y')) < 2]
    shardings = [None, *map(read_sharding, [*valid, '[{"x"}, {?}], replicated={"y"}'])]
    random = Random(1)
    plain = updated = 0
    for is_elementwise in (False, True)[: 1 + (rule is ADD)]:
        runner = StepRunner(StepKind(policy, strategy, is_elementwise), mesh_of)
        for _ in range(800):
            step = tuple(random.choices(shardings, k=len(rule.tensors)))
            result = runner.run(rule, step)
            expected = () if result is None else result.updates
            found = runner.plain_updates(rule, step)
            assert found in (None, expected)
            assert runner.updates(rule, step) == expected
            after = list(step)
            for index, sharding in found or ():
                after[index] = sharding
            result = runner.run(rule, tuple(after)) if found else None
            assert result is None or not result.updates
            plain += found is not None
            updated += bool(found)
    assert plain > 20
    assert (updated > 0) == (strategy is Strategy.AGGRESSIVE)


@pytest.mark.parametrize(
    ("texts", "meshes"),
    [
        (('[{"x"}, {}], replicated={"y"}', "[{?}, {?}]"), ("mesh", "mesh")),
        (('[{"x"}, {}]', "[{?}, {?}]"), ("mesh", "same_axes")),
        (('[{"x"}, {}]', "[{?}]"), ("mesh", "mesh")),
    ],
)
def test_other_steps_are_not_plain(texts: tuple[str, ...], meshes: tuple[str, ...]) -> None:
    shardings = [read_sharding(text, f"@{mesh}") for text, mesh in zip(texts, meshes, strict=True)]
    assert new_runner(Strategy.AGGRESSIVE).plain_updates(NEGATE, tuple(shardings)) is None
