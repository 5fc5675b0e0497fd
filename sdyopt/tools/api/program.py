"""The state that all views of one program share: its IR, its source, and the SSA names of its values.

Each call into the library is a run of its own, with the interpreter settings of a run of sdy-opt. Its context
is that of its thread, so calls from several threads do not wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import ClassVar, NamedTuple, Never, Self

from sdyopt.base.diagnostics.diagnostic import Diagnostic, Handler, handling, mark_occurrences, separate_run
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.releases import following
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.printer.asm_printer import AsmPrinter, PrintOptions, print_for_note, print_op
from sdyopt.mlir.asm.printer.attribute_printer import TooLongError, plain_type
from sdyopt.mlir.asm.printer.ssa_names import Aliases, SsaNames
from sdyopt.mlir.asm.resources import Resources, resource_section
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.ir.verify import Verifier
from sdyopt.mlir.pipeline.run import run_and_verify
from sdyopt.mlir.pipeline.tree import Pipeline
from sdyopt.mlir.registry import dialect_table, using_dialects
from sdyopt.tools.api.errors import Collector, Error, diagnostic_of
from sdyopt.tools.driver.job import interpreter_settings
from sdyopt.tools.driver.reproducer import with_external_resources


@contextmanager
def session(handler: Handler, version: str, dialects: DialectTable) -> Iterator[None]:
    """A run that passes its diagnostics to `handler`, follows a release of Shardy, and has these dialects.

    Raises Error for a type or an attribute that is too long to print.
    """
    followed, used = following(version), using_dialects(dialects)
    try:
        with interpreter_settings(), separate_run(), handling(handler), followed, used:
            yield
    except TooLongError as error:
        raise Error([diagnostic_of(error.diagnostic, None)]) from None


def discard(_: Diagnostic) -> None:
    """The handler of calls that only read or copy a valid program, and so emit nothing."""


class OfProgram:
    """What refers to operations of a program: views of them, and results that compute more when asked.

    A copy is the same object. It cannot be pickled: operations refer to each other, however many there are.
    """

    __slots__ = ()
    # What is passed to another process.
    _passed: ClassVar[str] = "the module"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> Never:
        raise TypeError(
            f"sdyopt.{type(self).__name__} refers to operations of a program, so it cannot be pickled: "
            f"pass {self._passed}"
        )


class IrProgram:
    """A module in the IR, with all that is needed to print it, verify it, and report diagnostics about it."""

    def __init__(
        self,
        op: Op,
        source: Source,
        resources: Resources,
        options: ParseOptions,
        mesh_version: int,
        sdy_version: str,
    ) -> None:
        self.op = op
        self.source = source
        self._resources = resources
        self.options = options
        self.mesh_version = mesh_version
        self.sdy_version = sdy_version
        # Whether no pass has run.
        self.is_written = True
        self.dialects = dialect_table(mesh_version)
        self.verifier = Verifier(self.dialects, plain_type, print_for_note)
        # The context in which the program is edited, and diagnostics about it are emitted; None while it
        # cannot be.
        self.editing: Callable[[], AbstractContextManager[None]] | None = None

    @property
    def module(self) -> ModuleOp:
        """The module, of a program that is one."""
        assert isinstance(self.op, ModuleOp)
        return self.op

    def session(self, handler: Handler) -> AbstractContextManager[None]:
        """A run on this program."""
        return session(handler, self.sdy_version, self.dialects)

    def clone(self) -> IrProgram:
        """A copy that shares no operation with this program. It keeps the order of uses, as passes need."""
        return self.clone_with_copies()[0]

    def clone_with_copies(self) -> tuple[IrProgram, dict[Op, Op], dict[Value, Value]]:
        """As `clone`; also the copies of all operations and values."""
        values: dict[Value, Value] = {}
        with self.session(discard):
            copy = Rewriter().clone(self.op, values)
            copies = dict(zip(self.op.walk(), copy.walk(), strict=True))
            # Gives the use lists of copies the order of those of the original operations.
            for op, copied in copies.items():
                for value, new in zip(_defined_values(op), _defined_values(copied), strict=True):
                    if value.first_use is None or value.has_one_use:
                        continue
                    uses = [copies[use.owner].operand_uses[use.index] for use in value.uses]
                    if uses == list(new.uses):
                        continue
                    for use in uses:
                        use.unlink()
                    for use in reversed(uses):
                        use.link(new)
        return self.with_op(copy), copies, values

    def with_op(self, op: Op) -> IrProgram:
        """Another module with the resources of this program."""
        program = IrProgram(
            op, self.source, self._resources, self.options, self.mesh_version, self.sdy_version
        )
        program.is_written = self.is_written
        return program

    def pickled(self) -> Pickled:
        """Data to make the program of again, in this process or another one."""
        order = [uses if uses != sorted(uses, reverse=True) else None for uses in _orders_of_uses(self.op)]
        return Pickled(
            text=self.text(PrintOptions(debuginfo=True)),
            name=self.source.name,
            source=self.source.text,
            options=self.options,
            mesh_version=self.mesh_version,
            sdy_version=self.sdy_version,
            order=order if any(order) else None,
            is_written=self.is_written,
        )

    def run_passes(self, pipeline: Pipeline, op: Op, collector: Collector, again: Callable[[], Op]) -> bool:
        """Runs passes on `op`, which `again` makes again if they fail; see `pipeline.run.run_and_verify`."""
        forget_occurrences = mark_occurrences()

        def restart() -> Op:
            collector.diagnostics.clear()
            forget_occurrences()
            return again()

        return run_and_verify(pipeline, op, self.verifier, restart)

    def collector(self) -> Collector:
        """A collector of diagnostics about this program."""
        return Collector(self.source, self.dialects, self.options)

    def text(self, options: PrintOptions) -> str:
        """The printed program, with its resources."""
        with self.session(discard):
            text = print_op(self.op, options)
            text += resource_section(self.op, self._resources, options.elide_resources_larger_than)
            return with_external_resources(text, self._resources.external)

    def op_text(self, op: Op) -> str:
        """The text of an operation, without aliases."""
        with self.session(discard):
            printer = AsmPrinter(self.op, PrintOptions(local_scope=True), Aliases(), self._ssa_names)
            printer.op(op, "")
            return "".join(printer.out)

    @contextmanager
    def being_edited(self) -> Iterator[None]:
        """The context of an edit. Raises ValueError if the program cannot be edited."""
        if self.editing is None:
            raise ValueError("a module never changes: edit a copy of it, `with module.edit() as edit:`")
        with self.editing():
            yield

    def forget_names(self) -> None:
        """The names of values are others after an edit."""
        self.__dict__.pop("_ssa_names", None)

    def name(self, value: Value) -> str:
        """The SSA name of a value in the printed program, such as `%0`."""
        return self._ssa_names.names[value]

    @cached_property
    def _ssa_names(self) -> SsaNames:
        with self.session(discard):
            return SsaNames(self.op)


class Pickled(NamedTuple):
    """A program as text, with all that the text lacks.

    `order` has the uses of each value, most recent first, as numbers of operations and operands; None stands
    for those of a value in reverse order of the text.
    """

    text: str
    name: str
    source: str
    options: ParseOptions
    mesh_version: int
    sdy_version: str
    order: list[list[tuple[int, int]] | None] | None
    is_written: bool


def unpickled(pickled: Pickled) -> IrProgram:
    """The program that was pickled. Raises DiagnosticError if a dialect of it is missing in this process."""
    source = Source(pickled.name, pickled.source)
    dialects = dialect_table(pickled.mesh_version)
    with session(discard, pickled.sdy_version, dialects):
        text = Source(pickled.name, pickled.text)
        op, resources = parse_module(text, dialects, pickled.options)
        ops = list(op.walk())
        numbers = {op: number for number, op in enumerate(ops)}
        for index, value in enumerate(_values_with_uses(op)):
            order = None if pickled.order is None else pickled.order[index]
            uses = order or sorted(((numbers[use.owner], use.index) for use in value.uses), reverse=True)
            for use in list(value.uses):
                use.unlink()
            for number, operand in reversed(uses):
                ops[number].operand_uses[operand].link(value)
    program = IrProgram(op, source, resources, pickled.options, pickled.mesh_version, pickled.sdy_version)
    program.is_written = pickled.is_written
    return program


def _orders_of_uses(root: Op) -> list[list[tuple[int, int]]]:
    """The uses of each value with several, as numbers of operations and operands."""
    numbers = {op: number for number, op in enumerate(root.walk())}
    return [[(numbers[use.owner], use.index) for use in value.uses] for value in _values_with_uses(root)]


def _values_with_uses(root: Op) -> list[Value]:
    """The values with several uses, in the order of the text."""
    values = (value for op in root.walk() for value in _defined_values(op))
    return [value for value in values if value.first_use is not None and not value.has_one_use]


def _defined_values(op: Op) -> list[Value]:
    """The results of an operation and the arguments of its blocks."""
    blocks = (block for region in op.regions for block in region.blocks)
    return [*op.results, *(argument for block in blocks for argument in block.arguments)]
