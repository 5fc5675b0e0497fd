"""The releases of Shardy that sdy-opt follows, and the one table of what came with which.

    if Behavior.SINGLE_DEVICE_RESHARDS.active: …

The release is part of the context. The newest one is followed by default; `following("jaxlib-0.10.2")`
selects an earlier one within a `with` block. A behaviour is active if the followed release has it. Code asks
for a behaviour and never compares releases, so to stop following a release is to delete its row, and what
only the rows before it need.

What is computed once per operation signature may depend on behaviours, because a signature belongs to a
release. Any other cached function that asks for a behaviour is `cached_by_release`, and an attribute of a
class that depends on one is a `ByRelease`.

`docs/versions.md` is written from the table.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from enum import Enum
from functools import lru_cache, wraps
from typing import Generic, TypeVar

from sdyopt.base.context import ContextPart
from sdyopt.base.interning import Interned

R = TypeVar("R")


class Release(Interned):
    """A release of the C++ passes: its name, its date, and its version of StableHLO."""

    name: str
    date: str
    stablehlo: str


JUNE_2026 = Release("jaxlib-0.10.2", "2026-06-17", "1.17")
SEPTEMBER_2026 = Release("jaxlib-0.11.2", "2026-09-17", "1.20")
OCTOBER_2026 = Release("jaxlib-0.12.0.1", "2026-10-21", "1.22")

# The oldest first.
RELEASES = (JUNE_2026, SEPTEMBER_2026, OCTOBER_2026)
NEWEST = RELEASES[-1]

# Every name of a release, the newest release first.
RELEASE_NAMES = tuple(release.name for release in reversed(RELEASES))


class Behavior(Enum):
    """A difference between releases: the first release with it, a sentence for users, and a lit case.

    The sentence says what a program gets since that release; the lit case is a path in `tests/lit/`.
    """

    since: Release
    summary: str
    case: str

    def __init__(self, since: Release, summary: str, case: str) -> None:
        self.since = since
        self.summary = summary
        self.case = case

    @property
    def active(self) -> bool:
        """Whether the release that is followed has it."""
        return self.since.date <= _FOLLOWED.value.date

    # Operations and attributes.
    STORED_REDUCTION_OP = (
        SEPTEMBER_2026,
        "`sdy.all_reduce` and `sdy.reduce_scatter` always store `reduction_op`, also for sums",
        "dialects/sdy/reductions_version.mlir",
    )
    COLLECTIVE_REDUCE = (
        SEPTEMBER_2026,
        "`stablehlo.collective_reduce` is an operation",
        "dialects/stablehlo/rooted_collectives.mlir",
    )
    UNSTABLE_TOP_K = (
        SEPTEMBER_2026,
        "`chlo.top_k` has the attribute `is_stable`",
        "dialects/chlo/top_k.mlir",
    )
    RESULT_TILINGS = (
        SEPTEMBER_2026,
        "`stablehlo.custom_call` has the attribute `result_tilings`",
        "dialects/stablehlo/custom_call.mlir",
    )
    AFFINE_MAPS_IN_BYTECODE = (
        SEPTEMBER_2026,
        "bytecode has encodings of affine maps, integer sets and strided layouts, which were written as text",
        "asm/bytecode/affine_maps.mlir",
    )
    BROADCASTS_OF_SEVERAL_VALUES = (
        SEPTEMBER_2026,
        "`stablehlo.collective_broadcast` takes several operands, and with `has_dynamic_root` their roots",
        "dialects/stablehlo/rooted_collectives.mlir",
    )

    # Import and propagation.
    CONSTRAINTS_BEFORE_INLINING = (
        OCTOBER_2026,
        "`sdy-propagation-pipeline` applies sharding constraints and imports sharding groups before it "
        "inlines calls",
        "propagation/propagation_pipeline_version.mlir",
    )
    CONSTRAINTS_ON_FUNC_EDGES = (
        OCTOBER_2026,
        "`sdy-apply-sharding-constraints` does not shard function data-flow edges: a constraint on one "
        "replaces it in other users, as for other data-flow edges",
        "importing/apply_sharding_constraints_version.mlir",
    )
    CONSTRAINTS_ON_OPEN_VALUES = (
        OCTOBER_2026,
        "`sdy-apply-sharding-constraints` also shards values whose sharding says nothing, such as "
        "`[{?}, {?}]`",
        "importing/apply_sharding_constraints_version.mlir",
    )
    CONSTRAINTS_IN_CALL_ORDER = (
        OCTOBER_2026,
        "`sdy-apply-sharding-constraints` visits callees before their callers, and the end of a chain of "
        "constraints replaces also what functions other than `@main` return",
        "importing/apply_sharding_constraints_calls.mlir",
    )
    GROUPS_IN_CALLED_FUNCTIONS = (
        OCTOBER_2026,
        "`sdy-sharding-group-import` regards a function that is called in a manual computation as in it",
        "importing/sharding_group_import_version_errors.mlir",
    )
    OPTIONAL_EQUAL_SIGN = (
        SEPTEMBER_2026,
        '`unreduced {"x"}` may be written for `unreduced={"x"}`',
        "driver/sdy_version_wording_errors.mlir",
    )
    COUNTS_IN_CALL_ERRORS = (
        SEPTEMBER_2026,
        "errors for calls with too many or too few operands or results say how many there are and should be",
        "driver/sdy_version_wording_errors.mlir",
    )
    REWORDED_ERRORS = (
        OCTOBER_2026,
        "errors call a maximal sharding a single-device sharding, and the one for tuples says what to do",
        "driver/sdy_version_wording_errors.mlir",
    )
    RESULTS_OF_ENTRY_POINT = (
        SEPTEMBER_2026,
        "`sdy-propagate-to-func-results` also gives the results of the entry point that have no sharding "
        "those of the returned values, and gives no result a sharding on a single device",
        "exporting/propagate_to_func_results_version.mlir",
    )
    MISMATCHED_UNREDUCED_RESULTS = (
        OCTOBER_2026,
        "`sdy-insert-func-call-reshards` does not reshard the result of a call that has other unreduced axes "
        "than the result of the function; `sdy-verify-unreduced-axes` reports it",
        "exporting/insert_func_call_reshards_unreduced.mlir",
    )
    IF_DATA_FLOW = (
        OCTOBER_2026,
        "shardings propagate out of the branches of `stablehlo.if`, as out of those of `stablehlo.case`",
        "propagation/basic_propagate_if.mlir",
    )
    DEBUG_INFO_OF_EVERY_EDGE = (
        OCTOBER_2026,
        "`sdy-sink-data-flow-edges` adds one entry of debug info for every data-flow edge, empty if it has "
        "none",
        "propagation/propagate_debug_version.mlir",
    )
    NO_UNKNOWN_ORIGINS = (
        OCTOBER_2026,
        "axes with an unknown origin are not in `sdy.sharding_origins`, where their origin was `: 0`",
        "propagation/propagate_debug_version.mlir",
    )
    SINGLE_DEVICE_MESH_NAMES = (
        OCTOBER_2026,
        "`sdy-lift-inlined-meshes{use-single-device-mesh-names=true}` names meshes of a single device "
        "`@single_device_0` and so on",
        "importing/lift_inlined_meshes_single_device.mlir",
    )
    MESH_NAMES_IN_PROGRAM_ORDER = (
        OCTOBER_2026,
        "`sdy-lift-inlined-meshes` numbers the meshes of replica groups in the order of the program, instead "
        "of all-gathers before all-reduces and so on",
        "importing/lift_inlined_meshes_order.mlir",
    )
    DISTINCT_GROUP_MEMBERS = (
        OCTOBER_2026,
        "a value that is in its sharding group twice gets one constraint, if the group gets any",
        "propagation/basic_propagate_groups.mlir",
    )
    MODULE_SHARDING_METADATA = (
        OCTOBER_2026,
        "`sdy-drop-sharding-and-mesh` removes `sdy.parameters_shardings` and `sdy.output_shardings` of the "
        "module, unless `keep-module-sharding-metadata` is set",
        "exporting/drop_sharding_and_mesh_version.mlir",
    )

    # Sharding rules.
    DEBUG_LOG_CALLS = (
        SEPTEMBER_2026,
        "custom calls to `xla.debug.Log` need no sharding rule, so there is no warning",
        "propagation/populate_op_sharding_rules_custom_call.mlir",
    )
    PERMUTED_UPDATES = (
        SEPTEMBER_2026,
        "updated dimensions of `stablehlo.dynamic_update_slice` are permutation factors, one of the operand "
        "and one of the update, which needs no replication",
        "propagation/populate_op_sharding_rules_slices.mlir",
    )
    PERMUTATION_OF_PADDED_DIMS = (
        OCTOBER_2026,
        "a dimension of `stablehlo.pad` with padding is a permutation factor even if it keeps its size",
        "propagation/populate_op_sharding_rules_slices.mlir",
    )
    RESHAPE_FACTOR_TYPES = (
        OCTOBER_2026,
        "in `stablehlo.reshape`, dimensions without a common divisor share a permutation factor, and a "
        "factor of only one of the tensors needs replication",
        "propagation/populate_op_sharding_rules.mlir",
    )
    SMALL_WINDOW_FACTORS = (
        OCTOBER_2026,
        "in `stablehlo.convolution`, a kernel window or a number of windows that the size of the input "
        "leaves no room for is a permutation factor of its own",
        "propagation/populate_op_sharding_rules.mlir",
    )
    TOP_K_CALLS = (
        OCTOBER_2026,
        "custom calls to `TopK` have the sharding rule of `mhlo.topk`",
        "propagation/populate_op_sharding_rules_custom_call.mlir",
    )

    # Export: reshards and collectives.
    REDUCTION_KINDS = (
        SEPTEMBER_2026,
        'partial results may be a maximum or minimum: `unreduced=max{"x"}`, `sdy.all_reduce max {"x"}`',
        "driver/sdy_version_syntax.mlir",
    )
    UNREDUCED_AXES_IN_EQUIVALENCE = (
        SEPTEMBER_2026,
        "shardings that differ in unreduced axes only are different, so they are resharded",
        "exporting/insert_func_call_reshards_version.mlir",
    )
    NO_NEW_UNREDUCED_AXES = (
        SEPTEMBER_2026,
        "`sdy.all_reduce` and `sdy.reduce_scatter` of sums must not add unreduced axes",
        "driver/sdy_version_errors.mlir",
    )
    SUB_AXES_ACROSS_RESHAPES = (
        SEPTEMBER_2026,
        "`-canonicalize` reuses a reshard of a reshaped value also if a sharding has sub-axes",
        "driver/sdy_version.mlir",
    )
    SINGLE_DEVICE_RESHARDS = (
        SEPTEMBER_2026,
        "`sdy-insert-explicit-reshards` inserts reshards around operations with a sharding on a single "
        "device, and `sdy-reshard-to-collectives` keeps them",
        "exporting/insert_explicit_reshards_single_device.mlir",
    )
    VERIFIED_UNREDUCED_AXES = (
        SEPTEMBER_2026,
        "pipelines run `sdy-verify-unreduced-axes` before they insert reshards",
        "exporting/export_pipeline_version.mlir",
    )
    INLINED_MESHES = (
        SEPTEMBER_2026,
        "`sdy-export-pipeline` ends with `sdy-inline-meshes`",
        "exporting/export_pipeline_version.mlir",
    )
    INLINED_REPLICA_GROUP_MESHES = (
        SEPTEMBER_2026,
        "`sdy-inline-meshes` inlines the meshes of replica groups too",
        "exporting/inline_meshes_replica_groups.mlir",
    )
    KEPT_TOKEN_SHARDINGS = (
        SEPTEMBER_2026,
        "the tokens of an operation with a sharding on a single device keep their sharding, instead of being "
        "on the global mesh",
        "exporting/insert_explicit_reshards_single_device.mlir",
    )
    REDUCTION_KINDS_OF_BODIES = (
        SEPTEMBER_2026,
        "`sdy-insert-explicit-reshards` inserts `sdy.all_reduce max` or `min` after a reduction or "
        "scatter by a maximum or minimum, and has the option `mark-partial-result-with-unreduced-axes`",
        "exporting/insert_explicit_reshards_reduction_kinds.mlir",
    )
    RESHAPES_KEEPING_AXES = (
        OCTOBER_2026,
        "`sdy-insert-explicit-reshards` inserts no reshards around a reshape that keeps a sharded dimension "
        "in front of the dimensions that it splits or merges, such as 10 elements in 4 shards to 5x2",
        "exporting/insert_explicit_reshards_reshape_version.mlir",
    )
    REDUCTIONS_OF_NO_KIND = (
        OCTOBER_2026,
        "`sdy-insert-explicit-reshards` inserts no all-reduce after reductions of several values that are "
        "not all sums, maxima or minima, such as argmax, nor after scatters by another operation",
        "exporting/insert_explicit_reshards_reduction_kinds.mlir",
    )
    OPTIMIZED_COLLECTIVES = (
        SEPTEMBER_2026,
        "`sdy-optimize-collectives` replaces a collective-permute before all-to-alls by all-to-alls of a "
        "reshaped tensor; `sdy-export-pipeline` runs it after `sdy-reshard-to-collectives`",
        "exporting/optimize_collectives.mlir",
    )
    RESHARDS_OF_PADDED_DIMENSIONS = (
        OCTOBER_2026,
        "`sdy-reshard-to-collectives` removes all axes of a dimension before it shards it with another "
        "padding, such as 50 elements in 4 shards instead of 2",
        "exporting/reshard_to_collectives_padded.mlir",
    )

    KEPT_MESHES = (
        SEPTEMBER_2026,
        "`sdy-drop-sharding-and-mesh` keeps meshes that operations refer to",
        "exporting/drop_sharding_and_mesh_errors.mlir",
    )

    # Partitioning.
    STABLEHLO_AXIS_REFS = (
        SEPTEMBER_2026,
        "`sdy-convert-global-to-local{enable-rgv3=true}` writes axes of replica groups as "
        '`#stablehlo.axis_ref<name = "x">`, and sub-axes as '
        '`#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>`',
        "partitioning/convert_global_to_local_options.mlir",
    )
    FILLER_BEFORE_MASK = (
        SEPTEMBER_2026,
        "`sdy-pad-for-divisibility` creates the zero that overwrites padding before the mask",
        "partitioning/pad_for_divisibility.mlir",
    )
    REPLICA_GROUPS_BY_AXES = (
        SEPTEMBER_2026,
        "`sdy-convert-global-to-local` writes replica groups as axes of a mesh by default",
        "partitioning/convert_global_to_local_options.mlir",
    )
    PADDED_MODULES = (
        SEPTEMBER_2026,
        "`sdy-pad-for-divisibility` runs on modules, not on functions",
        "partitioning/pad_for_divisibility.mlir",
    )
    ALL_AXES_MANUAL = (
        SEPTEMBER_2026,
        "`sdy-per-instruction-partitioning` makes manual computations over all axes of the mesh",
        "partitioning/per_instruction_partitioning.mlir",
    )
    INT32_OFFSETS = (
        OCTOBER_2026,
        "`sdy-convert-global-to-local` computes offsets of shards as `i32`, and looks them up by the device "
        "id without converting it",
        "partitioning/convert_global_to_local_options.mlir",
    )
    COMBINED_PARTIAL_RESULTS = (
        OCTOBER_2026,
        "`sdy-convert-global-to-local` combines the partial results of a reduction, dot, convolution, gather "
        "or scatter that no collective combines",
        "partitioning/uncombined_partial_results.mlir",
    )
    SHARDED_UPDATES = (
        OCTOBER_2026,
        "`sdy-convert-global-to-local` selects between an updated shard and the old one if the update of a "
        "`stablehlo.dynamic_update_slice` may be in another shard",
        "partitioning/dynamic_update_slice.mlir",
    )
    SHARDED_INDEX_VECTORS = (
        OCTOBER_2026,
        "`sdy-convert-global-to-local` sets a sharding on the offsets of indices of gathers and scatters",
        "partitioning/convert_global_to_local_gather_scatter.mlir",
    )
    SCALAR_SCATTER_MASKS = (
        OCTOBER_2026,
        "`sdy-convert-global-to-local` selects the inputs of a scatter of sharded updates by a scalar mask",
        "partitioning/convert_global_to_local_gather_scatter.mlir",
    )
    SHARDINGS_OF_MAIN = (
        OCTOBER_2026,
        "`sdy-convert-global-to-local` keeps the shardings of arguments and results of `@main` as attributes "
        "of the module",
        "partitioning/convert_global_to_local_main.mlir",
    )
    SHARDED_RANDOM_BITS = (
        OCTOBER_2026,
        "`sdy-convert-global-to-local` generates the random bits of each shard from its own state, unless "
        "`sdy-resolve-permutation-factors{rng-bit-generator-unsafe=false}` replicates them",
        "partitioning/rng_bit_generator.mlir",
    )
    PARTITIONER_STAGES = (
        OCTOBER_2026,
        "`sdy-export-pipeline{partitioner-stage=…}` partitions programs up to the given pass",
        "exporting/export_pipeline_partitioner_stage.mlir",
    )


_FOLLOWED = ContextPart(NEWEST)


def release_of(name: str) -> Release:
    """The release of a name. Raises ValueError, naming the known ones."""
    for release in RELEASES:
        if name == release.name:
            return release
    raise ValueError(f"unknown version of Shardy {name!r}; known are {', '.join(RELEASE_NAMES)}")


def followed_release() -> Release:
    """The release that is followed now."""
    return _FOLLOWED.value


def following(name: str) -> AbstractContextManager[None]:
    """Follows the release of a name within the `with` block. Raises ValueError for an unknown name."""
    return _FOLLOWED.set_to(release_of(name))


class ByRelease(Generic[R]):
    """An attribute of a class with a value for releases with a behaviour, and one for those before it."""

    def __init__(self, behavior: Behavior, value: R, before: R) -> None:
        self._behavior = behavior
        self._value = value
        self._before = before

    def __get__(self, instance: object, owner: type) -> R:
        return self._value if self._behavior.active else self._before


def cached_by_release(maxsize: int | None = None) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Decorator: caches the results of a function that asks for behaviours, by release and arguments."""

    def decorate(function: Callable[..., R]) -> Callable[..., R]:
        @lru_cache(maxsize)
        def compute(release: Release, *args: Hashable) -> R:
            return function(*args)

        return wraps(function)(lambda *args: compute(followed_release(), *args))

    return decorate
