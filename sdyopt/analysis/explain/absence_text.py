"""Sentences on the reasons for which an axis is not propagated to a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sdyopt.analysis.explain.advice import ExplainedChanges
from sdyopt.analysis.explain.arrival_text import Sentence, annotation_text, site_text, where_annotated
from sdyopt.analysis.explain.names import ExplanationNames, axis_text
from sdyopt.analysis.sharding_record.absences import Absence, AbsenceRule, Obstacle, Precedence, precedence
from sdyopt.analysis.sharding_record.arrivals import AnnotationKind, annotation_on
from sdyopt.analysis.sharding_record.model import PropagationRun, Site
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.analysis.sharding_record.sources import sources
from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.sdy.axes import axis_refs_text
from sdyopt.shardy.record import Subject
from sdyopt.shardy.sharding.axis_lists import overlap, sharded_size
from sdyopt.shardy.sharding.propagation.step_input import Reason, Refusal

# The maximum number of neighbors with the axis that are named.
_SHOWN_NEIGHBORS = 2

# The number of reasons that are given for one absence.
_SHOWN_REASONS = 3

# The maximum number of annotations that are named as sources of an axis.
_SHOWN_SOURCES = 3

# The number of missing axes that are shown for one value.
_SHOWN_ABSENCES = 6


@dataclass(frozen=True)
class Question:
    """An absence with one of its reasons, in a record."""

    record: ShardingRecord
    run: PropagationRun
    names: ExplanationNames
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
        return next((dim for dim, item in enumerate(mapping.dims) if factor in item.factors), -1)

    def annotation(self) -> str:
        """` in with_sharding_constraint on %0 (train.py:3)`, where the culprit is annotated; "" at itself."""
        annotation = annotation_on(self.record, self.run, self.culprit)
        if annotation.kind in (AnnotationKind.INPUT, AnnotationKind.OUTPUT):
            return ""
        return f" {where_annotated(annotation, self.names)}"

    def closed(self) -> str:
        dim = self.dim_of_culprit(self.refusal.factor)
        annotated = self.annotation()
        return f"dimension {dim} of {self.culprit_name} is closed{annotated}"

    def other_axes(self) -> str:
        refusal = self.refusal
        if refusal.culprit is None:
            return "two other operands or results are sharded along other axes"
        dim = self.dim_of_culprit(refusal.factor)
        axes = axis_refs_text(refusal.conflicting)
        text = f"dimension {dim} of {self.culprit_name} is sharded along {axes}"
        if not refusal.conflicting:
            text = f"dimension {dim} of {self.culprit_name} is sharded along other axes"
        result = precedence(self.record, self.run, self.absence, refusal)
        text = f"{text}, and neither list is a prefix of the other"
        return text if result is None else f"{text}; {self._sources_text(result)}"

    def _sources_text(self, result: Precedence) -> str:
        """The origin of the axis of the culprit: `"y" comes from the input %b and the input %c`."""
        axis = result.winner.axis
        annotations = [source.annotation for source in sources(self.record, self.run, self.culprit, axis)]
        listed = list(dict.fromkeys([annotation_text(annotation, self.names) for annotation in annotations]))
        shown = listed[:_SHOWN_SOURCES]
        more = f" and {len(listed) - len(shown)} more" if len(listed) > len(shown) else ""
        return f"{axis_text(axis)} comes from {' and '.join(shown)}{more}"

    def not_divisible(self) -> str:
        site, refusal = self.absence.site, self.refusal
        assert isinstance(site, Site)
        size = site.rule.factor_sizes[refusal.factor]
        axis_size = self._axis_size()
        dim = self.absence.dim
        return (
            f"{self.axes} has size {axis_size}, which does not divide {size}, the size of the corresponding "
            f"part of dimension {dim}"
        )

    def overflow(self) -> str:
        conflicting = axis_refs_text(self.refusal.conflicting)
        if conflicting:
            dim = self.dim_of_culprit(self.refusal.factor)
            return (
                f"dimension {dim} of {self.culprit_name} is also sharded along {conflicting}, whose size "
                "does not divide the more major part of it"
            )
        return f"the size of {self.axes} does not divide the corresponding part of {self.culprit_name}"

    def _axis_size(self) -> int:
        sharding = self.run.final.get(self.absence.neighbor)
        mesh = None if sharding is None else self.run.mesh_of(sharding.mesh_or_ref)
        return 0 if mesh is None else sharded_size(self.refusal.axes[:1], mesh)


_CLOSED = "in JAX, each dimension of an annotation is closed, except P.UNCONSTRAINED"


def add_absences(
    parent: Sentence,
    result: Iterable[Absence],
    record: ShardingRecord,
    run: PropagationRun,
    names: ExplanationNames,
    advice: ExplainedChanges | None,
) -> None:
    """Adds the axes that a value lacks, each with its reasons and advice. Equal reasons are merged."""
    groups: dict[tuple[str, int, tuple[str, ...]], list[Absence]] = {}
    for absence in result:
        key = axis_text(absence.axis), absence.dim, reasons_of(absence, record, run, names)
        groups.setdefault(key, []).append(absence)
    more = len(groups) - _SHOWN_ABSENCES
    said: set[str] = set()
    for (axis, dim, reasons), absences in list(groups.items())[:_SHOWN_ABSENCES]:
        where = f"dimension {dim}" if dim >= 0 else "any dimension"
        site = absences[0].site
        listed = neighbors_text(absences, run, names)
        text, line = f"{axis} does not shard {where}, though it shards {listed}", names.source_line(site.op)
        # The line is that of the neighbor, too.
        node = parent.add(text, "" if line and text.endswith(line) else line)
        for number, reason in enumerate(reasons):
            node.add(f"{'and' if number else f'{site_text(run, site)}:'} {reason}")
        refusals = (refusal for absence in absences for refusal in absence.refusals)
        # What holds for several axes is said once.
        if any(refusal.reason is Reason.CLOSED for refusal in refusals) and _CLOSED not in said:
            node.add(_CLOSED)
            said.add(_CLOSED)
        if advice is not None:
            advice.add_to(node, absences[0], record, run, names)
            if (help := node.children[-1]).text in said:
                node.children[-1] = Sentence("the help above has this axis, too")
            elif help.text.startswith("help: "):
                said.add(help.text)
    if more > 0:
        parent.add(f"… and {more} more axes or reasons")


def neighbors_text(absences: Sequence[Absence], run: PropagationRun, names: ExplanationNames) -> str:
    """`dimension 0 of %a and %b`, `dimension 0 of %a and dimension 1 of %b`."""
    pairs = list(
        dict.fromkeys((absence.neighbor_dim, names.subject(run, absence.neighbor)) for absence in absences)
    )
    parts, last = [], -1
    for dim, name in pairs[:_SHOWN_NEIGHBORS]:
        parts.append(name if dim == last else f"dimension {dim} of {name}")
        last = dim
    more = len(pairs) - _SHOWN_NEIGHBORS
    return " and ".join(parts) + (f" and {more} more" if more > 0 else "")


def reasons_of(
    absence: Absence, record: ShardingRecord, run: PropagationRun, names: ExplanationNames
) -> tuple[str, ...]:
    """The reasons of an absence."""
    if absence.obstacle is not None:
        return (obstacle_reason(absence),)
    assert absence.refusals, "every absence has a reason"
    # Reasons in the value itself come first.
    refusals = sorted(absence.refusals, key=lambda refusal: refusal.culprit != absence.position)
    texts = [_reason(Question(record, run, names, absence, refusal)) for refusal in refusals]
    return tuple(dict.fromkeys(texts))[:_SHOWN_REASONS]


def _reason(question: Question) -> str:
    reason = _REASONS[question.refusal.reason](question)
    first = question.refusal.axes[:1]
    if first and not first[0].overlaps(question.absence.axis):
        reason = f"{axis_text(first[0])} comes before it, and {reason}"
    return reason


# --- Reasons that a step decides --------------------------------------------------------------------


def _other_factor(question: Question) -> str:
    refusal = question.refusal
    assert refusal.other_factor is not None
    dim = question.dim_of_culprit(refusal.other_factor)
    result = precedence(question.record, question.run, question.absence, refusal)
    own = question.run.final.get(question.culprit)
    if own is None or not any(overlap(dim.axes, refusal.conflicting) for dim in own.dims):
        return (
            f"the same step gives {axis_refs_text(refusal.conflicting)} to another part of dimension {dim} "
            f"of {question.culprit_name}, which cannot be sharded before its more major parts are"
        )
    text = f"{axis_refs_text(refusal.conflicting)} already shards dimension {dim} of {question.culprit_name}"
    return text if result is None else f"{text}: {_rule_text(result, question)}"


def _direction(question: Question) -> str:
    absence = question.absence
    assert isinstance(absence.site, Site)
    is_forward = absence.neighbor_position < absence.site.operand_count <= absence.position
    way = "forward" if is_forward else "backward"
    if absence.site.op_name == "sdy.propagation_barrier":
        return f"the barrier does not let shardings through {way}"
    return f"the factor does not propagate {way}"


_REASONS: dict[Reason, Callable[[Question], str]] = {
    Reason.MESHES: lambda _: "its operands and results have shardings on different meshes",
    Reason.MAXIMAL_MESH: lambda _: "the sharding is on a mesh of one device",
    Reason.RANK: lambda _: (
        "the sharding, which comes from a sharding group, has another rank than the tensor"
    ),
    Reason.BLOCKED: lambda the: f"its rule blocks propagation along dimension {the.absence.dim}",
    Reason.DIRECTION: _direction,
    Reason.OTHER_AXES: Question.other_axes,
    Reason.CLOSED: Question.closed,
    Reason.REPLICATED: lambda the: (
        f"{the.culprit_name} is explicitly replicated along {the.axes}{the.annotation()}"
    ),
    Reason.UNREDUCED: lambda the: (
        f"{the.culprit_name} is unreduced along {the.axes}: its shards are to be summed along it"
    ),
    Reason.OTHER_FACTOR: _other_factor,
    Reason.NOT_DIVISIBLE: Question.not_divisible,
    Reason.OVERFLOW: Question.overflow,
    Reason.RESULTS: lambda the: (
        "operands of an elementwise operation take from each other only axes that its result has, and "
        f"{the.culprit_name} lacks {the.axes}"
    ),
    Reason.CONSERVATIVE: lambda _: "conservative propagation does not propagate sub-axes",
    Reason.MAJOR_FACTOR: lambda the: (
        f"dimension {the.absence.dim} is several dimensions in one, and the more major one is not fully "
        f"sharded: shards along {the.axes} would not be contiguous"
    ),
    Reason.NOT_RECORDED: lambda the: (
        f"no reason was recorded: a step along it shards dimension {the.absence.dim} along "
        f"{the.axes}, and the final sharding does not have it"
    ),
}


# --- Who was first ----------------------------------------------------------------------------------


def _rule_text(result: Precedence, question: Question) -> str:
    winner = result.winner
    if result.rule is AbsenceRule.ANNOTATION:
        return f"{annotation_text(winner.origin, question.names)} is annotated with it"
    step = winner.step
    assert step is not None
    came = f"it propagated {_along(question.run, step.site)}"
    return {
        AbsenceRule.USER_PRIORITY: f"{came} with user priority p{step.priority}, before the other",
        AbsenceRule.OP_PRIORITY: f"{came}, which propagates before this operation",
        AbsenceRule.STRATEGY: f"{came} by the basic strategy, which is before the aggressive one",
        AbsenceRule.MORE_ELEMENTS: f"{came}, from the larger tensor",
        AbsenceRule.SHARDED_SIZE: f"{came}, where the sharded size of its dimension is larger",
        AbsenceRule.EARLIER_TENSOR: f"{came}, from the earlier operand",
        AbsenceRule.LOWER_FACTOR: f"{came}, where its dimension comes first",
        AbsenceRule.ORDER: f"{came}, which is visited first",
    }[result.rule]


def _along(run: PropagationRun, site: Site) -> str:
    return f"along {site_text(run, site)}"


def obstacle_reason(absence: Absence) -> str:
    """The reason for which no step gives the axis to the value."""
    assert absence.obstacle is not None
    return _OBSTACLES[absence.obstacle](absence)


def _no_propagation(absence: Absence) -> str:
    if absence.site.op_name == "sdy.propagation_barrier":
        return "the barrier lets no sharding through"
    return "nothing propagates along it"


def _no_dimension(absence: Absence) -> str:
    if isinstance(absence.site, Site) and absence.factor in absence.site.rule.reduction:
        return "it reduces over that dimension, so this value does not have it"
    return "no dimension of this value corresponds to that one"


def _manual_axis(absence: Absence) -> str:
    axis = axis_text(absence.axis)
    return f"{axis} is a manual axis of the computation, so only in_shardings shard its inputs along it"


_OBSTACLES: dict[Obstacle, Callable[[Absence], str]] = {
    Obstacle.NO_RULE: lambda _: "it has no sharding rule, so nothing propagates along it",
    Obstacle.NO_PROPAGATION: _no_propagation,
    Obstacle.NO_DIMENSION: _no_dimension,
    Obstacle.MANUAL_AXIS: _manual_axis,
}
