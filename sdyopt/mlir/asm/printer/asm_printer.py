"""Prints operations as MLIR does.

The print template of an operation is built once per signature and discardable attributes. What the
template does not contain is printed by the methods of `OpAsmPrinter`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Location, UnknownLoc
from sdyopt.mlir.asm.format.assembly_format import Assembly
from sdyopt.mlir.asm.format.format_elements import visible_attributes
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter, Template
from sdyopt.mlir.asm.lexical import PROPERTIES, escape
from sdyopt.mlir.asm.printer.attribute_printer import (
    AttributePrinter,
    DiagnosticAttributePrinter,
    TooLongError,
)
from sdyopt.mlir.asm.printer.ssa_names import (
    Aliases,
    AliasFinder,
    PrintedLine,
    SsaNames,
    argument_comments,
    attribute_position,
    users_comment,
)
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.op_signature import FORM, FORMAT, OpSignature
from sdyopt.mlir.ir.operation import Op, UnregisteredOp
from sdyopt.mlir.ir.traits import ISOLATED
from sdyopt.mlir.ir.types import FunctionType, Type
from sdyopt.mlir.ir.value import Value

# The number of texts that are joined at a time.
_PAGE_LENGTH = 10_000


@dataclass(frozen=True)
class PrintOptions:
    """Printing options, each of which is a flag of mlir-opt."""

    generic: bool = False
    debuginfo: bool = False
    pretty_debuginfo: bool = False
    local_scope: bool = False
    elide_elements_larger_than: int | None = None
    elide_resources_larger_than: int | None = None
    hex_elements_larger_than: int | None = None
    value_users: bool = False
    unique_ssa_ids: bool = False
    skip_regions: bool = False
    names_from_locations: bool = False


def print_op(op: Op, options: PrintOptions = PrintOptions()) -> str:
    """The text of an operation and the definitions of its aliases, with a newline at the end."""
    return "".join(print_pages(op, options))


def print_pages(op: Op, options: PrintOptions = PrintOptions()) -> list[str]:
    """The text of `print_op` in parts, for a program so large that a copy would matter."""
    aliases, ssa_names = Aliases(), _ssa_names(op, options)
    if options.debuginfo and not options.local_scope:
        aliases = _find_aliases(op, options, ssa_names)
    printer = AsmPrinter(op, options, aliases, ssa_names)
    printer.program(op)
    if not options.debuginfo and not options.local_scope and printer.attribute_printer.lacks_alias:
        # Rare: the first pass has found attributes that need an alias.
        printer = AsmPrinter(op, options, _find_aliases(op, options, ssa_names), ssa_names)
        printer.program(op)
    return printer.pages()


def print_for_note(op: Op, generic: bool = True, skip_regions: bool = False) -> str:
    """The text of an operation in a diagnostic; a text of several lines starts with a newline.

    SSA names are those in a print of the innermost isolated operation that is or contains the operation.
    """
    scope = next((a for a in (op, *op.ancestors()) if ISOLATED in a.traits), op)
    options = PrintOptions(
        generic=generic, local_scope=True, elide_elements_larger_than=16, skip_regions=skip_regions
    )
    printer = AsmPrinter(scope, options, Aliases())
    printer.attribute_printer = DiagnosticAttributePrinter(elide_larger_than=16)
    printer.op(op, "")
    text = "".join(printer.pages())
    return f"\n{text}" if "\n" in text else text


def legalization_error(op: Op) -> DiagnosticError:
    """The error of an operation that has no lowering, or whose lowering failed."""
    text = print_for_note(op, skip_regions=True)
    name = op.signature.name
    return op.error(f"failed to legalize operation '{name}' that was explicitly marked illegal: {text}")


class AsmPrinter:
    """Prints operations; the latest texts are in `out`. Implements `OpAsmPrinter`."""

    def __init__(
        self, root: Op, options: PrintOptions, aliases: Aliases, ssa_names: SsaNames | None = None
    ) -> None:
        self.options = options
        self._aliases = aliases
        self.attribute_printer = AttributePrinter(
            elide_larger_than=options.elide_elements_larger_than,
            hex_larger_than=options.hex_elements_larger_than,
            aliases=aliases.texts,
            is_pretty=options.pretty_debuginfo,
        )
        self.ssa_names = ssa_names or _ssa_names(root, options)
        self.names = self.ssa_names.names
        self.out: list[str] = []
        # The text before `out`.
        self._pages: list[str] = []
        self._indent = ""
        # By default dialect and number of regions, because neither is part of the signature.
        self._lines: dict[tuple[str, int], dict[tuple[OpSignature, DictAttr], PrintedLine]] = {}
        self._uses_fast_path = not options.debuginfo and not options.value_users
        is_default = options.elide_elements_larger_than is None and options.hex_elements_larger_than is None
        self._uses_formats = self._uses_fast_path and not options.generic and is_default

    def pages(self) -> list[str]:
        """All that was printed."""
        return [*self._pages, "".join(self.out)]

    def program(self, op: Op) -> None:
        """Prints an operation between the definitions of its aliases."""
        self._alias_definitions(self._aliases.before_module)
        self.op(op, "builtin")
        self.out.append("\n")
        self._alias_definitions(self._aliases.after_module)

    def _alias_definitions(self, elements: Sequence[Attribute | Location]) -> None:
        """Prints `#alias = attribute` lines."""
        for element in elements:
            text = self.attribute_printer.body(element)
            if isinstance(element, Location):
                text = self._location_text(text)
            self.out.append(f"{self._aliases.texts[element]} = {text}\n")

    # --- Operations -------------------------------------------------------------------

    def op(self, op: Op, default_dialect: str) -> None:
        """Prints an operation without indentation and newline."""
        try:
            out = self.out
            lines = self._lines.setdefault((default_dialect, len(op.regions)), {})
            key = (op.signature, op.attributes)
            line = lines.get(key)
            if line is None:
                line = self._known_line(op, default_dialect) or self._line(op, default_dialect)
                if not op.mutable_attributes:
                    lines[key] = line
            elif not line.is_repeated:
                line.repeat(has_result=len(op.results) == 1)
            if line.format is not None:
                names = self.names
                values = [names[use.value] for use in op._operands]
                if len(op.results) == 1:
                    out.append(line.format % (names[op.results[0]], *values))
                else:
                    self._results(op)
                    out.append(line.format % tuple(values))
            else:
                self._results(op)
                for part in line.parts:
                    if isinstance(part, str):
                        out.append(part)
                    elif isinstance(part, int):
                        out.append(self.names[op.operand_at(part)])
                    else:
                        part(op, self)
            if self.options.debuginfo:
                self.location(op.location)
            if self.options.value_users:
                self.out.append(users_comment(op, self.ssa_names))
        except TooLongError as error:
            if error.diagnostic.location is not UnknownLoc():
                raise
            raise TooLongError.at(op.location, error.diagnostic.message) from None

    def _is_generic(self, op: Op) -> bool:
        return self.options.generic or not isinstance(op.assembly, Assembly)

    def _known_line(self, op: Op, default_dialect: str) -> PrintedLine | None:
        """The line of an operation whose signature has the format of its text, if that is it."""
        cache = op.signature.cache
        format = cache.get(FORMAT)
        if format is None or not self._uses_formats or op.dialect_name == default_dialect:
            return None
        if op.attributes.entries:
            form = cache.get(FORM)
            position = None if form is None else form.cached(attribute_position)
            if position is None or not position[1].isdisjoint(op.attributes.names):
                return None
            before, after = format[: position[0]], format[position[0] :]
            attributes = self.attribute_printer.attribute(op.attributes).replace("%", "%%")
            format = f"{before} {attributes}{after}"
        line = PrintedLine([])
        line.set_format(format, has_result=bool(op.results))
        return line

    def _line(self, op: Op, default_dialect: str) -> PrintedLine:
        signature = op.signature
        assembly = op.assembly
        if self._is_generic(op):
            template = self._generic(op)
        else:
            assert isinstance(assembly, Assembly)
            name = signature.name
            if default_dialect and name.startswith(default_dialect + "."):
                name = name[len(default_dialect) + 1 :]
            constant = assembly.constant_text(signature, op.attributes, self.attribute_printer)
            if constant is not None:
                return PrintedLine([f"{name} {constant}"])
            template = assembly.template(signature, op.attributes, self.attribute_printer)
            template.parts.insert(0, name)
        return PrintedLine(template.parts)

    def _results(self, op: Op) -> None:
        """Prints `%0, %1:2 = `."""
        results = op.results
        if len(results) == 1:
            self.out.append(f"{self.names[results[0]]} = ")
            return
        if not results:
            return
        starts = self.ssa_names.groups.get(op, [0])
        groups = []
        for start, end in zip(starts, [*starts[1:], len(results)], strict=True):
            name = self.names[results[start]]
            groups.append(name if end - start == 1 else f"{name[:-2]}:{end - start}")
        self.out.append(", ".join(groups) + " = ")

    def _generic(self, op: Op) -> Template:
        """`"name"(%operands)[^successors] <{properties}> ({regions}) {attributes} : type`."""
        signature, template = op.signature, Template(self.attribute_printer)
        template.text(f'"{escape(signature.name)}"(')
        for index in range(len(signature.operand_types)):
            if index:
                template.text(", ")
            template.parts.append(index)
        template.text(")")
        if op.successors:
            template.call(lambda op, printer: printer.write(printer.successors(op)))
        properties: Attribute | None = op.inherent_attributes()
        discardable = op.attributes
        if op.signature.op_class is UnregisteredOp:
            properties = signature.attributes.get(PROPERTIES)
        if properties is not None and not (isinstance(properties, DictAttr) and not properties.entries):
            template.text(f" <{self.attribute_printer.attribute(properties)}>")
        if op.regions:
            template.text(" (")
            for index in range(len(op.regions)):
                if index:
                    template.text(", ")
                template.call(_region_writer(index))
            template.text(")")
        template.attribute_dictionary(discardable)
        template.text(
            " : " + self.attribute_printer.function_type(signature.operand_types, signature.result_types)
        )
        return template

    # --- OpAsmPrinter ---------------------------------------------------------------------

    def write(self, text: str) -> None:
        self.out.append(text)

    def newline(self) -> None:
        self.out.append("\n" + self._indent)

    @contextmanager
    def indented(self) -> Iterator[None]:
        self._indent += "  "
        yield
        self._indent = self._indent[:-2]

    def name(self, value: Value) -> str:
        return self.names[value]

    def name_list(self, values: Sequence[Value]) -> str:
        return ", ".join([self.names[value] for value in values])

    def label(self, block: Block) -> str:
        return self.ssa_names.blocks[block]

    def successors(self, op: Op) -> str:
        return f"[{', '.join(map(self.label, op.successors))}]"

    def type(self, type: Type) -> str:
        return self.attribute_printer.type(type)

    def types(self, types: Sequence[Type]) -> str:
        return ", ".join([self.attribute_printer.type(type) for type in types])

    def function_type(self, inputs: Sequence[Type], results: Sequence[Type]) -> str:
        return self.attribute_printer.function_type(inputs, results)

    def attribute(self, attribute: Attribute) -> str:
        return self.attribute_printer.attribute(attribute)

    def attribute_dictionary(self, op: Op, *elided: str, with_keyword: bool = False) -> None:
        shown = visible_attributes(op.signature, op.attributes, frozenset(elided))
        self.dictionary(shown, with_keyword)

    def dictionary(self, attributes: DictAttr, with_keyword: bool = False) -> None:
        if attributes.entries:
            keyword = " attributes " if with_keyword else " "
            self.out.append(keyword + self.attribute_printer.attribute(attributes))

    def argument(self, argument: Value, attributes: DictAttr | None = None) -> None:
        self.out.append(f"{self.names[argument]}: {self.attribute_printer.type(argument.type)}")
        if attributes is not None:
            self.dictionary(attributes)
        if self.options.debuginfo:
            # As in MLIR, without an alias.
            self.out.append(" " + self._location_text(self.attribute_printer.body(argument.location)))

    def _location_text(self, body: str) -> str:
        return body if self.options.pretty_debuginfo else f"loc({body})"

    def location(self, location: Location) -> None:
        """Prints ` loc(…)`."""
        printer, is_pretty = self.attribute_printer, self.options.pretty_debuginfo
        self.out.append(" " + (printer.body(location) if is_pretty else printer.location(location)))

    def region(
        self,
        region: Region,
        print_arguments: bool = False,
        print_terminator: bool = True,
        print_empty: bool = False,
    ) -> None:
        if self.options.skip_regions:
            self.out.append("{...}")
            return
        out, outer = self.out, self._indent
        out.append("{\n")
        self._indent = outer + "  "
        default_dialect = region.parent.default_dialect if region.parent is not None else ""
        predecessors = region.predecessors() if len(region.blocks) > 1 else {}
        for number, block in enumerate(region.blocks):
            is_shown_empty = print_empty and block.first is None
            if number or (print_arguments and block.arguments) or is_shown_empty:
                self._label(block, outer, predecessors.get(block, []))
            if self.options.value_users:
                self.out += [f"{self._indent}{line}\n" for line in argument_comments(block, self.ssa_names)]
            self._block(block, default_dialect, print_terminator)
        self._indent = outer
        out.append(outer + "}")

    def _block(self, block: Block, default_dialect: str, print_terminator: bool) -> None:
        out, indent, write, names = self.out, self._indent, self.op, self.names
        # Fast paths: an operation with one result whose format is known, or without regions whose line is.
        lines = self._lines.setdefault((default_dialect, 0), {}) if self._uses_fast_path else {}
        uses_formats = self._uses_formats
        op, last = block.first, block.last
        end = last if last is not None and last.is_terminator and not print_terminator else None
        while op is not end and op is not None:
            format = op.signature.cache.get(FORMAT)
            if (
                format is not None
                and uses_formats
                and not op.attributes.entries
                and op.dialect_name != default_dialect
                and len(op.results) == 1
            ):
                values = [names[op.results[0]]]
                for use in op._operands:
                    values.append(names[use.value])  # noqa: PERF401  a comprehension is slower
                out.append(f"{indent}{format % tuple(values)}\n")
            elif (
                (line := lines.get((op.signature, op.attributes))) is not None
                and line.line_format
                and not op.regions
            ):
                values = [indent, names[op.results[0]]]
                for use in op._operands:
                    values.append(names[use.value])
                out.append(line.line_format % tuple(values))
            else:
                out.append(indent)
                write(op, default_dialect)
                out.append("\n")
            if len(out) > _PAGE_LENGTH:
                # Joined texts take less memory.
                self._pages.append("".join(out))
                out.clear()
            op = op.next

    def _label(self, block: Block, indent: str, predecessors: Sequence[Block]) -> None:
        """Prints `^bb1(%arg: type):  // pred: ^bb0`."""
        out = self.out
        out.append(indent + self.ssa_names.blocks[block])
        if block.arguments:
            out.append("(")
            for index, argument in enumerate(block.arguments):
                if index:
                    out.append(", ")
                self.argument(argument)
            out.append(")")
        out.append(":")
        is_entry = block.parent is not None and block.parent.blocks[0] is block
        if not is_entry:
            out.append(_predecessors([self.ssa_names.blocks[p] for p in predecessors]))
        out.append("\n")


class _AliasVisitor(AsmPrinter):
    """Visits what the printer would print, to find the attributes that get an alias."""

    def __init__(self, root: Op, options: PrintOptions, ssa_names: SsaNames) -> None:
        super().__init__(root, options, Aliases(), ssa_names)
        self._uses_fast_path = self._uses_formats = False
        self.finder = AliasFinder()
        self.attribute_printer = _AliasVisitorAttributePrinter(self.finder)

    def op(self, op: Op, default_dialect: str) -> None:
        if self.options.debuginfo:
            self.finder.visit(op.location, is_deferrable=True)
        if self._is_generic(op):
            self._visit_generic(op)
        else:
            super().op(op, default_dialect)
        self.out.clear()

    def _visit_generic(self, op: Op) -> None:
        """Visits regions, then types, then all attributes by name, as MLIR does."""
        for region in op.regions:
            self.region(region, print_arguments=True)
        for type in (*op.operand_types, *op.result_types):
            self.attribute_printer.type(type)
        for _, attribute in sorted([*op.inherent_attributes(), *op.attributes], key=lambda entry: entry[0]):
            self.attribute_printer.attribute(attribute)

    def argument(self, argument: Value, attributes: DictAttr | None = None) -> None:
        """Visits the type and location of an argument; as in MLIR, not its attributes."""
        self.attribute_printer.type(argument.type)
        if self.options.debuginfo:
            self.finder.visit(argument.location)

    def location(self, location: Location) -> None:
        """Does nothing: `op` visits locations before operations."""


class _AliasVisitorAttributePrinter(AttributePrinter):
    """Passes attributes and types to the finder; every text is empty."""

    def __init__(self, finder: AliasFinder) -> None:
        super().__init__()
        self._finder = finder

    def type(self, type: Type) -> str:
        self._finder.visit(type)
        return ""

    def attribute(self, attribute: Attribute) -> str:
        self._finder.visit(attribute)
        return ""

    def function_type(self, inputs: Sequence[Type], results: Sequence[Type]) -> str:
        return self.type(FunctionType(tuple(inputs), tuple(results)))


def _find_aliases(root: Op, options: PrintOptions, ssa_names: SsaNames) -> Aliases:
    visitor = _AliasVisitor(root, options, ssa_names)
    visitor.op(root, "builtin")
    return visitor.finder.aliases()


def _ssa_names(root: Op, options: PrintOptions) -> SsaNames:
    return SsaNames(
        root,
        options.generic,
        options.unique_ssa_ids,
        options.names_from_locations,
        with_ids=options.value_users,
        only_printed=True,
    )


def _region_writer(index: int) -> Callable[[Op, OpAsmPrinter], None]:
    return lambda op, printer: printer.region(op.regions[index], print_arguments=True, print_empty=True)


def _predecessors(names: list[str]) -> str:
    if not names:
        return "  // no predecessors"
    if len(names) == 1:
        return f"  // pred: {names[0]}"
    return f"  // {len(names)} preds: {', '.join(names)}"
