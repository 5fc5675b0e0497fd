"""sdy-reshard-single-devices: reshard operands and results of operations that run on a single device.

Over `sdy.mesh @mesh = <["x"=2]>` and `sdy.mesh @device_0 = <[], device_ids=[0]>`,

    %0 = stablehlo.custom_call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@device_0, []>]>}
becomes, if %a is sharded as [{"x"}],
    %0 = sdy.reshard %a <@mesh, [{}]>
    %1 = sdy.reshard %0 <@device_0, []>
    %2 = stablehlo.custom_call @f(%1) {sdy.sharding = #sdy.sharding_per_value<[<@device_0, []>]>}
    %3 = sdy.reshard %2 <@mesh, [{}]>

An operation runs on a single device if one of its results has a sharding on a mesh that is only this device.
Its operands and results are replicated on the first mesh with axes. A result that is sharded, and whose
operation has another result on a single device, is resharded once more. `sdy-resolve-single-device-sharding`
lowers these reshards.

`sdy-insert-explicit-reshards` includes this, except with `--sdy-version=jaxlib-0.10.2`.
"""

from __future__ import annotations

from functools import cache

from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register

from ..exporting.explicit_reshards.single_devices import SingleDeviceResharder, has_single_devices


@register("sdy-reshard-single-devices")
class ReshardSingleDevices(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        mesh_of = cache(lambda mesh_or_ref: find_mesh(mesh_or_ref, function))
        if not has_single_devices(function, mesh_of):
            return False
        rewriter = Rewriter()
        resharder = SingleDeviceResharder(function, mesh_of, rewriter)
        for op in list(function.walk_post_order()):
            if op.is_terminator or op.data_flow is not None or isinstance(op, CallOp):
                continue
            if (device := resharder.device_sharding(op)) is not None:
                resharder.reshard(op, device)
        return rewriter.changed
