"""Sentences on the steps that propagated an axis to a value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from textwrap import wrap

from sdyopt.analysis.explain.names import ExplanationNames
from sdyopt.analysis.figures.source_locations import (
    constraint_text,
    is_derived,
    is_out_sharding,
    is_shard_map,
    source_location,
)
from sdyopt.analysis.sharding_record.arrivals import AnnotationKind, Arrival, UserAnnotation, dimension_of
from sdyopt.analysis.sharding_record.model import Gap, PropagationRun, Site, Step
from sdyopt.analysis.sharding_record.sources import AnnotationSource
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.diagnostic import handling
from sdyopt.base.diagnostics.text import printable_line
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.ops import ReshardOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.value_shardings import block_or_result, sharding_of
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.value_names import name_of_result
from sdyopt.shardy.record import FunctionResult, Means
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of

# Of a longer chain, the steps in the middle are left out.
_FIRST_STEPS, _LAST_STEPS = 3, 1

# The maximum number of further sources of an axis that are named.
_SHOWN_SOURCES = 3
# Of a value whose sharding JAX derives, so many values before it are looked at.
_MOST_VALUES = 200
# Of so many, equal ones are named once.
_READ_SOURCES = 12


def add_arrival(parent: Sentence, arrival: Arrival, run: PropagationRun, names: ExplanationNames) -> None:
    """Adds the steps by which an axis came, the closest first, and the annotation that it comes from."""
    *steps, last = arrival.chain()
    hidden = len(steps) - _FIRST_STEPS - _LAST_STEPS
    for number, item in enumerate(steps):
        if hidden > 1 and _FIRST_STEPS <= number < _FIRST_STEPS + hidden:
            if number == _FIRST_STEPS:
                parent.add(f"… {hidden} more steps, along {operations_text(steps[number : number + hidden])}")
            continue
        text, source_line = step_text(item, run, names)
        # Two operations of one line may have the same words.
        if parent.children[-1:] != [Sentence(text, source_line)]:
            parent.add(text, source_line)
    annotation = last.annotation
    assert annotation is not None
    text = annotation_text(annotation, names)
    written = written_origin(annotation, arrival.axis, names)
    if written[0] != annotation_text(annotation._replace(means=None), names):
        text = f"{text}, from {' at '.join(filter(None, written))}"
    if len(parent.children) or annotation.means is None:
        text = f"annotated: {text}"
    parent.add(f"{text}{_of_priority(annotation.priority)}", annotation_source_line(annotation, names))


def add_other_sources(
    parent: Sentence, sources: Sequence[AnnotationSource], arrival: Arrival, names: ExplanationNames
) -> None:
    """Adds the annotations that an axis would come from without the one that its steps lead to."""
    own = arrival.origin
    others = [source.annotation for source in sources if source.annotation[:3] != own[:3]]
    # With explicit axes, JAX annotates each value; what a person has written is named.
    others = [
        annotation
        for annotation in others
        if annotation.kind is not AnnotationKind.CONSTRAINT or not is_derived(annotation.op)
    ]
    if others:
        # A line may write several annotations.
        texts = (where_annotated(annotation, names).removeprefix("in ") for annotation in others)
        shown = list(islice(dict.fromkeys(islice(texts, _READ_SOURCES)), _SHOWN_SOURCES))
        more = len(others) - len(shown)
        parent.add(f"also from: {', '.join(shown)}{f' and {more} more annotations' if more else ''}")


def step_text(arrival: Arrival, run: PropagationRun, names: ExplanationNames) -> tuple[str, str]:
    """The sentence on one step, and the source line of what it starts from, or that of its operation."""
    step = arrival.step
    assert step is not None
    source = step.site.subjects[arrival.source_position]
    assert source is not None
    dim = dimension_of_factor(step, arrival.source_position, arrival.factor)
    name, source_line = names.subject(run, source), names.source_line(step.site.op)
    owner = run.edge_owners.get(source, source)
    described = None if isinstance(owner, FunctionResult) else names.described(block_or_result(owner))
    if described is not None:
        name, source_line = described
    way = _edge_text(step.site)
    if not way:
        along = site_text(run, step.site)
        way = f"{direction(step.site, arrival.source_position, arrival.position)} along {along}"
    text = f"from {name} (dimension {dim}), {way}{_phase(step)}"
    if arrival.group_member is not None:
        text = f"with {names.subject(run, arrival.group_member)}, which is in its sharding group: {text}"
    return text, source_line


def operations_text(steps: Sequence[Arrival]) -> str:
    """The operations of some steps, each once."""
    ops = dict.fromkeys(_operation(step.step.site) for step in steps if step.step is not None)
    shown = list(ops)[:4]
    return ", ".join(shown) + (", …" if len(ops) > len(shown) else "")


def _operation(site: Site) -> str:
    name = site.op_name if site.edge_owner is None else site.edge_owner.signature.name
    return name.partition(".")[2]


def direction(site: Site, source: int, target: int) -> str:
    """The direction between two operands or results."""
    count = site.operand_count
    if (source < count) is (target < count):
        return "between operands" if source < count else "between results"
    return "forward" if source < count else "backward"


def _edge_text(site: Site) -> str:
    """The way of an axis into or out of the regions of an operation; "" for one along an operation."""
    if site.edge_owner is None or isinstance(site.op, FuncOp):
        return ""
    name = site.edge_owner.signature.name
    if name == "sdy.named_computation":
        return f"through {op_text(site.edge_owner)}"
    return f"{_EDGES.get(name, 'which it passes on')} (data-flow edge of {op_text(site.edge_owner)})"


_EDGES = {
    "stablehlo.while": "which the loop carries",
    "stablehlo.case": "through the branches",
    "stablehlo.if": "through the branches",
    "sdy.manual_computation": "through the shard_map",
}


def site_text(run: PropagationRun, site: Site | Gap) -> str:
    """`stablehlo.add`, `the data-flow edge of stablehlo.while`, `the return of @main`."""
    if isinstance(site.op, FuncOp):
        return f"the return of @{site.op.sym_name}"
    if isinstance(site, Site) and site.edge_owner is not None:
        return f"the data-flow edge of {op_text(site.edge_owner)}"
    return _without_dialect(site.op_name, site.op)


def _without_dialect(name: str, op: Op) -> str:
    """`add` for an operation of a line of Python, `stablehlo.add` for any other."""
    location = source_location(op.location)
    is_of_python = location.name_stack and location.line
    return name.removeprefix("stablehlo.").removeprefix("sdy.") if is_of_python else name


def op_text(op: Op) -> str:
    """The name of an operation; for a named computation, the call that it was."""
    if is_shard_map(op):
        return "the shard_map"
    name = op.attribute("name") if op.signature.name == "sdy.named_computation" else None
    if name is None:
        return _without_dialect(op.signature.name, op)
    return f"the call of @{getattr(name, 'value', '')}"


def _phase(step: Step) -> str:
    return f" (priority p{step.priority})" if step.priority else ""


def _of_priority(priority: int) -> str:
    return f", with user priority p{priority}" if priority else ""


def dimension_of_factor(step: Step, position: int, factor: int) -> int:
    """The dimension of an operand or result that has a factor."""
    mapping = list(step.site.rule.tensors)[position]
    return next(dim for dim, item in enumerate(mapping.dims) if factor in item.factors)


# --- Annotations ------------------------------------------------------------------------------------


def annotation_text(annotation: UserAnnotation, names: ExplanationNames) -> str:
    """The subject of the annotation."""
    text = _KIND_TEXT[annotation.kind](annotation, names)
    if annotation.means is Means.CONSTRAINT:
        return f"{text}, which its input got before propagation"
    if annotation.means is Means.GROUP:
        return f"{text}, a member of its sharding group"
    return text


def written_origin(annotation: UserAnnotation, axis: AxisRef, names: ExplanationNames) -> tuple[str, str]:
    """What a person has written that gives an axis to a value, and its line.

    With explicit axes, JAX derives the shardings of most values from those of operands.
    """
    written = annotation
    if annotation.kind is AnnotationKind.CONSTRAINT and is_derived(annotation.op):
        written = _before_derived(annotation.op, axis) or annotation
    text = annotation_text(written._replace(means=None), names)
    return text, annotation_source_line(written, names)


def _before_derived(op: Op, axis: AxisRef) -> UserAnnotation | None:
    """The nearest annotation before a derived one that a person has written, with the axis where it is."""
    result = block_or_result(op.results[0])
    pending = [(result, dimension_of(sharding_of(result), axis))]
    seen = set(pending)
    for value, dim in pending:
        if len(seen) > _MOST_VALUES:
            break
        before: Iterable[tuple[Value, int]] = ()
        if isinstance(value, BlockArgument):
            owner = value.block.parent_op
            if isinstance(owner, FuncOp) and dimension_of(sharding_of(value), axis) == dim:
                return UserAnnotation(AnnotationKind.INPUT, owner, value.index)
            if isinstance(owner, WhileOp):
                before = [(owner.operands[value.index], dim)]
        # Passes replace constraints, at their locations.
        elif isinstance(value.op, ShardingConstraintOp | ReshardOp | CollectiveOp):
            if dimension_of(sharding_of(value), axis) != dim:
                continue
            if source_location(value.op.location).name_stack and not is_derived(value.op):
                return UserAnnotation(AnnotationKind.CONSTRAINT, value.op, 0)
            (operand,) = value.op.operands
            before = [(operand, dim)]
        else:
            before = _dimensions_before(value, dim)
        new = [item for operand, at in before if (item := (block_or_result(operand), at)) not in seen]
        seen.update(new)
        pending += new
    return None


def _dimensions_before(value: OpResult, dim: int) -> Iterator[tuple[Value, int]]:
    """The dimensions of operands that the dimension of a result is computed from."""
    op = value.op
    if isinstance(op, WhileOp):
        (block,) = op.body.blocks
        assert block.last is not None
        yield from ((owner.operands[value.index], dim) for owner in (op, block.last))
        return
    with handling(lambda _: None):
        rule = sharding_rule_of(op)
    if rule is None:
        return
    factors = set(rule.results[value.index].dims[dim].factors)
    for operand, mapping in zip(op.operands, rule.operands, strict=True):
        for number, item in enumerate(mapping.dims):
            if not factors.isdisjoint(item.factors):
                yield operand, number


def where_annotated(annotation: UserAnnotation, names: ExplanationNames) -> str:
    """`in the input %x (train.py:3)`."""
    source_line = annotation_source_line(annotation, names)
    text = annotation_text(annotation._replace(means=None), names)
    return f"in {text}" + (f" ({source_line})" if source_line else "")


def annotation_source_line(annotation: UserAnnotation, names: ExplanationNames) -> str:
    """The source line of an annotation."""
    if annotation.kind is AnnotationKind.INPUT and isinstance(annotation.op, FuncOp):
        return names.source_line_of_value(annotation.op.entry.arguments[annotation.number])
    return names.source_line(annotation.op)


def _input(annotation: UserAnnotation, names: ExplanationNames) -> str:
    op = annotation.op
    if isinstance(op, FuncOp):
        return f"the input {names.value(op.entry.arguments[annotation.number])}"
    return f"input {annotation.number} of {op_text(op)}"


def _output(annotation: UserAnnotation, names: ExplanationNames) -> str:
    op = annotation.op
    if isinstance(op, FuncOp):
        name = name_of_result(op, annotation.number)
        return name or f"result {annotation.number} of @{op.sym_name}"
    return f"result {annotation.number} of {op_text(op)}"


def _constraint(annotation: UserAnnotation, names: ExplanationNames) -> str:
    operand = annotation.op.operands[0] if annotation.op.operands else None
    described = None if operand is None else names.described(block_or_result(operand))
    name = described[0] if described else "" if operand is None else names.value(block_or_result(operand))
    if is_derived(annotation.op):
        return f"the sharding that JAX derives for {name or 'an intermediate value'}"
    if is_out_sharding(annotation.op):
        return f"out_sharding of {name}"
    return f"{constraint_text(annotation.op)}{f' on {name}' if name else ''}"


def _attribute(annotation: UserAnnotation, names: ExplanationNames) -> str:
    op = annotation.op
    if isinstance(op, FuncOp):
        return f"an annotation on @{op.sym_name}"
    if annotation.number < len(op.results):
        result = op.results[annotation.number]
        assert isinstance(result, OpResult)
        return f"the sdy.sharding attribute of {op.signature.name}, for {names.value(result)}"
    return f"the sdy.sharding attribute of {op.signature.name}"


def _manual_input(annotation: UserAnnotation, names: ExplanationNames) -> str:
    op = annotation.op
    if is_shard_map(op) and annotation.number < len(op.operands):
        return (
            f"in_specs of the shard_map, for {names.value(block_or_result(op.operands[annotation.number]))}"
        )
    return f"entry {annotation.number} of the in_shardings of the manual computation"


def _manual_output(annotation: UserAnnotation, _: ExplanationNames) -> str:
    if is_shard_map(annotation.op):
        return f"out_specs of the shard_map, for its result {annotation.number}"
    return f"entry {annotation.number} of the out_shardings of the manual computation"


_KIND_TEXT = {
    AnnotationKind.INPUT: _input,
    AnnotationKind.OUTPUT: _output,
    AnnotationKind.CONSTRAINT: _constraint,
    AnnotationKind.MANUAL_INPUT: _manual_input,
    AnnotationKind.MANUAL_OUTPUT: _manual_output,
    AnnotationKind.ATTRIBUTE: _attribute,
}


# A tree of sentences as text, wrapped to a width.
#
#     %0 of @main: f32[8,32] is sharded P('data')
#     ├─ in sdy: tensor<8x32xf32> [{"data"}, {}]
#     └─ "data" shards dimension 0
#        ├─ from %x (dimension 0), forward along stablehlo.tanh
#        └─ annotated: the input %x
#
# Text of the input is escaped, so that it cannot control a terminal.


# The least number of columns of a sentence, however deep it is in the tree.
_MIN_COLUMNS = 30

# Columns between a sentence and its source line.
_GAP = 2


@dataclass
class Sentence:
    """A node: a sentence without a full stop, and the source line that it is about."""

    text: str
    source_line: str = ""
    children: list[Sentence] = field(default_factory=list)

    def add(self, text: str, source_line: str = "") -> Sentence:
        """Adds a child and returns it."""
        child = Sentence(text, source_line)
        self.children.append(child)
        return child


_NO_BREAK = "\N{NO-BREAK SPACE}"
# What stays in one line: a PartitionSpec and what to ask next, to be copied, and an amount.
_WHOLE = constant_pattern(r"\bP\([^()]*(?:\([^()]*\)[^()]*)*\)|--explain='[^']*'|\d [KMGT]?i?B\b")


def tree_text(root: Sentence, width: int) -> str:
    """The tree, with a final newline."""
    return "".join(f"{line}\n" for line in _lines(root, "", "", width))


def _lines(node: Sentence, first: str, rest: str, width: int) -> Iterator[str]:
    yield from _sentence(node, first, rest, width)
    for number, child in enumerate(node.children):
        is_last = number == len(node.children) - 1
        branch, bar = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
        yield from _lines(child, rest + branch, rest + bar, width)


def _sentence(node: Sentence, first: str, rest: str, width: int) -> Iterator[str]:
    text, source_line = printable_line(node.text), printable_line(node.source_line)
    # Continued lines keep the bar of the children that follow.
    inner = rest + ("│  " if node.children else "  ")
    columns = max(width, _MIN_COLUMNS + len(first))
    lines = wrap(
        _WHOLE.sub(lambda match: match[0].replace(" ", _NO_BREAK), text),
        max(columns, _MIN_COLUMNS + len(inner)),
        initial_indent=first,
        subsequent_indent=inner,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first]
    lines = [line.replace(_NO_BREAK, " ") for line in lines]
    if source_line and len(lines[-1]) + _GAP + len(source_line) <= columns:
        lines[-1] += f"{' ' * _GAP}{source_line}"
    elif source_line:
        lines.append(f"{inner}{source_line}")
    yield from lines
