"""Checks the declarations of a plugin's operations when it is loaded, before a program uses them.

An operation that is declared with a mistake would otherwise fail, or parse and print wrong, when a program
first uses it. A mistake in an assembly format is located in the file that has it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from types import FunctionType
from typing import Any

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import FileLoc, FileRange, Source
from sdyopt.mlir.asm.format.assembly_format import Assembly, FormatError, FormatToken
from sdyopt.mlir.asm.format.format_elements import (
    AllOperands,
    AllTypes,
    Attr,
    AttrDict,
    Custom,
    FormatElement,
    FunctionalType,
    Literal,
    Operand,
    OptionalGroup,
    RegionElement,
    SuccessorElement,
    TypeOf,
)
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.dialect import check_parameters
from sdyopt.mlir.ir.interfaces import BRANCHES, LOOP, SINGLE_BODY, DataFlow
from sdyopt.mlir.ir.op_fields import (
    ONE,
    AttrField,
    Field,
    RegionField,
    ResultField,
    ValueField,
    declared_fields,
)
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import (
    ATTR_SIZED_OPERANDS,
    ATTR_SIZED_RESULTS,
    SAME_SIZE_OPERANDS,
    AttrConstraint,
    RegionConstraint,
    Trait,
    TypeConstraint,
)

# The elements whose effect is known. Others, such as those of `custom<…>`, may parse any field.
_KNOWN = (
    AllOperands,
    AllTypes,
    Attr,
    AttrDict,
    FunctionalType,
    Literal,
    Operand,
    RegionElement,
    SuccessorElement,
    TypeOf,
)


def check_operation(op_class: type[Op]) -> None:
    """Raises DiagnosticError, located in its file, for a mistake in the declaration of a class."""
    for trait in op_class.trait_order:
        if not isinstance(trait, Trait):
            raise _located_in_class(op_class, "", f"{trait!r} is not a trait", "write traits, such as PURE")
    for name, field in op_class.fields_of_all_releases.items():
        _check_field(op_class, name, field)
    _check_groups(op_class)
    _check_hooks(op_class)
    flow = op_class.data_flow
    if flow is not None and (not isinstance(flow, DataFlow) or type(flow).sources is DataFlow.sources):
        message = f"the data_flow of '{op_class.name}' is {flow!r}"
        help = (
            "write LOOP, BRANCHES, SINGLE_BODY, or an object of a class with sources, derived from DataFlow"
        )
        raise _located_in_class(op_class, "data_flow", message, help)
    if flow in (LOOP, BRANCHES, SINGLE_BODY) and not declared_fields(op_class).regions:
        message = f"the data_flow of '{op_class.name}' is that of an operation with regions, and it has none"
        help = "declare a region, such as body = region(ONE_BLOCK)"
        raise _located_in_class(op_class, "data_flow", message, help)
    format = op_class.assembly
    if isinstance(format, str):
        help = 'write assembly = assembly("…")'
        raise _located_in_class(op_class, "assembly", f"the assembly of '{op_class.name}' is a string", help)
    # A class may have functions that parse and print it instead.
    if not isinstance(format, Assembly):
        return
    try:
        _check_elements(op_class, list(_flat(format.elements_for(op_class))))
    except FormatError as problem:
        raise _located(format, op_class, problem) from None


def _check_field(op_class: type[Op], name: str, field: Field) -> None:
    """Raises DiagnosticError for a field that hides a member of operations, or has no constraint."""
    if hasattr(Op, name) and not (name == "result" and isinstance(field, ResultField)):
        help = f"give it another name than '{name}'"
        if isinstance(field, AttrField):
            help = f'call the field {name}_, and give the attribute its name: attr(…, name="{name}")'
        message = f"the field '{name}' of '{op_class.name}' hides a member of all operations"
        raise _located_in_class(op_class, name, message, help)
    for kind, constraint, example in _CONSTRAINTS:
        if isinstance(field, kind) and not isinstance(field.constraint, constraint):
            message = f"the field '{name}' of '{op_class.name}' has {field.constraint!r} as its constraint"
            raise _located_in_class(
                op_class, name, message, f"write the {constraint.__name__}, such as {example}"
            )
    if isinstance(field, AttrField):
        _check_default(op_class, name, field)


def _check_default(op_class: type[Op], name: str, field: AttrField[Any]) -> None:
    """Raises DiagnosticError for a default that is no attribute, or not one that the field takes."""
    default: object = field.default
    if default is None:
        return
    message = f"the field '{name}' of '{op_class.name}' has the default {default!r}"
    if not isinstance(default, Attribute):
        help = "write an attribute, such as integer_attr(1, I64), float_attr(1.5, F32) or string_attr(…)"
        raise _located_in_class(op_class, name, f"{message}, which is no attribute", help)
    if not field.constraint.accepts(default):
        help = f"write one that is a {field.constraint.description}"
        raise _located_in_class(op_class, name, f"{message}, which it does not take", help)


def _declared_as(op_class: type[Op], name: str) -> Any:
    """What a class or a base of it declares, without binding it. `inspect` takes long to import."""
    return next(vars(base)[name] for base in op_class.__mro__ if name in vars(base))


def _check_hooks(op_class: type[Op]) -> None:
    """Raises DiagnosticError for a hook of another number of parameters, or one that lacks @staticmethod."""
    for name, count in _STATIC_HOOKS.items():
        hook = _declared_as(op_class, name)
        function = hook.__func__ if isinstance(hook, staticmethod) else hook
        if function is None:
            continue
        try:
            check_parameters(function, count, f"'{op_class.name}'")
        except TypeError as error:
            help = f"write @staticmethod before def {name}({', '.join(['signature', 'regions'][:count])})"
            raise _located_in_class(op_class, name, str(error), help) from None
        if function is hook and name == "trip_count" and isinstance(hook, FunctionType):
            message = f"trip_count of '{op_class.name}' is no static method"
            raise _located_in_class(op_class, name, message, "write @staticmethod before it")
    for name, count in _HOOKS.items():
        hook = _declared_as(op_class, name)
        if isinstance(hook, FunctionType):
            try:
                check_parameters(hook, count, f"'{op_class.name}'")
            except TypeError as error:
                parameters = ["self", *_PARAMETERS.get(name, ())]
                help = f"write def {name}({', '.join(parameters)})"
                raise _located_in_class(op_class, name, str(error), help) from None


# The hooks of classes, and those of operations, with the numbers of their parameters.
_STATIC_HOOKS = {"verify_signature": 1, "infer_result_types": 2, "is_effect_free": 1, "trip_count": 1}
_HOOKS = {
    "verify_in_context": 1,
    "verify_regions": 1,
    "verify_symbol_uses": 1,
    "fold": 2,
    "name_results": 1,
    "name_arguments": 2,
}
_PARAMETERS = {"fold": ("constants",), "name_arguments": ("region",)}

_CONSTRAINTS: tuple[tuple[Any, type, str], ...] = (
    (ValueField, TypeConstraint, 'ANY_TYPE or exactly(F32, "f32")'),
    (AttrField, AttrConstraint, 'I64_ATTR or of_class(Window, "window")'),
    (RegionField, RegionConstraint, "ONE_BLOCK"),
)


def _check_groups(op_class: type[Op]) -> None:
    """Raises DiagnosticError for groups of unknown sizes, and for successors without a terminator."""
    declared = declared_fields(op_class)
    for fields, traits, kind in (
        (declared.operands, (ATTR_SIZED_OPERANDS, SAME_SIZE_OPERANDS), "operands"),
        (declared.results, (ATTR_SIZED_RESULTS,), "results"),
    ):
        variable = [field.field_name for field in fields if field.arity != ONE]
        if len(variable) > 1 and not op_class.traits.intersection(traits):
            message = f"'{op_class.name}' has several groups of {kind} whose sizes vary"
            help = f"add the trait ATTR_SIZED_{kind.upper()}, which stores the sizes"
            raise _located_in_class(op_class, variable[1], message, help)
    if declared.successors and not op_class.is_terminator:
        name = declared.successors[0].field_name
        message = f"'{op_class.name}' has successors, and is not a terminator"
        raise _located_in_class(op_class, name, message, "add the trait TERMINATOR")


def _flat(elements: Sequence[FormatElement]) -> Iterator[FormatElement]:
    for element in elements:
        if isinstance(element, OptionalGroup):
            yield from _flat([*element.elements, *element.otherwise])
        else:
            yield element


def _check_elements(op_class: type[Op], elements: Sequence[FormatElement]) -> None:
    """Raises FormatError if a part of the operation cannot be parsed, as the generator of ODS does."""
    if not any(isinstance(element, AttrDict | Custom) for element in elements):
        help = "write attr-dict, or attr-dict-with-keyword before a region"
        raise FormatError("the format has no attr-dict, so discardable attributes are lost", help=help)
    for element, following in pairwise(elements):
        if (
            isinstance(element, AttrDict)
            and not element.with_keyword
            and isinstance(following, RegionElement)
        ):
            message = f"the region ${following.field} is parsed as the attr-dict before it"
            raise FormatError(message, FormatToken("attr-dict", -1), "write attr-dict-with-keyword")
    _check_divisible(op_class, elements)
    if not all(isinstance(element, _KNOWN) for element in elements):
        return
    parsed = {
        element.field
        for element in elements
        if isinstance(element, Operand | RegionElement | SuccessorElement)
    }
    typed: set[str] = set()
    has_all_operands = any(isinstance(element, AllOperands) for element in elements)
    for element in elements:
        typed |= _typed_fields(op_class, element)
    declared = declared_fields(op_class)
    for kind, fields in (("region", declared.regions), ("successor", declared.successors)):
        for field in fields:
            if field.field_name not in parsed:
                raise FormatError(
                    f"the {kind} ${field.field_name} is not in the format", help=f"write ${field.field_name}"
                )
    for operand in declared.operands:
        name = operand.field_name
        if name not in parsed and not has_all_operands:
            raise FormatError(f"the operand ${name} is not in the format", help=f"write ${name}, or operands")
        if operand.constraint.only is None and name not in typed:
            raise FormatError(
                f"the format does not have the type of the operand ${name}", help=f"write type(${name})"
            )
    for result in declared.results:
        name = result.field_name
        if op_class.infer_result_types is None and result.constraint.only is None and name not in typed:
            raise FormatError(
                f"the format does not have the type of the result ${name}", help=f"write type(${name})"
            )


def _check_divisible(op_class: type[Op], elements: Sequence[FormatElement]) -> None:
    """Raises FormatError for a list of all operands, or of all result types, of several groups that vary."""
    declared = declared_fields(op_class)
    operands = [f"${field.field_name}" for field in declared.operands if field.arity != ONE]
    results = [f"${field.field_name}" for field in declared.results if field.arity != ONE]
    for element in elements:
        match element:
            case AllOperands() if len(operands) > 1:
                message = f"operands cannot be divided among {' and '.join(operands)}"
                raise FormatError(message, FormatToken("operands", -1), f"write {' and '.join(operands)}")
            case FunctionalType(results=None) | AllTypes(of_results=True) if len(results) > 1:
                message = f"the result types cannot be divided among {' and '.join(results)}"
                types = " and ".join([f"type({name})" for name in results])
                raise FormatError(message, FormatToken("results", -1), f"write {types}")


def _typed_fields(op_class: type[Op], element: FormatElement) -> set[str]:
    """The operands and results whose types an element parses."""
    declared = declared_fields(op_class)
    operands = {field.field_name for field in declared.operands}
    results = {field.field_name for field in declared.results}
    match element:
        case TypeOf():
            return set(element.typed_fields)
        case AllTypes():
            return results if element.of_results else operands
        case FunctionalType():
            return {
                *(operands if element.operands is None else (element.operands,)),
                *(results if element.results is None else (element.results,)),
            }
    return set()


# --- Where a declaration is --------------------------------------------------------------------


def _located_in_class(op_class: type[Op], name: str, message: str, help: str) -> DiagnosticError:
    """The error at the declaration of a member of a class, or at the class."""
    file = getattr(sys.modules.get(op_class.__module__), "__file__", None) or ""
    source = _source_of(file)
    if source is None:
        return DiagnosticError.at(FileLoc(file, 1, 1), message).help(help)
    member = rf".*?^\s+(?:def\s+)?({name})\s*[:=(]" if name else r"()"
    declaration = re.compile(rf"^class {op_class.__name__}\b{member}", re.MULTILINE | re.DOTALL)
    match = declaration.search(source.text)
    # The member may be one of a base class.
    offset = 0 if match is None else match.start(1) if name else match.start()
    return DiagnosticError.at(source.location(offset), message).within(source).help(help)


def _source_of(file: str) -> Source | None:
    try:
        return Source(file, Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def _located(format: Assembly, op_class: type[Op], problem: FormatError) -> DiagnosticError:
    """The error at the token of a format, in the file and line in which it is written."""
    file, line = format.written_at
    message = f"the assembly of '{op_class.name}': {problem.message}"
    source = _source_of(file)
    if source is None:
        return DiagnosticError.at(FileLoc(file, line, 1), message).help(problem.help)
    # The first and last line of the call in a line.
    import ast  # noqa: PLC0415  slow to import, and rarely used

    calls = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(ast.parse(source.text))
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    first, last = max(calls, default=(line, line))
    offset = _offset(source, first, last, format.format, problem.token)
    error = DiagnosticError.at(source.location(offset), message).within(source).help(problem.help)
    if problem.token is not None:
        row, column = source.line_column(offset)
        error.diagnostic.culprit = FileRange(file, row, column, row, column + len(problem.token.text))
    return error


def _offset(source: Source, first: int, last: int, format: str, token: FormatToken | None) -> int:
    """The offset of a token of a format, which is written as one or more literals in these lines."""
    lines = source.text.splitlines(keepends=True)
    start = sum(map(len, lines[: first - 1]))
    end = start + sum(map(len, lines[first - 1 : last]))
    start += len(lines[first - 1]) - len(lines[first - 1].lstrip())
    if token is None:
        return start
    # The token is as often in the source before this as in the format.
    earlier = max(token.offset, 0)
    position, count = source.text.find("(", start) + 1, format[:earlier].count(token.text)
    for _ in range(count + 1):
        position = source.text.find(token.text, position, end) + 1
        if position == 0:
            return start
    return position - 1
