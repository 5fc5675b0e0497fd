"""Changes of a program that a user can write: edits of annotations that are made together.

edit = Edit(argument, sharding, mesh)
edit.jax                       # P('x')
edit.text("w")                 # shard the input w as P('x')
edit.sdy("%arg0")              # [{"x"}, {}] on %arg0
trials.effect(Change((edit,)))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from sdyopt.analysis.figures.assumed_pipeline import Passes
from sdyopt.analysis.figures.source_locations import (
    OUT_SHARDING,
    constraint_text,
    is_out_sharding,
    order_in_call,
)
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import axis_ref_text
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, Mesh
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op, sharding_of
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import is_private
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from sdyopt.mlir.value_names import result_text
from sdyopt.shardy.notation.partition_spec import annotation_spec
from sdyopt.shardy.notation.sharding_on_mesh import NotExpressible, ShardingOnMesh
from sdyopt.shardy.record import FunctionResult, Subject

# How the constraint of a gradient is written that no other statement can constrain.
IN_BACKWARD_RULE = " in the backward rule of a jax.custom_vjp"


class AnnotationEdit(NamedTuple):
    """A sharding for an argument or result of a function, for a constraint, or for another value.

    The sharding of a constraint is replaced if the subject is its result; it is removed if `is_removal`.
    Other values get a new constraint, as `jax.lax.with_sharding_constraint` does. `how` says where it is
    written if the value is a gradient, which no statement of a program computes. `lacks_dimension` says that
    axes are lost because those of what it follows shard a dimension now that the value does not have.
    """

    subject: Subject
    sharding: TensorSharding
    mesh: Mesh
    is_removal: bool = False
    how: str = ""
    lacks_dimension: bool = False

    @property
    def is_boundary(self) -> bool:
        """Whether the sharding is that of an argument or a result of the program."""
        return isinstance(self.subject, FunctionResult) or self.is_of_input

    @property
    def is_of_input(self) -> bool:
        """Whether the sharding is that of an argument of the program."""
        return not isinstance(self.subject, FunctionResult) and is_input(self.subject)

    @property
    def replaced(self) -> ShardingConstraintOp | None:
        """The constraint whose sharding is replaced."""
        op = self.subject.op if isinstance(self.subject, OpResult) else None
        return op if isinstance(op, ShardingConstraintOp) else None

    @property
    def frees(self) -> bool:
        """Whether it removes a constraint, or opens one, so that compilers choose what was constrained."""
        op = self.replaced
        return self.is_removal or (
            op is not None and op.sharding.is_fully_closed and not self.sharding.is_fully_closed
        )

    @property
    def is_new_constraint(self) -> bool:
        """Whether the value gets a constraint that the program does not have."""
        return not self.is_boundary and self.replaced is None

    @property
    def jax(self) -> str | None:
        """`P('x')`; None if a PartitionSpec cannot express the sharding, or its place in the program."""
        order = self._order
        if order is None:
            return None
        sharding = self.sharding
        if order and len(order) == sharding.rank:
            sharding = sharding.with_dims(tuple([sharding.dims[dim] for dim in order]))
        try:
            return annotation_spec(ShardingOnMesh(sharding, self.mesh))
        except NotExpressible:
            return None

    @property
    def _order(self) -> tuple[int, ...] | None:
        """The dimensions as the program orders them; () for its own order, None if it has others."""
        op = self.replaced
        return () if op is None or not is_out_sharding(op) else order_in_call(op)

    @property
    def spec(self) -> str:
        """The same; in place of None, the type of what is sharded, or Shardy's words."""
        if (spec := self.jax) is not None:
            return spec
        type = None if isinstance(self.subject, FunctionResult) else self.subject.type
        if self._order is not None or not isinstance(type, RankedTensor):
            return dims_text(self.sharding)
        names = [",".join(map(axis_ref_text, dim.axes)).replace('"', "") for dim in self.sharding.dims]
        sizes = zip(type.shape, names, strict=True)
        return f"[{','.join(f'{size}@{axes}' if axes else str(size) for size, axes in sizes)}]"

    @property
    def named(self) -> Subject:
        """The subject whose name texts use: the input of a constraint."""
        op = self.replaced
        if op is None:
            return self.subject
        assert isinstance(op.input, OpResult | BlockArgument)
        return op.input

    def text(self, name: str, is_explicit: bool = False) -> str:
        """The annotation for a program of JAX. `name` is that of `named`.

        `is_explicit`: the axes of the mesh are explicit, so that values are resharded, and not constrained.
        """
        spec = self.spec
        if isinstance(self.subject, FunctionResult):
            return f"shard {result_text(*self.subject)} as {spec}"
        if is_input(self.subject):
            return f"shard the input {name} as {spec}"
        if self.replaced is not None:
            # The result of an operation with an `out_sharding` is named by it.
            where = (
                name if is_out_sharding(self.replaced) else f"the {constraint_text(self.replaced)} on {name}"
            )
            return self._text_in(where)
        function = "jax.reshard" if is_explicit else "jax.lax.with_sharding_constraint"
        return f"{function}({name}, {spec}){self.how}"

    def text_at(self, lines: str, call: str = "") -> str:
        """The same for a constraint, at the lines that write it; `call` as for `written_spec`."""
        return self._text_in(f"{self._statement(call)} at {lines}", bool(call))

    def _statement(self, call: str) -> str:
        assert self.replaced is not None
        return call or f"the {constraint_text(self.replaced).removeprefix(OUT_SHARDING)}"

    def _text_in(self, where: str, is_call: bool = False) -> str:
        assert self.replaced is not None
        if self.is_removal:
            return f"remove {where}"
        if self._order is None:
            return f"shard {self.spec} within {where}"
        return f"write {self._argument(is_call)} in {where}"

    def _argument(self, is_call: bool) -> str:
        assert self.replaced is not None
        return f"out_sharding={self.spec}" if is_call or is_out_sharding(self.replaced) else self.spec

    def written_spec(self, call: str = "") -> str:
        """`P('x') in the reshard`: what is written of a constraint, and in which statement.

        `call` is that with an `out_sharding`, such as `jnp.zeros(…)`.
        """
        return f"{self._argument(bool(call))} in {self._statement(call)}"

    def sdy(self, name: str) -> str:
        """The same in Shardy's words. `name` is that of `named` in the text of the program."""
        dims = dims_text(self.sharding)
        if isinstance(self.subject, FunctionResult):
            return f"{dims} on result {self.subject.result_index} of @{self.subject.function.sym_name}"
        if is_input(self.subject):
            return f"{dims} on {name}"
        if self.is_removal:
            return f"no sdy.sharding_constraint on {name}"
        mesh = self.sharding.mesh_name
        return f"sdy.sharding_constraint {name} <@{mesh}, {dims}>" if mesh else f"{dims} on {name}"

    def edit(self, copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
        """Writes the sharding in a copy of the program."""
        self.edit_copy(copy_of(self.subject, copies), rewriter)

    def edit_copy(self, copy: Subject, rewriter: Rewriter) -> None:
        """The same, by the copy of the subject."""
        if self.is_removal:
            op = owning_op(copy) if isinstance(copy, OpResult) else None
            assert isinstance(op, ShardingConstraintOp)
            rewriter.replace(op, [op.input])
        elif isinstance(copy, FunctionResult):
            rewriter.set_result_attribute(copy.function, copy.result_index, SHARDING, self.sharding)
        elif is_input(copy):
            rewriter.set_argument_attribute(owning_op(copy), copy.index, SHARDING, self.sharding)
        elif self.replaced is not None:
            rewriter.set_attribute(owning_op(copy), "sharding", self.sharding)
        else:
            _constrain(copy, self.sharding, rewriter)

    @property
    def is_less_sharded(self) -> bool:
        """Whether an annotation only loses axes, those of a constraint all of them; or a new one has none."""
        if self.is_removal or self.lacks_dimension:
            return False
        if self.is_new_constraint:
            return self.sharding.is_fully_closed and self.sharding.is_fully_replicated
        before = annotation_of(self.subject)
        if before is None:
            return False
        was, now = ({axis.name for axis in sharding.axis_refs} for sharding in (before, self.sharding))
        return now < was and (self.is_boundary or not now)


# (operation -> its copy, rewriter of the copy): changes the copy.
Rewrite = Callable[[Mapping[Op, Op], Rewriter], None]


class Change(NamedTuple):
    """What is changed together: annotations, or what `rewrite` does to `op`, or `passes` that run first.

    `title` is for edits of many different places. `words` are the text and Shardy's words for what is no
    edit of an annotation. `parts` are the changes that it is made of, if there are several. `reason` says
    what is wrong without it, if figures do not. `of_sharding` is what `rewrite` makes of each sharding that
    the program writes, if it does nothing else.
    """

    edits: tuple[AnnotationEdit, ...] = ()
    title: str = ""
    rewrite: Rewrite | None = None
    passes: Passes | None = None
    words: tuple[str, str] = ("", "")
    parts: tuple[Change, ...] = ()
    op: Op | None = None
    reason: str = ""
    of_sharding: Callable[[TensorSharding], TensorSharding] | None = None

    @property
    def key(self) -> object:
        """What equal changes have in common."""
        return self.edits, self.words

    @property
    def subjects(self) -> frozenset[object]:
        """What is changed; two changes of one subject exclude each other."""
        return frozenset((edit.subject for edit in self.edits) if self.edits else (self.words,))

    @property
    def size(self) -> tuple[int, ...]:
        """The numbers of new constraints, of open ones, of results, and of all annotations that change."""
        new = sum(edit.is_new_constraint for edit in self.edits)
        opened = sum(not edit.sharding.is_fully_closed for edit in self.edits)
        results = sum(isinstance(edit.subject, FunctionResult) for edit in self.edits)
        return new, opened, results, len(self.edits)

    @property
    def is_unsure(self) -> bool:
        """Whether compilers may send more after it, and figures do not say when: a backward rule has it."""
        return any(edit.how == IN_BACKWARD_RULE for edit in self.edits)

    @property
    def turns_sharding_off(self) -> bool:
        """Whether annotations shard less than before without a reason: memory or other devices pay for it."""
        return not self.reason and any(edit.is_less_sharded for edit in self.edits)


def joined(changes: Sequence[Change]) -> Change:
    """Several changes in one."""
    rewrites = [change.rewrite for change in changes if change.rewrite is not None]
    passes = {flag: options for change in changes for flag, options in (change.passes or {}).items()}
    words = [change.words for change in changes if change.words[0]]

    def rewrite(copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
        for rewrite in rewrites:
            rewrite(copies, rewriter)

    return Change(
        tuple(written(changes).values()),
        "",
        rewrite if rewrites else None,
        passes or None,
        ("; ".join(text for text, _ in words), "; ".join(sdy for _, sdy in words)),
        tuple(changes),
    )


def written(changes: Iterable[Change]) -> dict[Subject, AnnotationEdit]:
    """The edits of changes by place; the last one holds."""
    return {edit.subject: edit for change in changes for edit in change.edits}


def annotation_of(subject: Subject) -> TensorSharding | None:
    """The sharding that a subject is annotated with."""
    if not isinstance(subject, FunctionResult):
        op = owning_op(subject)
        return sharding_of(subject) if is_input(subject) or isinstance(op, ShardingConstraintOp) else None
    result_attribute = subject.function.result_attributes[subject.result_index].get(SHARDING)
    return result_attribute if isinstance(result_attribute, TensorSharding) else None


def is_input(value: OpResult | BlockArgument) -> bool:
    """Whether a value is an argument of the program."""
    op = owning_op(value)
    return isinstance(value, BlockArgument) and isinstance(op, FuncOp) and not is_private(op)


def place_of(subject: Subject) -> Subject:
    """The place of the sharding of a subject: the constraint on it, if there is one, or itself."""
    if isinstance(subject, FunctionResult) or is_input(subject):
        return subject
    users = [use for use in subject.users if isinstance(use, ShardingConstraintOp)]
    if len(users) == 1 and subject.has_one_use and users[0].output.has_uses:
        output = users[0].output
        assert isinstance(output, OpResult)
        return output
    return subject


def dims_text(sharding: TensorSharding) -> str:
    """`[{"x"}, {?}]`: the dimensions of a sharding, as printed."""
    texts = [
        ", ".join([*map(axis_ref_text, dim.axes), *([] if dim.is_closed else ["?"])]) for dim in sharding.dims
    ]
    return f"[{', '.join(f'{{{text}}}' for text in texts)}]"


def copy_of(subject: Subject, copies: Mapping[Op, Op]) -> Subject:
    """The copy of a subject in a copy of its program."""
    if isinstance(subject, FunctionResult):
        function = copies[subject.function]
        assert isinstance(function, FuncOp)
        return FunctionResult(function, subject.result_index)
    if isinstance(subject, OpResult):
        result = copies[subject.op].results[subject.index]
        assert isinstance(result, OpResult)
        return result
    op = owning_op(subject)
    blocks = [block for region in op.regions for block in region.blocks]
    copied = [block for region in copies[op].regions for block in region.blocks]
    return copied[blocks.index(subject.block)].arguments[subject.index]


def _constrain(value: OpResult | BlockArgument, sharding: TensorSharding, rewriter: Rewriter) -> None:
    attributes = {"sharding": sharding}
    if isinstance(value, OpResult):
        op = rewriter.create(ShardingConstraintOp, [value], [value.type], attributes, after=value.op)
    else:
        op = rewriter.create(ShardingConstraintOp, [value], [value.type], attributes, at_start_of=value.block)
    rewriter.replace_uses_except(value, op.results[0], op)
