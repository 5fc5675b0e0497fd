"""Sentences on why an axis did not come to a value, and what to write to change it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sdyopt.analysis.explain.arrival_text import annotation_text, site_text, where_annotated
from sdyopt.analysis.explain.names import Names, axis_text, dim_text
from sdyopt.analysis.explain.obstacle_text import Answer, obstacle_answer
from sdyopt.analysis.explain.tree_text import Sentence
from sdyopt.analysis.sharding_record.absences import Absence
from sdyopt.analysis.sharding_record.annotations import annotation_on
from sdyopt.analysis.sharding_record.model import Run, Site
from sdyopt.analysis.sharding_record.precedence import Precedence, Rule, precedence, user_priority
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.dataclasses import dataclass
from sdyopt.dialects.sdy.axes import axis_refs_text
from sdyopt.record.recorder import Subject
from sdyopt.sharding.axis_lists import overlap, sharded_size
from sdyopt.sharding.propagation.refusals import Reason, Refusal

# The maximum number of neighbors with the axis that are named.
_SHOWN_NEIGHBORS = 2
# The number of reasons that are given for one absence.
_SHOWN_REASONS = 3
# The number of missing axes that are shown for one value.
_SHOWN_ABSENCES = 6


@dataclass(frozen=True)
class Question:
    """An absence with one of its reasons, in a record."""

    record: ShardingRecord
    run: Run
    names: Names
    absence: Absence
    refusal: Refusal

    @property
    def culprit(self) -> Subject:
        """The value that the reason is about."""
        position = self.refusal.culprit
        subject = None if position is None else self.absence.site.subjects[position]
        return self.absence.subject if subject is None else subject

    @property
    def culprit_name(self) -> str:
        return self.names.subject(self.run, self.culprit)

    @property
    def axes(self) -> str:
        """The axis that is refused: the one that is absent, or one that comes before it."""
        first = self.refusal.axes[:1]
        return axis_text(first[0] if first else self.absence.axis)

    def dim_of_culprit(self, factor: int) -> int:
        """The dimension of the culprit that has a factor; -1 if none has."""
        assert isinstance(self.absence.site, Site)
        position = self.refusal.culprit
        mapping = list(self.absence.site.rule.tensors)[
            self.absence.position if position is None else position
        ]
        return next((dim for dim, each in enumerate(mapping.dims) if factor in each.factors), -1)

    def annotation(self) -> str:
        """Where the culprit is annotated, for a help line."""
        annotation = annotation_on(self.record, self.run, self.culprit)
        return where_annotated(annotation, self.names)


def add_absences(
    parent: Sentence, found: Iterable[Absence], record: ShardingRecord, run: Run, names: Names
) -> None:
    """Adds the axes that a value lacks, each with its reasons and help. Equal answers are merged."""
    groups: dict[tuple[str, int, tuple[Answer, ...]], list[Absence]] = {}
    for absence in found:
        key = axis_text(absence.axis), absence.dim, answers(absence, record, run, names)
        groups.setdefault(key, []).append(absence)
    more = len(groups) - _SHOWN_ABSENCES
    for (axis, dim, reasons), absences in list(groups.items())[:_SHOWN_ABSENCES]:
        where = f"dimension {dim}" if dim >= 0 else "any dimension"
        site = absences[0].site
        listed = neighbors_text(absences, run, names)
        node = parent.add(
            f"{axis} does not shard {where}, though it shards {listed}", names.source_line(site.op)
        )
        for number, (reason, help) in enumerate(reasons):
            node.add(f"{'and' if number else f'{site_text(run, site)}:'} {reason}")
            if help:
                node.add(f"help: {help}")
    if more > 0:
        parent.add(f"… and {more} more axes or reasons")


def neighbors_text(absences: Sequence[Absence], run: Run, names: Names) -> str:
    """`dimension 0 of %a and %b`, `dimension 0 of %a and dimension 1 of %b`."""
    found = list(dict.fromkeys((each.neighbor_dim, names.subject(run, each.neighbor)) for each in absences))
    parts, last = [], -1
    for dim, name in found[:_SHOWN_NEIGHBORS]:
        parts.append(name if dim == last else f"dimension {dim} of {name}")
        last = dim
    more = len(found) - _SHOWN_NEIGHBORS
    return " and ".join(parts) + (f" and {more} more" if more > 0 else "")


def answers(absence: Absence, record: ShardingRecord, run: Run, names: Names) -> tuple[Answer, ...]:
    """The reasons of an absence, each with its help."""
    if absence.obstacle is not None:
        return (obstacle_answer(absence, record, run, names),)
    assert absence.refusals, "every absence has a reason"
    # Reasons in the value itself come first.
    refusals = sorted(absence.refusals, key=lambda refusal: refusal.culprit != absence.position)
    found = [_answer(Question(record, run, names, absence, refusal)) for refusal in refusals]
    return tuple(dict.fromkeys(found))[:_SHOWN_REASONS]


def _answer(question: Question) -> Answer:
    reason, help = _ANSWERS[question.refusal.reason](question)
    first = question.refusal.axes[:1]
    if first and not first[0].overlaps(question.absence.axis):
        reason = f"{axis_text(first[0])} comes before it, and {reason}"
    return reason, help


# --- Reasons that a step decides --------------------------------------------------------------------


def _closed(question: Question) -> Answer:
    dim = question.dim_of_culprit(question.refusal.factor)
    sharding = question.run.final.get(question.culprit)
    written = "{}" if sharding is None else dim_text(sharding.dims[dim])
    opened = "{?}" if written == "{}" else f"{written[:-1]}, ?}}"
    return (
        f"dimension {dim} of {question.culprit_name} is closed",
        f"write {opened} instead of {written} {question.annotation()}",
    )


def _replicated(question: Question) -> Answer:
    return (
        f"{question.culprit_name} is explicitly replicated along {question.axes}",
        f"remove {question.axes} from replicated={{…}} {question.annotation()}",
    )


def _unreduced(question: Question) -> Answer:
    return (
        f"{question.culprit_name} is unreduced along {question.axes}: its shards are to be summed along it",
        f"shard along another axis, or remove {question.axes} from unreduced={{…}} {question.annotation()}",
    )


def _other_factor(question: Question) -> Answer:
    refusal = question.refusal
    assert refusal.other_factor is not None
    dim = question.dim_of_culprit(refusal.other_factor)
    found = precedence(question.record, question.run, question.absence, refusal)
    own = question.run.final.get(question.culprit)
    if own is None or not any(overlap(each.axes, refusal.conflicting) for each in own.dims):
        return (
            f"the same step gives {axis_refs_text(refusal.conflicting)} to another part of dimension {dim} "
            f"of {question.culprit_name}, which cannot be sharded before its more major parts are",
            "constrain the value",
        )
    text = f"{axis_refs_text(refusal.conflicting)} already shards dimension {dim} of {question.culprit_name}"
    if found is None:
        return text, "shard one of the two dimensions along another axis"
    return f"{text}: {_rule_text(found, question)}", _rule_help(found, question)


def _other_axes(question: Question) -> Answer:
    refusal = question.refusal
    if refusal.culprit is None:
        return "two other operands or results are sharded along other axes", "annotate them alike"
    dim = question.dim_of_culprit(refusal.factor)
    axes = axis_refs_text(refusal.conflicting)
    text = f"dimension {dim} of {question.culprit_name} is sharded along {axes}"
    if not refusal.conflicting:
        text = f"dimension {dim} of {question.culprit_name} is sharded along other axes"
    found = precedence(question.record, question.run, question.absence, refusal)
    help = f"annotate both alike, or add a constraint on {question.culprit_name}"
    if found is not None:
        help = f"remove {axes} {where_annotated(found.winner.origin, question.names)}"
    return f"{text}, and neither list is a prefix of the other", help


def _not_divisible(question: Question) -> Answer:
    site, refusal = question.absence.site, question.refusal
    assert isinstance(site, Site)
    size = site.rule.factor_sizes[refusal.factor]
    axis_size = _axis_size(question)
    dim = question.absence.dim
    return (
        f"{question.axes} has size {axis_size}, which does not divide {size}, the size of the corresponding "
        f"part of dimension {dim}",
        f"pad the dimension, or shard it along an axis whose size divides {size}",
    )


def _overflow(question: Question) -> Answer:
    conflicting = axis_refs_text(question.refusal.conflicting)
    if conflicting:
        dim = question.dim_of_culprit(question.refusal.factor)
        return (
            f"dimension {dim} of {question.culprit_name} is also sharded along {conflicting}, whose size "
            "does not divide the more major part of it",
            f"pad the dimension, or shard it along an axis other than {conflicting}",
        )
    return (
        f"the size of {question.axes} does not divide the corresponding part of {question.culprit_name}",
        "pad the dimension, or shard it along an axis whose size divides it",
    )


def _major_factor(question: Question) -> Answer:
    return (
        f"dimension {question.absence.dim} is several dimensions in one, and the more major one is not fully "
        f"sharded: shards along {question.axes} would not be contiguous",
        "shard the more major one fully first, or constrain the value",
    )


def _direction(question: Question) -> Answer:
    absence = question.absence
    assert isinstance(absence.site, Site)
    is_forward = absence.neighbor_position < absence.site.operand_count <= absence.position
    way = "forward" if is_forward else "backward"
    if absence.site.op_name == "sdy.propagation_barrier":
        return (
            f"the barrier does not let shardings through {way}",
            f"write allowed_direction={way.upper()}, or remove the barrier",
        )
    return f"the factor does not propagate {way}", ""


def _blocked(question: Question) -> Answer:
    return (
        f"its rule blocks propagation along dimension {question.absence.dim}",
        "constrain the value, if it is to be sharded along it",
    )


def _results(question: Question) -> Answer:
    return (
        f"operands of an elementwise operation take from each other only axes that its result has, and "
        f"{question.culprit_name} lacks {question.axes}",
        f"see why {question.culprit_name} lacks it",
    )


def _conservative(question: Question) -> Answer:
    return "conservative propagation does not propagate sub-axes", "set conservative-propagation=false"


def _meshes(question: Question) -> Answer:
    return "its operands and results have shardings on different meshes", "use one mesh for all of them"


def _maximal(question: Question) -> Answer:
    return "the sharding is on a mesh of one device", "use the mesh of the other values"


def _rank(question: Question) -> Answer:
    return "the sharding has another rank than the tensor", "remove the value from the sharding group"


def _axis_size(question: Question) -> int:
    sharding = question.run.final.get(question.absence.neighbor)
    mesh = None if sharding is None else question.run.mesh_of(sharding.mesh_or_ref)
    return 0 if mesh is None else sharded_size(question.refusal.axes[:1], mesh)


_ANSWERS: dict[Reason, Callable[[Question], Answer]] = {
    Reason.MESHES: _meshes,
    Reason.MAXIMAL_MESH: _maximal,
    Reason.RANK: _rank,
    Reason.BLOCKED: _blocked,
    Reason.DIRECTION: _direction,
    Reason.OTHER_AXES: _other_axes,
    Reason.CLOSED: _closed,
    Reason.REPLICATED: _replicated,
    Reason.UNREDUCED: _unreduced,
    Reason.OTHER_FACTOR: _other_factor,
    Reason.NOT_DIVISIBLE: _not_divisible,
    Reason.OVERFLOW: _overflow,
    Reason.RESULTS: _results,
    Reason.CONSERVATIVE: _conservative,
    Reason.MAJOR_FACTOR: _major_factor,
}


# --- Who was first ----------------------------------------------------------------------------------


def _rule_text(found: Precedence, question: Question) -> str:
    winner = found.winner
    if found.rule is Rule.ANNOTATION:
        return f"{annotation_text(winner.origin, question.names)} is annotated with it"
    step = winner.step
    assert step is not None
    came = f"it came {_along(question.run, step.site)}"
    return {
        Rule.USER_PRIORITY: f"{came} with user priority p{step.priority}, before the other",
        Rule.OP_PRIORITY: f"{came} in round {step.round}, before this operation propagates",
        Rule.STRATEGY: f"{came} by the basic strategy, which is before the aggressive one",
        Rule.MORE_ELEMENTS: f"{came}, from the larger tensor",
        Rule.SHARDED_SIZE: f"{came}, where the sharded size of its dimension is larger",
        Rule.EARLIER_TENSOR: f"{came}, from the earlier operand",
        Rule.LOWER_FACTOR: f"{came}, where its dimension comes first",
        Rule.ORDER: f"{came}, which is visited first",
    }[found.rule]


def _rule_help(found: Precedence, question: Question) -> str:
    if found.rule is Rule.ANNOTATION:
        return f"use another axis {where_annotated(found.winner.origin, question.names)}"
    axis, origin = axis_text(found.winner.axis), where_annotated(found.winner.origin, question.names)
    lower = max(user_priority(found.winner), user_priority(found.loser)) + 1
    return f"give {axis} a lower user priority, such as p{lower}, {origin}, or use another axis there"


def _along(run: Run, site: Site) -> str:
    return f"along {site_text(run, site)}"
