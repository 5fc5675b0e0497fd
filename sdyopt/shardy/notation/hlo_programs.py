"""Programs that have the shardings of HLO only, in one of three forms, and the pipeline that imports each."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.stablehlo.asynchronous import InfeedOp, OutfeedOp, RecvOp, SendOp
from sdyopt.mlir.dialects.stablehlo.control_flow import GetTupleElementOp, TupleOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.nullary import AfterAllOp
from sdyopt.mlir.ir.attribute import DictAttr, StringAttr, dictionary, string
from sdyopt.mlir.ir.operation import Op

XLA_SHARDING = "mhlo.sharding"
FRONTEND_ATTRIBUTES = "mhlo.frontend_attributes"
ROUND_TRIP_SHARDING = "xla.sdy.sharding"
MESHES = "xla.sdy.meshes"
# Marks a module whose types are local: what each device runs. XLA rejects modules with unknown attributes of
# sdy, and keeps frontend attributes.
PARTITIONED = "sdyopt.partitioned"

# The operations whose shardings are those of a program.
_ANNOTATED = (
    *(CustomCallOp, CallOp, TupleOp, GetTupleElementOp),
    *(AfterAllOp, SendOp, RecvOp, InfeedOp, OutfeedOp),
)


class HloShardings(Enum):
    """A form of shardings in HLO. The value is the pipeline that imports it, with its options."""

    FRONTEND_ATTRIBUTES = "xla-sdy-round-trip-import-pipeline", "lift-and-dedup-meshes=true"
    BY_AXES = "xla-sdy-round-trip-import-pipeline", "enable-hlo-sharding-v3=true"
    BY_DEVICES = "xla-sdy-stablehlo-import-pipeline", ""

    @property
    def pipeline(self) -> str:
        """The name of the pipeline."""
        return self.value[0]

    @property
    def options(self) -> str:
        """The options of the pipeline, as text."""
        return self.value[1]

    @property
    def flag(self) -> str:
        """The pipeline as it is written on the command line."""
        return f"-{self.pipeline}" + (f"={self.options}" if self.options else "")


def hlo_shardings(module: Op) -> HloShardings | None:
    """The form of the shardings of a program; None if it has those of sdy, none, or forms that do not mix."""
    children = [op for region in module.regions for block in region.blocks for op in block.ops]
    if any(isinstance(op, MeshOp) for op in children):
        return None
    if MESHES in _frontend(module.attributes):
        return HloShardings.FRONTEND_ATTRIBUTES
    last: HloShardings | None = None
    has_devices = False
    for attributes in _attributes(children):
        if SHARDING in attributes:
            return None
        if ROUND_TRIP_SHARDING in _frontend(attributes):
            return HloShardings.FRONTEND_ATTRIBUTES
        text = attributes.get(XLA_SHARDING)
        if isinstance(text, StringAttr):
            is_by_axes = "mesh[" in text.value or "single_device[" in text.value
            has_devices |= "devices=" in text.value
            last = HloShardings.BY_AXES if is_by_axes else last or HloShardings.BY_DEVICES
    return None if has_devices and last is HloShardings.BY_AXES else last


def sharded_operation_count(module: Op) -> int:
    """The number of operations with shardings where JAX states none, but partitioners and other tools."""
    return sum(XLA_SHARDING in op.attributes and not isinstance(op, _ANNOTATED) for op in module.walk())


def _attributes(children: list[Op]) -> Iterator[DictAttr]:
    """The attributes of arguments, results and custom calls, which are where programs have shardings."""
    for function in children:
        if isinstance(function, FuncOp):
            yield from function.argument_attributes
            yield from function.result_attributes
            for op in function.nested(CustomCallOp):
                yield op.attributes


def is_marked_as_partitioned(module: Op) -> bool:
    """Whether a module has the mark of a program with local types."""
    return PARTITIONED in _frontend(module.attributes)


def marked_as_partitioned(module: Op) -> DictAttr:
    """The frontend attributes of a module, with the mark of a program with local types."""
    return dictionary({**dict(_frontend(module.attributes)), PARTITIONED: string("true")})


def _frontend(attributes: DictAttr) -> DictAttr | tuple[()]:
    attribute = attributes.get(FRONTEND_ATTRIBUTES)
    return attribute if isinstance(attribute, DictAttr) else ()
