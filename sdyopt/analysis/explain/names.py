"""A program whose passes are recorded, and the names of values, operations and places in answers about it.

program = RecordedProgram(source, module, dialects, parse_record)    # after parsing
with program.recording():
    run_pipeline(…)
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import PurePath

from sdyopt.analysis.figures.source_locations import Phase, UserLines, operation_text, source_location
from sdyopt.analysis.interface import Program
from sdyopt.analysis.sharding_record.model import PropagationRun
from sdyopt.analysis.sharding_record.record import ShardingRecord, shared_record
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity
from sdyopt.base.diagnostics.ids import USAGE_ERROR
from sdyopt.base.diagnostics.location import FileLoc, FileRange, Source, UnknownLoc, resolve_file_location
from sdyopt.mlir.asm.parser.ssa_scope import ParseRecord
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_ref_text, axis_refs_text
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import block_or_result, owning_op
from sdyopt.mlir.dialects.stablehlo.control_flow import OptimizationBarrierOp
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import symbol_name
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.value_names import name_of, name_of_result
from sdyopt.shardy.notation.partition_spec import short_spec
from sdyopt.shardy.record import FunctionResult, Subject


class ExplanationNames:
    """Names values as the source does. A value from a pass has the name of what it replaces or copies.

    With `describes`, a value of a line of Python is described by its operation and that line.
    """

    def __init__(self, inputs: InputNames, record: ShardingRecord, describes: bool = False) -> None:
        self._inputs = inputs
        self._record = record
        self._lines = inputs.lines
        self.describes = describes
        # Values of this function are named without it.
        self.function = next(iter(inputs.functions)) if len(inputs.functions) == 1 else ""

    def within(self, run: PropagationRun, subject: Subject) -> ExplanationNames:
        """The names for sentences about a subject: those of its function are short."""
        return self.in_function(self.function_of(run, subject))

    def in_function(self, function: str) -> ExplanationNames:
        """The names for sentences about a function."""
        names = ExplanationNames(self._inputs, self._record, self.describes)
        names.function = function
        return names

    def describing(self, describes: bool = True) -> ExplanationNames:
        """The same names, with or without descriptions of values."""
        names = ExplanationNames(self._inputs, self._record, describes)
        names.function = self.function
        return names

    def function_of(self, run: PropagationRun, subject: Subject) -> str:
        """The function in the source that a subject is in; "" if it is unknown."""
        if isinstance(subject, FunctionResult):
            return subject.function.sym_name
        input_name = self.input_name(block_or_result(run.edge_owners.get(subject, subject)))
        return "" if input_name is None else input_name.function

    def subject(self, run: PropagationRun, subject: Subject) -> str:
        """`params['w']`, `%0`, `%arg0 of @f` or `result 0 of @main`."""
        if isinstance(subject, FunctionResult):
            name = f"result {subject.result_index} of @{subject.function.sym_name}"
            return name_of_result(subject.function, subject.result_index) or name
        owner = run.edge_owners.get(subject, subject)
        return self.value(block_or_result(owner))

    def title(self, run: PropagationRun, subject: Subject) -> tuple[str, str]:
        """The title of an answer and its name in the source: `dot_general (backward)`, `%0 of @main`.

        The second is empty if it is the first.
        """
        name = self.describing(False).subject(run, subject)
        owner = run.edge_owners.get(subject, subject)
        if isinstance(subject, FunctionResult) or not isinstance(owner, OpResult):
            return name, ""
        described = self.described(owner)
        if described is None:
            return name, ""
        phase = source_location(owner.op.location).phase
        text = described[0].removeprefix("the ")
        return (text if phase in (Phase.FORWARD, Phase.UNKNOWN) else f"{text} ({phase})"), name

    def described(self, value: OpResult | BlockArgument) -> tuple[str, str] | None:
        """`the dot_general` and `train.py:12` for a value that Python computes and that has no name there."""
        value = self._before_barrier(value)
        if not isinstance(value, OpResult) or not self.is_described(value.op) or self._jax_name(value):
            return None
        location = self._lines.chosen(source_location(value.op.location))
        of = f"result {value.index} of " if len(value.op.results) > 1 else ""
        return f"{of}the {operation_text(value.op)}", location.file_text

    def _before_barrier(self, value: OpResult | BlockArgument) -> OpResult | BlockArgument:
        """What an optimization barrier passes on, with which jax.checkpoint keeps values apart."""
        while self.describes and isinstance(value, OpResult) and isinstance(value.op, OptimizationBarrierOp):
            before = value.op.operands[value.index]
            if not isinstance(before, OpResult):
                break
            value = before
        return value

    def is_described(self, op: Op) -> bool:
        """Whether the results of an operation are described by it."""
        location = source_location(op.location)
        return self.describes and bool(location.name_stack and location.line)

    def value(self, value: OpResult | BlockArgument) -> str:
        """The name that JAX or the source gives to a value; that of its operation if neither does."""
        value = self._before_barrier(value)
        if name := self._jax_name(value) or name_of(value):
            return name
        if described := self.described(value):
            return " at ".join(described)
        input_name = self.input_name(value)
        if input_name is None:
            return _description(value)
        if input_name.function in ("", self.function):
            return input_name.name
        return f"{input_name.name} of @{input_name.function}"

    def input_name(self, value: Value) -> InputName | None:
        """The name in the source of a value, of what it replaced, or of what it is a copy of."""
        earlier = self._in_source(value)
        return None if earlier is None else self._inputs.of_value[earlier]

    def _jax_name(self, value: Value) -> str:
        earlier = self._in_source(value)
        return "" if earlier is None else name_of(earlier)

    def _in_source(self, value: Value) -> Value | None:
        """The value of the source that is a value, or that it replaced, or that it is a copy of."""
        values = self._record.values
        for predecessor in (value, *values.predecessors(value)):
            for original in values.originals(predecessor):
                for earlier in (original, *values.predecessors(original)):
                    if earlier in self._inputs.of_value:
                        return earlier
        return None

    # --- Places -----------------------------------------------------------------------------------

    def source_line_of_subject(self, run: PropagationRun, subject: Subject) -> str:
        """`train.py:12`: the line of the user's program."""
        if isinstance(subject, FunctionResult):
            return self.source_line(subject.function)
        return self.source_line_of_value(block_or_result(run.edge_owners.get(subject, subject)))

    def source_line_of_value(self, value: OpResult | BlockArgument) -> str:
        """The line of a value."""
        if isinstance(value, BlockArgument):
            location = resolve_file_location(value.location)
            if location is not None:
                return _line(location)
        return self.source_line(owning_op(value))

    def source_line(self, op: Op) -> str:
        """`train.py:12`: the line of an operation that a person would change; "" if it is unknown."""
        location = self._lines.chosen(source_location(op.location))
        return location.file_text if location.line else ""


def _line(location: FileLoc | FileRange) -> str:
    return f"{PurePath(location.file).name}:{location.line}" if location.line else ""


def _description(value: OpResult | BlockArgument) -> str:
    op = owning_op(value)
    if isinstance(value, BlockArgument):
        function = f"@{op.sym_name}" if isinstance(op, FuncOp) else op.signature.name
        return f"argument {value.index} of {function}"
    number = f" {value.index}" if len(op.results) > 1 else ""
    return f"result{number} of {op.signature.name}"


def type_text(subject: Subject) -> str:
    """The type of a subject."""
    if isinstance(subject, FunctionResult):
        terminator = subject.function.entry.last
        if terminator is None or len(terminator.operands) <= subject.result_index:
            return ""
        return plain_type(terminator.operands[subject.result_index].type)
    return plain_type(subject.type)


# --- Shardings --------------------------------------------------------------------------------------


def axis_text(axis: AxisRef) -> str:
    """`"x"`, as in a sharding."""
    return axis_ref_text(axis)


def sharding_words(sharding: TensorSharding | None) -> str:
    """`P('x')`, as JAX writes it if it can."""
    return sharding_text(sharding) if sharding is None else short_spec(sharding) or sharding_text(sharding)


def in_sdy(type: str, sharding: TensorSharding, name: str = "") -> str:
    """The name, type and sharding in Shardy's words, and what these say of open dimensions."""
    is_open = any(not dim.is_closed for dim in sharding.dims)
    # Who knows the name of a value in the text knows what is open.
    note = "; ? is open: no annotation keeps further axes out" if is_open and not name else ""
    return f"in sdy: {f'{name}: ' if name else ''}{type} {sharding_text(sharding)}{note}"


def sharding_text(sharding: TensorSharding | None) -> str:
    """`[{"x", ?}, {}]`: the dimensions, and the axes that the tensor is replicated or unreduced along."""
    if sharding is None:
        return "no sharding"
    parts = [f"[{', '.join(map(dim_text, sharding.dims))}]"]
    if sharding.replicated_axes:
        parts.append(f"replicated={{{axis_refs_text(sharding.replicated_axes)}}}")
    if sharding.unreduced_axes:
        parts.append(f"unreduced={{{axis_refs_text(sharding.unreduced_axes)}}}")
    return ", ".join(parts)


def dim_text(dim: DimensionSharding) -> str:
    """`{"x", ?}`."""
    entries = [axis_ref_text(axis) for axis in dim.axes]
    if not dim.is_closed:
        entries.append("?")
    priority = f"p{dim.priority}" if dim.priority else ""
    return f"{{{', '.join(entries)}}}{priority}"


class InputName(NamedTuple):
    """The name of a value in the source, the function that defines it, and its offset."""

    function: str
    name: str
    offset: int


class InputNames:
    """The names of the values of a program that has just been parsed, and the offsets of its operations.

    `record` is that of the parser. `returned` are the values that each function returns.
    """

    def __init__(self, source: Source, module: Op, record: ParseRecord) -> None:
        self.source = source
        self.module = module
        self.record = record
        self.lines = UserLines.before_passes(module)
        self.of_value: dict[Value, InputName] = {}
        self.offset_of_op: dict[Op, int] = {}
        self.functions: dict[str, FuncOp] = {}
        self.returned: dict[tuple[str, int], Value] = {}
        for op in module.walk():
            self._add(op)

    def _add(self, op: Op) -> None:
        if isinstance(op, FuncOp):
            self.functions[op.sym_name] = op
            terminator = None if op.is_declaration else op.entry.last
            for index, value in enumerate(() if terminator is None else terminator.operands):
                self.returned[op.sym_name, index] = value
        if op in self.record.offsets:
            self.offset_of_op[op] = self.record.offsets[op]
        values: list[Value] = [*op.results]
        for region in op.regions:
            values += (argument for block in region.blocks for argument in block.arguments)
        for value in values:
            if (definition := self.record.values.get(value)) is not None:
                self.of_value[value] = InputName(function_of(op), *definition)


def function_of(op: Op) -> str:
    """The name of the function that an operation is, or is in; "" if there is none."""
    function = op if isinstance(op, FuncOp) else op.parent_of_type(FuncOp)
    return "" if function is None else symbol_name(function) or ""


class RecordedProgram:
    """A module with its record. `inputs` has the names of values in the source, `names` those for people.

    `is_recorded` becomes True when passes are recorded.
    """

    def __init__(
        self,
        source: Source,
        module: Op,
        dialects: DialectTable,
        parse_record: ParseRecord,
        record: ShardingRecord | None = None,
    ) -> None:
        self.module, self.dialects = module, dialects
        self.inputs = InputNames(source, module, parse_record)
        self.record = record or ShardingRecord()
        self.names = ExplanationNames(self.inputs, self.record)
        self.is_recorded = False

    def recording(self) -> AbstractContextManager[None]:
        """Records in the `with` block, in which passes run; within another such block, that one does."""
        self.is_recorded = True
        return self.record.active()

    def check_is_propagated(self) -> None:
        """Raises DiagnosticError if no pass has propagated shardings."""
        if not self.record.runs:
            message = "there is nothing to explain: no pass has propagated shardings"
            diagnostic = Diagnostic(Severity.ERROR, UnknownLoc(), message, id=USAGE_ERROR)
            raise DiagnosticError(diagnostic).help("add -sdy-propagation-pipeline")


def recorded(program: Program) -> RecordedProgram:
    """The record of a program of a run, for `Program.shared`. The options have `needs_parse_record`."""
    assert program.parse_record is not None
    record = program.shared(shared_record)
    return RecordedProgram(program.source, program.op, program.dialects, program.parse_record, record)
