"""What an answer calls values, operations and places."""

from __future__ import annotations

from pathlib import PurePath

from sdyopt.analysis.explain.input_names import InputName, InputNames, block_or_result
from sdyopt.analysis.sharding_record.model import Run
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.base.diagnostics.location import FileLoc, FileRange, resolve_file_location
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_ref_text, axis_refs_text
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.value_names import name_of, name_of_result
from sdyopt.shardy.record import FunctionResult, Subject


class Names:
    """Names values as the source does. A value from a pass has the name of what it replaces or copies."""

    def __init__(self, inputs: InputNames, record: ShardingRecord) -> None:
        self._inputs = inputs
        self._record = record
        # Values of this function are named without it.
        self.function = next(iter(inputs.functions)) if len(inputs.functions) == 1 else ""

    def within(self, run: Run, subject: Subject) -> Names:
        """The names for sentences about a subject: those of its function are short."""
        return self.in_function(self.function_of(run, subject))

    def in_function(self, function: str) -> Names:
        """The names for sentences about a function."""
        names = Names(self._inputs, self._record)
        names.function = function
        return names

    def function_of(self, run: Run, subject: Subject) -> str:
        """The function in the source that a subject is in; "" if it is unknown."""
        if isinstance(subject, FunctionResult):
            return subject.function.sym_name
        found = self.input_name(block_or_result(run.edge_owners.get(subject, subject)))
        return "" if found is None else found.function

    def subject(self, run: Run, subject: Subject) -> str:
        """`params['w']`, `%0`, `%arg0 of @f` or `result 0 of @main`."""
        if isinstance(subject, FunctionResult):
            name = f"result {subject.result_index} of @{subject.function.sym_name}"
            return name_of_result(subject.function, subject.result_index) or name
        owner = run.edge_owners.get(subject, subject)
        return self.value(block_or_result(owner))

    def value(self, value: OpResult | BlockArgument) -> str:
        """The name that JAX or the source gives to a value; that of its operation if neither does."""
        if name := self._jax_name(value) or name_of(value):
            return name
        found = self.input_name(value)
        if found is None:
            return _description(value)
        if found.function in ("", self.function):
            return found.name
        return f"{found.name} of @{found.function}"

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
        for each in (value, *values.predecessors(value)):
            for original in values.originals(each):
                for earlier in (original, *values.predecessors(original)):
                    if earlier in self._inputs.of_value:
                        return earlier
        return None

    # --- Places -----------------------------------------------------------------------------------

    def source_line_of_subject(self, run: Run, subject: Subject) -> str:
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
        """`train.py:12`: the line of an operation; "" if it is unknown."""
        location = resolve_file_location(op.location)
        return "" if location is None else _line(location)


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
