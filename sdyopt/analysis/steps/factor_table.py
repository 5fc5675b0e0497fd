"""The table of a step: the axes of each factor in each operand and result, and what does not propagate.

Tables name no value, so steps with one rule and the same shardings share a table. A reason refers to an
operand or result by its position between two delimiters.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.analysis.report.html_text import printable
from sdyopt.analysis.sharding_record.model import Step
from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_refs_text
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule, factor_symbol
from sdyopt.shardy.sharding.axis_lists import axes_after
from sdyopt.shardy.sharding.propagation.step_input import Reason, Refusal
from sdyopt.shardy.sharding.sharding_projection import FactorSharding, TensorProjection

# Around the position of an operand or result. They are not printable, so no other text has them.
BEFORE, AFTER = "\ue000", "\ue001"

# (axes before the step, axes that it adds, whether the dimension is closed); None without the factor.
Cell = tuple[str, str, bool] | None

_SPECIAL = ("reduction", "need_replication", "permutation", "blocked_propagation")


@dataclass(frozen=True)
class FactorTable:
    """`factors` are the columns: symbol, size and kind. `rows` are the operands, then the results.

    A row has the dimensions as factors, such as `[i, jk]`, and one cell for each factor.
    """

    factors: tuple[tuple[str, int, str], ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    reasons: tuple[str, ...]


def factor_table(step: Step) -> FactorTable:
    """The table of a step."""
    rule = step.site.rule
    refusals = step.refusals
    result = refusals.result
    assert result is not None, "a step with updates runs"
    factors = tuple(
        (factor_symbol(factor), size, _kind(rule, factor)) for factor, size in enumerate(rule.factor_sizes)
    )
    rows = []
    for mapping, before, after in zip(rule.tensors, result.before, result.after, strict=True):
        dims = ", ".join("".join(map(factor_symbol, dim.factors)) for dim in mapping.dims)
        cells = tuple(_cell(before, after, factor) for factor in range(len(factors)))
        rows.append((f"[{dims}]", cells))
    reasons = dict.fromkeys(
        text for each in refusals.refusals for text in _reason(rule, each, result.after) if text
    )
    return FactorTable(factors, tuple(rows), tuple(reasons))


def _kind(rule: OpShardingRule, factor: int) -> str:
    found = (name for name in _SPECIAL if factor in getattr(rule, name))
    return next(found, "pass_through").replace("_", "-")


def _cell(before: TensorProjection, after: TensorProjection, factor: int) -> Cell:
    old, new = before.factors.get(factor), after.factors.get(factor)
    if old is None or new is None:
        return None
    added = axes_after(old.axes, new.axes)
    kept = old.axes[: len(new.axes) - len(added)] if added else old.axes
    return _axes_text(kept), _axes_text(added), old.is_closed


# --- What does not propagate ------------------------------------------------------------------------


def _reason(rule: OpShardingRule, refusal: Refusal, after: list[TensorProjection]) -> list[str]:
    """The sentence on a refusal; none if no operand or result lacks the axes."""
    axes = _axes_text(refusal.axes[:1])
    if refusal.target is None:
        return [f"{axes} does not propagate along {factor_symbol(refusal.factor)}: {_why(rule, refusal)}"]
    has: FactorSharding | None = after[refusal.target].factors.get(refusal.factor)
    if has is not None and refusal.axes and refusal.axes[0] in has.axes:
        return []
    where = _dimension(rule, refusal.target, refusal.factor)
    return [f"{axes} does not propagate to {where}: {_why(rule, refusal)}"]


def _why(rule: OpShardingRule, refusal: Refusal) -> str:
    text = refusal.reason.value
    culprit = refusal.culprit
    if culprit is None:
        return text
    conflicting = _axes_text(refusal.conflicting)
    if refusal.reason is Reason.OTHER_FACTOR and refusal.other_factor is not None:
        return f"{conflicting} shards {_dimension(rule, culprit, refusal.other_factor)}"
    if refusal.reason is Reason.OTHER_AXES and conflicting:
        return f"{_dimension(rule, culprit, refusal.factor)} is sharded along {conflicting}"
    if refusal.reason is Reason.CLOSED:
        return f"{_dimension(rule, culprit, refusal.factor)} is closed"
    if culprit != refusal.target:
        return f"{text}, in {BEFORE}{culprit}{AFTER}"
    return text


def _axes_text(axes: Sequence[AxisRef]) -> str:
    return printable(axis_refs_text(axes))


def _dimension(rule: OpShardingRule, position: int, factor: int) -> str:
    tensor = f"{BEFORE}{position}{AFTER}"
    dims = list(rule.tensors)[position].dims
    found = (f"dimension {dim} of {tensor}" for dim, each in enumerate(dims) if factor in each.factors)
    return next(found, tensor)
