"""The pipeline of a program for which no pass is given, where the figures of what devices run are needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sdyopt.analysis.figures.collective_traffic import is_partitioned
from sdyopt.analysis.figures.topology import Topology
from sdyopt.analysis.interface import Program
from sdyopt.base.compilers import CompilerBehavior
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, emit
from sdyopt.base.diagnostics.ids import NO_LINES
from sdyopt.base.diagnostics.location import without_offset
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.canonicalization import COLLECTIVE_LABEL
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.ops import NamedComputationOp, ReshardOp
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.pipeline.base import OptionValue
from sdyopt.mlir.pipeline.tree import Pipeline
from sdyopt.mlir.registry import lookup
from sdyopt.shardy.notation.hlo_programs import hlo_shardings, sharded_operation_count

# What becomes of a program of JAX.
PIPELINE = "sdy-jax-pipeline"

# How a program of JAX gets lines of Python.
LINES_HELP = (
    "write jax.jit(f).lower(…).as_text(debug_info=True); -o of sdy-opt keeps them with --mlir-print-debuginfo"
)


def assumed_options(compiler: str) -> dict[str, str]:
    """The options of the assumed pipeline for a compiler; none if it does what those for TPU and GPU do."""
    simplifies = (
        CompilerBehavior.SUMS_IN_SCATTERS,
        CompilerBehavior.MULTIPLIES_OUTER,
        CompilerBehavior.SELECTS_IN_ROWS,
    )
    is_usual = all(behavior.holds(compiler) == behavior.holds("") for behavior in simplifies)
    return {} if is_usual else {"compiler": compiler}


def assumed_pipeline(module: Op, compiler: str = "") -> tuple[str, Pipeline]:
    """A sentence about the passes that are assumed for a program, and these passes.

    `compiler` is that of the machine, "" if it is unknown.
    """
    pipeline = Pipeline()
    if reason := reason_to_leave(module):
        return f"assumed: no pass, because the program {reason}", pipeline
    options = assumed_options(compiler)
    pipeline.add_nested(lookup(PIPELINE).create(options))
    name = (
        f"{PIPELINE}{{{' '.join(f'{key}={value}' for key, value in options.items())}}}"
        if options
        else PIPELINE
    )
    kind = hlo_shardings(module)
    if kind is not None:
        sentence = f"assumed: {name}, which imports shardings by {kind.pipeline}"
        if count := sharded_operation_count(module):
            sentence += f", those of {counted(count, 'operation')} too"
        return sentence, pipeline
    return f"assumed: {name}, which does what XLA does for a program of JAX", pipeline


def remark_on_lines(program: Program) -> None:
    """Remarks that a program of JAX has no lines of Python, if it has none; for `Program.shared`."""
    module = program.op if program.before is None else program.before
    operations = (op for op in module.walk() if op is not module)
    # Without a location of its own, an operation has its offset in the text.
    # Functions of JAX have attributes that say so.
    functions = (op for region in module.regions for block in region.blocks for op in block.ops)
    is_from_jax = any(
        name.startswith("jax.")
        for function in functions
        if isinstance(function, FuncOp)
        for dictionary in (*function.argument_attributes, *function.result_attributes)
        for name, _ in dictionary
    )
    if is_from_jax and all(without_offset(op.lazy_location) is None for op in operations):
        message = "the program has no lines of Python: it was lowered without debug_info"
        emit(Diagnostic(Severity.REMARK, module.location, message, help=LINES_HELP, id=NO_LINES))


def reason_to_leave(module: Op) -> str:
    """The reason for which a program needs no pass to have its collectives, in words; "" if it needs some."""
    ops = list(module.walk())
    kinds = tuple({type(op): None for op in ops})
    if FuncOp not in kinds:
        return "has no function"
    # The bodies of manual computations, with their collectives, are functions before they are imported.
    if hlo_shardings(module) is not None:
        return ""
    if is_partitioned(module):
        return "is partitioned"
    if any(issubclass(kind, CollectiveOp) for kind in kinds):
        return "has collectives"
    if any(issubclass(kind, DataFlowEdgeOp | NamedComputationOp) for kind in kinds):
        return "is from between the passes of Shardy's pipeline"
    if not any(
        op.dialect_name == "sdy" or any(SHARDING in attribute for attribute in _attributes(op)) for op in ops
    ):
        return "has no shardings of Shardy"
    return ""


def _attributes(op: Op) -> Iterable[DictAttr]:
    if isinstance(op, FuncOp):
        return *op.argument_attributes, *op.result_attributes
    return (op.attributes,)


# Flag -> options.
Passes = Mapping[str, Mapping[str, OptionValue]]

_PROPAGATE: Passes = {"sdy-propagation-pipeline": {"enable_insert_explicit_collectives": True}}
_LOWER: Passes = {
    "sdy-reshard-to-collectives": {},
    "canonicalize": {"enable_patterns": (COLLECTIVE_LABEL,), "top_down": False},
}


def is_complete(module: Op) -> bool:
    """Whether a program has its collectives, and needs no pass."""
    return is_partitioned(module) or (_has(module, CollectiveOp) and not _has(module, ReshardOp))


def _has(module: Op, kind: type[Op]) -> bool:
    return any(isinstance(op, kind) for op in module.walk())


def completing_pipeline(module: Op, has_passes: bool = False, machine: Topology | None = None) -> Pipeline:
    """The passes that make collectives explicit, after those of the command line if any.

    Empty if it has its collectives. If its reshards were inserted, the remaining ones are lowered. On any
    other program the pipeline runs that reports assume for the machine or, after passes, Shardy's own.
    """
    if is_complete(module):
        return Pipeline()
    if _has(module, CollectiveOp):
        return pipeline_of(_LOWER)
    compiler = "" if machine is None else machine.compiler
    return pipeline_of(_PROPAGATE if has_passes else {PIPELINE: assumed_options(compiler)})


def pipeline_of(passes: Passes) -> Pipeline:
    """Passes as a pipeline."""
    pipeline = Pipeline()
    for flag, options in passes.items():
        pipeline.add_nested(lookup(flag).create(options))
    return pipeline
