"""vhlo-to-version: convert VHLO to a version of StableHLO.

    %0 = "vhlo.all_gather_v1"(%a) <{…}>
becomes, for a target of at least 1.5.0,
    %0 = "vhlo.all_gather_v2"(%a) <{…}>

Operations take the form that the target version has. The pass fails if there is none: an operation, attribute
or type is newer, or uses what the older form cannot express.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.vhlo.to_vhlo import checked_version, convert_to_version
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register


@register("vhlo-to-version")
class VhloToVersion(Pass):
    target: str = option(default="", help="The target version. Must be a version of the form #.#.# .")

    def run(self, module: Op) -> bool:
        convert_to_version(module, checked_version(self.target, module))
        return True
