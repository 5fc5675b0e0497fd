"""--show-sharding: shows a sharding in any notation, or that of a value such as `params['w']` or `%3`.

Names of values are those of the printed program: `@main %arg0`, `@main result 1`, and `%3` if there is one
function.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from sdyopt.analysis.interface.flag import STDIN
from sdyopt.base.dataclasses import NamedTuple, dataclass, field, replace
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.render import render
from sdyopt.base.diagnostics.text import counted
from sdyopt.base.diagnostics.usage import UsageError, nearest_or_all
from sdyopt.mlir.asm.printer.ssa_names import SsaNames
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp, find_mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.sharding_checks import bound_axes
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op, sharding_of
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import FunctionOpInterface, symbol_name, type_of_function
from sdyopt.mlir.ir.traits import FUNCTION
from sdyopt.mlir.ir.types import DYNAMIC, RankedShapedType, Type
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.value_names import NamedResult, all_names, find_named
from sdyopt.shardy.notation.drawing import drawing
from sdyopt.shardy.notation.mesh_text import Shape, TextParser, parse_mesh, parse_shape
from sdyopt.shardy.notation.reading import (
    MeshAndShape,
    ShardingView,
    mesh_name,
    names_a_value,
    read_sharding,
    view_of_sharding,
)
from sdyopt.shardy.notation.sharding_on_mesh import IncompatibleSubAxes, ShardingOnMesh, tiling_of
from sdyopt.tools.cli.arguments import Arguments
from sdyopt.tools.cli.files import FAILURE, SUCCESS, WRONG_USAGE, Input, Output, read_input, write_to_stderr
from sdyopt.tools.cli.request import build_job, build_pipeline, choose_paint, output_width
from sdyopt.tools.driver.run import run_job

if TYPE_CHECKING:  # imported only with one of its flags
    from sdyopt.tools.cli.diagnostics_output import DiagnosticsOutput


T = TypeVar("T")

# Flags that read the program, too, and print something else.
_OTHER_OUTPUTS = (
    *("report", "budget", "baseline"),
    *("compare-with", "compare-pipeline", "compare-sdy-version", "snapshot", "check-snapshot"),
)


def show_sharding(arguments: Arguments, diagnostics: DiagnosticsOutput | None) -> int:
    """Prints the sharding of the arguments and returns the exit status. Raises UsageError and FileProblem."""
    text = arguments["show-sharding"]
    if text is None:
        flag = next(name for name in ("mesh", "shape", "sharding-rows") if name in arguments.values)
        raise UsageError(f"for the --{flag} option: requires --show-sharding")
    other = next((name for name in _OTHER_OUTPUTS if name in arguments.values), None)
    if other is not None:
        raise UsageError(f"the --{other} option cannot be used with --show-sharding", "run sdy-opt twice")
    request = _Request(arguments, Source("--show-sharding", text), diagnostics)
    try:
        output = request.output()
    except DiagnosticError as error:
        request.report(error)
        return WRONG_USAGE
    if output is None:
        return WRONG_USAGE if request.is_reported else FAILURE
    Output(arguments["o"]).write(output)
    return SUCCESS


@dataclass
class _Request:
    arguments: Arguments
    source: Source
    diagnostics: DiagnosticsOutput | None
    is_reported: bool = False
    sources: dict[str, Source] = field(default_factory=dict)

    def output(self) -> str | None:
        """The text to print; None after an error that is already reported. Raises DiagnosticError."""
        shape = self._parsed("shape", parse_shape)
        context = MeshAndShape(self._parsed("mesh", parse_mesh), shape)
        has_input = self.arguments.input != STDIN
        is_value = names_a_value(self.source.text, has_input)
        if not is_value and not (has_input and context.mesh is None):
            return self._drawing(read_sharding(self.source, context))
        return self._output_of_program(context, is_value)

    def report(self, error: DiagnosticError) -> None:
        """Reports an error that is located in the value of a flag."""
        name = getattr(error.diagnostic.location, "file", "")
        source = self.sources.get(name, self.source)
        self.is_reported = True
        if self.diagnostics is not None:
            self.diagnostics.add(error.diagnostic, source)
        if self.diagnostics is None or self.diagnostics.shows_text:
            write_to_stderr(render(error.diagnostic, source, choose_paint(self.arguments["color"])))

    def _parsed(self, flag: str, parse: Callable[[Source], T]) -> T | None:
        text = self.arguments[flag]
        if text is None:
            return None
        source = self.sources[f"--{flag}"] = Source(f"--{flag}", text)
        return parse(source)

    def _output_of_program(self, context: MeshAndShape, is_value: bool) -> str | None:
        job = build_job(self.arguments, build_pipeline(self.arguments))
        if self.diagnostics is not None:
            self.diagnostics.input_name = job.name
            job = replace(job, collect=self.diagnostics.add, shows_text=self.diagnostics.shows_text)

        def show(program: Op) -> str:
            if not is_value:
                mesh = only_mesh(program, mesh_name(self.source.text))
                return self._drawing(read_sharding(self.source, replace(context, mesh=mesh)))
            sharding = sharding_of_value(self.source, program)
            return self._drawing(view_of_sharding(sharding.on_mesh, sharding.shape))

        def show_or_report(program: Op) -> str:
            try:
                return show(program)
            except DiagnosticError as error:
                self.report(error)
                return ""

        read = Input(read_input(self.arguments.input)).take
        outcome = run_job(replace(job, read=read, show=show_or_report))
        return outcome.output if outcome.succeeded and not self.is_reported else None

    def _drawing(self, view: ShardingView) -> str:
        rows = self.arguments["sharding-rows"]
        return drawing(view, output_width(), rows or None, int(self.arguments["mesh-version"]))


_HELP = "such as params['w'], '@main %arg0', '@main %3' or '@main result 0'"
_SSA_NAME = re.compile(r"%[A-Za-z0-9_$.-]+(?:#\d+)?")
# The number of names that a help line lists.
_LISTED = 8


class ShardingInProgram(NamedTuple):
    """The sharding of a value, and the shape of its type."""

    on_mesh: ShardingOnMesh
    shape: Shape


def sharding_of_value(source: Source, module: Op) -> ShardingInProgram:
    """The sharding of the value that a text names. Raises DiagnosticError, located in the text."""
    parser = TextParser(source)
    if named := find_named(module, source.text):
        return _named_sharding(parser, named[0])
    if source.text.strip()[:1] not in "%@" and not re.match(r"\s*result\s+\d", source.text):
        names = all_names(module)
        help = nearest_or_all(source.text.strip(), names, _LISTED) if names else _HELP
        raise parser.error("no argument or result of this name in the program", help)
    function = _parse_function(parser, module)
    start = parser.skip_space()
    if parser.accept("result"):
        index = parser.number("the number of a result")
        parser.finish(_HELP)
        types = type_of_function(function).results
        if index >= len(types):
            raise parser.error_since(start, f"the function has {counted(len(types), 'result')}")
        sharding = function.result_attributes[index].get(SHARDING)
        return _value_sharding(parser, start, sharding, types[index], function)
    match = _SSA_NAME.match(source.text, start)
    if match is None:
        raise parser.error("expected the name of a value, or 'result' and its number", _HELP)
    parser.position = match.end()
    parser.finish(_HELP)
    value = _find_value(parser, start, match[0], function)
    assert isinstance(value, OpResult | BlockArgument)
    return _value_sharding(
        parser, start, sharding_of(value), value.type, owning_op(value), isinstance(value, BlockArgument)
    )


def _named_sharding(parser: TextParser, named: BlockArgument | NamedResult) -> ShardingInProgram:
    """The sharding of an argument or a result."""
    if isinstance(named, NamedResult):
        function, index = named
        type = type_of_function(function).results[index]
        return _value_sharding(parser, 0, function.result_attributes[index].get(SHARDING), type, function)
    return _value_sharding(parser, 0, sharding_of(named), named.type, owning_op(named), True)


def only_mesh(module: Op, name: str | None) -> Mesh | None:
    """The mesh of this name or, if `name` is None, the only mesh. None if there is none or more than one."""
    meshes = [op for op in module.walk() if isinstance(op, MeshOp)]
    named = [op.mesh for op in meshes if name is None or symbol_name(op) == name]
    return named[0] if len(named) == 1 else None


def _parse_function(parser: TextParser, module: Op) -> FunctionOpInterface:
    """Parses `@name`, which may be left out in a program with one function."""
    functions = {symbol_name(op): op for op in module.walk() if FUNCTION in op.traits}
    start = parser.skip_space()
    if parser.accept("@"):
        name = parser.accept_name()
        if name not in functions:
            names = [f"@{known}" for known in functions if known is not None]
            raise parser.error_since(
                start, "no function of this name", nearest_or_all(f"@{name}", names, _LISTED)
            )
    elif len(functions) == 1:
        name = next(iter(functions))
    else:
        raise parser.error(f"the program has {len(functions)} functions", _HELP)
    function = functions[name]
    assert isinstance(function, FunctionOpInterface)
    return function


def _find_value(parser: TextParser, start: int, name: str, function: Op) -> Value:
    module = function
    while module.parent_op is not None:
        module = module.parent_op
    names = {value: known for value, known in SsaNames(module).names.items() if _is_within(value, function)}
    # The name of a group of results, such as %3 for %3#0 and %3#1, stands for the first one.
    values = [value for value, known in names.items() if known in (name, f"{name}#0")]
    if len(values) == 1:
        return values[0]
    if values:
        raise parser.error_since(
            start, f"{len(values)} values in different regions are named {name}", "name another value"
        )
    help = nearest_or_all(name, names.values(), _LISTED)
    raise parser.error_since(start, "no value of this name in the printed program", help)


def _is_within(value: Value, function: Op) -> bool:
    assert isinstance(value, OpResult | BlockArgument)
    op: Op | None = owning_op(value)
    while op is not None and op is not function:
        op = op.parent_op
    return op is function


def _value_sharding(
    parser: TextParser, start: int, sharding: object, type: Type, op: Op, is_in_body: bool = False
) -> ShardingInProgram:
    if not isinstance(type, RankedShapedType):
        raise parser.error_since(start, "only ranked tensors have a sharding")
    if not isinstance(sharding, TensorSharding):
        help = "add passes that propagate shardings, such as -sdy-propagation-pipeline"
        raise parser.error_since(start, "this value has no sharding", help)
    mesh = find_mesh(sharding.mesh_or_ref, op)
    # The verifier rejects a reference to a mesh that does not exist.
    assert mesh is not None
    manual = [*bound_axes(op), *(getattr(op, "manual_axes", ()) if is_in_body else ())]
    shape = tuple([None if size == DYNAMIC else size for size in type.shape])
    on_mesh = ShardingOnMesh(sharding, mesh, tuple(manual))
    try:
        tiling_of(on_mesh)
    except IncompatibleSubAxes as problem:
        raise parser.error_since(start, str(problem)) from None
    return ShardingInProgram(on_mesh, shape)
