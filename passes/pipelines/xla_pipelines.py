"""XLA's pipelines around Shardy: from HLO as StableHLO to sdy, and back."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.pipeline import Pass, Pipeline, option
from sdyopt.mlir.registry import register_pipeline

from ..common.symbol_dce import SymbolDCE
from ..importing.lift_inlined_meshes import LiftInlinedMeshes
from ..xla.canonicalize_from_hlo_import import CanonicalizeFromHloImport
from ..xla.export_ops import ExportOps
from ..xla.import_constants import ImportConstants
from ..xla.import_sdy_custom_calls import ImportSdyCustomCalls
from ..xla.import_shardings import ImportShardings
from ..xla.open_while_free_vars_sharding import OpenWhileFreeVarsSharding
from ..xla.prepare_for_hlo_export import PrepareForHloExport
from ..xla.round_trip_dedup_meshes import RoundTripDedupMeshes
from ..xla.round_trip_export_ops import RoundTripExportOps
from ..xla.round_trip_export_shardy_attrs import RoundTripExportShardyAttrs
from ..xla.round_trip_import_shardy_attrs import ENABLE_HLO_SHARDING_V3, RoundTripImportShardyAttrs
from ..xla.round_trip_shard_map_export import RoundTripShardMapExport
from ..xla.round_trip_shard_map_import import RoundTripShardMapImport
from ..xla.stablehlo_export_manual_reduction_collectives import StablehloExportManualReductionCollectives
from ..xla.stablehlo_export_shardings import StablehloExportShardings
from ..xla.stablehlo_round_trip_export_callback_custom_calls import (
    StablehloRoundTripExportCallbackCustomCalls,
)
from ..xla.stablehlo_round_trip_shard_map_export import StablehloRoundTripShardMapExport


@register_pipeline("xla-sdy-round-trip-import-pipeline")
def round_trip_import_pipeline(
    enable_constant_import: bool = option(default=True, help="convert constants to `sdy.constant`"),
    lift_and_dedup_meshes: bool = option(
        default=False, help="give inlined meshes names, and use one mesh for equal ones"
    ),
    enable_hlo_sharding_v3: bool = ENABLE_HLO_SHARDING_V3,
) -> Sequence[Pass | Pipeline]:
    """xla-sdy-round-trip-import-pipeline: import a program that was exported for HLO.

    XLA runs it before `sdy-propagation-pipeline`, on what it dumps as `00.input_module.mlir`. Shardings come
    from frontend attributes (`xla.sdy.sharding`) or, with `enable-hlo-sharding-v3`, from `mhlo.sharding` by
    mesh axes. Tuples and the loop-invariant arguments of loops are removed, constants become `sdy.constant`,
    custom calls of `@Sharding` sharding constraints, and calls of `@xla.sdy.manual_computation_body` manual
    computations.

    With `enable-hlo-sharding-v3` or `lift-and-dedup-meshes`, `sdy-lift-inlined-meshes` and
    `xla-sdy-round-trip-dedup-meshes` run, too.
    """
    constants = [ImportConstants()] if enable_constant_import else []
    lifting: list[Pass] = [LiftInlinedMeshes(use_single_device_mesh_names=True), RoundTripDedupMeshes()]
    return [
        SymbolDCE(),
        # Before shardings are imported, so that the operations have them that HLO will have. Constants must
        # not be folded after that: a pattern would move them out of loops.
        PrepareForHloExport(),
        *constants,
        CanonicalizeFromHloImport(),
        RoundTripImportShardyAttrs(enable_hlo_sharding_v3=enable_hlo_sharding_v3),
        RoundTripShardMapImport(),
        ImportSdyCustomCalls(),
        OpenWhileFreeVarsSharding(),
        *(lifting if enable_hlo_sharding_v3 or lift_and_dedup_meshes else ()),
    ]


@register_pipeline("xla-sdy-stablehlo-export-pipeline")
def stablehlo_export_pipeline(
    keep_hlo_sharding_constraints: bool = option(
        default=False, help="export sharding constraints as custom calls of @Sharding, not as copies"
    ),
    add_missing_sharding_to_control_flow: bool = option(
        default=True, help="replicate the results of `while`, `case` and `if` without a sharding"
    ),
    enable_hlo_sharding_v3: bool = ENABLE_HLO_SHARDING_V3,
) -> Sequence[Pass | Pipeline]:
    """xla-sdy-stablehlo-export-pipeline: export a propagated program for XLA's partitioner.

    XLA runs it after `sdy-propagation-pipeline`, and dumps the result as `04.output_module.mlir`. Reshards
    become copies, manual computations calls between custom calls that change types, and shardings
    `mhlo.sharding`; meshes are removed.
    """
    return [
        StablehloExportManualReductionCollectives(),
        # Before shardings are exported: constants must not be folded after that.
        ExportOps(keep_hlo_sharding_constraints=keep_hlo_sharding_constraints),
        StablehloRoundTripShardMapExport(create_hlo_sharding_constraints=keep_hlo_sharding_constraints),
        SymbolDCE(),
        StablehloExportShardings(
            add_missing_sharding_to_control_flow=add_missing_sharding_to_control_flow,
            enable_hlo_sharding_v3=enable_hlo_sharding_v3,
        ),
        StablehloRoundTripExportCallbackCustomCalls(),
    ]


@register_pipeline("xla-sdy-stablehlo-import-pipeline")
def stablehlo_import_pipeline() -> Sequence[Pass | Pipeline]:
    """xla-sdy-stablehlo-import-pipeline: import a program whose shardings are those of GSPMD.

    `xla-sdy-import-shardings` makes a mesh and shardings of `mhlo.sharding`; then the program is imported as
    by `xla-sdy-round-trip-import-pipeline`. The mesh has axes `_axis_0`, `_axis_1`, …: how the program named
    them is lost.
    """
    return [CanonicalizeFromHloImport(), ImportShardings(), *round_trip_import_pipeline()]


@register_pipeline("xla-sdy-round-trip-export-pipeline")
def round_trip_export_pipeline(
    keep_meshes_inlined: bool = option(default=False, help="give inlined meshes no names"),
    enable_hlo_sharding_v3: bool = ENABLE_HLO_SHARDING_V3,
) -> Sequence[Pass | Pipeline]:
    """xla-sdy-round-trip-export-pipeline: export a program so that it can be imported from HLO.

    XLA runs it on a program of JAX before it is converted to HLO. Operations of sdy become custom calls and
    calls, and shardings and meshes also frontend attributes; `xla-sdy-round-trip-import-pipeline` is the
    inverse.
    """
    return [
        *([] if keep_meshes_inlined else [LiftInlinedMeshes(use_single_device_mesh_names=True)]),
        RoundTripDedupMeshes(),
        RoundTripExportOps(),
        RoundTripShardMapExport(),
        RoundTripExportShardyAttrs(enable_hlo_sharding_v3=enable_hlo_sharding_v3),
    ]
