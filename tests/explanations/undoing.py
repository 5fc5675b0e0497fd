"""A reason to undo, and what its edits have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from sdyopt.analysis.sharding_record.absences import Absence
from sdyopt.analysis.sharding_record.model import Site
from sdyopt.mlir.dialects.sdy.axes import AxisRef, difference, sorted_and_merged
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, MeshOrRef, TensorSharding
from sdyopt.shardy.record import Subject
from sdyopt.shardy.sharding.axis_lists import Axes, overlap
from sdyopt.shardy.sharding.propagation.propagation_step import StepResult
from sdyopt.shardy.sharding.propagation.step_input import Refusal
from tests.explanations.annotations import Change, annotate
from tests.explanations.programs import Edit, Recorded


class Target(Enum):
    """Where a competing axis is dropped."""

    ANNOTATION = "the annotation that it comes from"
    TENSOR = "the tensor that has it"


@dataclass(frozen=True)
class Undoing:
    """A reason to undo: a refusal of an absence in a program."""

    program: Recorded
    absence: Absence
    refusal: Refusal
    target: Target

    @property
    def site(self) -> Site:
        assert isinstance(self.absence.site, Site)
        return self.absence.site

    @property
    def position(self) -> int:
        """That of the tensor that the reason is about."""
        return self.absence.position if self.refusal.culprit is None else self.refusal.culprit

    @property
    def subject(self) -> Subject | None:
        """The tensor that the reason is about."""
        return self.site.subjects[self.position]

    @property
    def result(self) -> StepResult:
        """The step at the fixed point."""
        refusals = self.site.refusals
        assert refusals is not None and refusals.result is not None
        return refusals.result

    @property
    def mesh_or_ref(self) -> MeshOrRef:
        """The mesh of the neighbor."""
        sharding = self.site.shardings[self.absence.neighbor_position]
        assert sharding is not None
        return sharding.mesh_or_ref

    def dim_of(self, factor: int) -> int | None:
        """The dimension of the tensor that has a factor."""
        dims = list(self.site.rule.tensors)[self.position].dims
        return next((number for number, dim in enumerate(dims) if factor in dim.factors), None)

    def local(self, axes: Axes) -> Axes:
        """The axes without the manual ones of the computation at an edge that leads into its body."""
        manual = self.site.manual_axes if self.position == len(self.site.subjects) - 1 else ()
        return tuple([axis for axis in axes if axis.name not in manual])

    def annotate(self, change: Change) -> list[Edit]:
        """Changes the annotation of the tensor, or gives it one, on the mesh of the neighbor."""
        return annotate(self.program, self.subject, self.mesh_or_ref, change)

    def axes_of(self, factor: int | None, position: int) -> Axes:
        """The axes of a factor in a tensor at the fixed point."""
        current = None if factor is None else self.result.before[position].factors.get(factor)
        return () if current is None else current.axes

    def all_axes(self, position: int) -> list[AxisRef]:
        """The axes of all dimensions of a tensor at the fixed point."""
        sharding = self.site.shardings[position]
        return [] if sharding is None else [axis for dim in sharding.dims for axis in dim.axes]


def only_in_dim(sharding: TensorSharding, axes: Sequence[AxisRef], kept_dim: int) -> TensorSharding:
    """The sharding with axes in one dimension only; other dimensions end before the first of them."""
    dims = []
    for number, dim in enumerate(sharding.dims):
        kept = dim.axes if number == kept_dim else axes_before(dim.axes, axes)
        dims.append(dim if kept == dim.axes else dimension_with(kept, dim))
    new = sharding.with_dims(tuple(dims))
    new = new.with_replicated_axes(_not_overlapping(new.replicated_axes, axes))
    return new.with_unreduced_axes(_not_overlapping(new.unreduced_axes, axes))


def dimension_with(axes: Axes, old: DimensionSharding) -> DimensionSharding:
    """A dimension sharding with other axes; one without any that is closed has no priority."""
    return DimensionSharding(axes, old.is_closed, old.priority if axes or not old.is_closed else None)


def axes_before(axes: Axes, others: Sequence[AxisRef]) -> Axes:
    """The axes before the first one that overlaps one of `others`."""
    for position, axis in enumerate(axes):
        if overlap((axis,), others):
            return axes[:position]
    return axes


def _not_overlapping(axes: Axes, others: Sequence[AxisRef]) -> Axes:
    return tuple([axis for axis in axes if not overlap((axis,), others)])


def replicated_along(sharding: TensorSharding, axes: Axes, mesh: Mesh) -> TensorSharding:
    """The sharding, explicitly replicated along those of the axes that it does not have, too."""
    used = [axis for dim in sharding.dims for axis in dim.axes] + list(sharding.unreduced_axes)
    replicated = [*sharding.replicated_axes, *difference(axes, [*used, *sharding.replicated_axes], mesh)]
    return sharding.with_replicated_axes(sorted_and_merged(replicated, mesh))
