"""Help for misspelled names, of operations, values, symbols, axes and the like, and for syntax errors.

Of syntax, the parser knows which token it expects, and the grammar's tables word that. What to write instead
depends on the text at the position, whichever rule of the grammar it is in. So these hints, and only these,
are looked up by the wording of the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.asm.lexical import BARE_ID, BLOCK_ID, SSA_ID, STRING_EXTENT, symbol_text
from sdyopt.mlir.dialects.sdy.axes import ManualAxes
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.error_help.table import (
    Case,
    ErrorExplanation,
    argument,
    attribute_name,
    backticked,
    did_you_mean,
    explains,
    listed,
    result,
    sentences,
    text,
    within,
)
from sdyopt.mlir.ir.attribute import nested_attributes
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.floats import FLOAT_FORMATS
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import FunctionOpInterface, SymbolTableOp, nearest_symbol_table, symbol_name
from sdyopt.mlir.registry.discovery import MESH_VERSIONS, dialect_table

# The dialects that are searched first for an operation that is written without its dialect.
_USUAL_DIALECTS = ("stablehlo", "sdy", "func", "chlo", "mesh")
_STRING = re.compile(f"({STRING_EXTENT}?)")
_LOCAL_NAME = re.compile(rf"({SSA_ID})(?=(?::\d+)?\s*(?:,\s*{SSA_ID}(?::\d+)?\s*){{0,20}}=|\s*:)")
_TOP_LEVEL_FUNCTION = re.compile(r"^[ \t]*func\.func\b", re.MULTILINE)


# --- Operations and dialects ------------------------------------------------------------------


@explains("operation")
def unknown_operation(case: Case) -> str:
    name = case["name"]
    if name == "HloModule":
        return "this is HLO; print the MLIR program with `jax.jit(f).lower(…).as_text()`"
    if "." in name:
        return _releases_with(name) or _similar_operation(name, case.dialects)
    dialects = dict.fromkeys((*_USUAL_DIALECTS, *case.dialects.names()))
    owners = [dialect for dialect in dialects if name in _operations(case.dialects, dialect)]
    if owners:
        return f"write the dialect, too: `{owners[0]}.{name}`"
    candidates = [f"{d}.{op}" for d in _USUAL_DIALECTS for op in _operations(case.dialects, d)]
    by_mnemonic = {candidate.partition(".")[2]: candidate for candidate in reversed(candidates)}
    return did_you_mean(name, by_mnemonic, lambda mnemonic: f"`{by_mnemonic[mnemonic]}`")


@explains("dialect")
def unknown_dialect(case: Case) -> str:
    return _dialect_help(case["name"], case.dialects)


@explains("unregistered dialect")
def unregistered_dialect(case: Case) -> str | ErrorExplanation:
    before = list(_STRING.finditer(case.text, case.text.rfind("\n", 0, case.offset) + 1, case.offset))
    if not before:
        return ""
    return ErrorExplanation(
        help=_dialect_help(before[-1][1].strip('"'), case.dialects), token=before[-1].start()
    )


@explains("unregistered operation")
def unregistered_operation(case: Case) -> str:
    name = case["name"]
    return _releases_with(name) or _similar_operation(name, case.dialects)


def _releases_with(name: str) -> str:
    """Help for an operation of `mesh` or `shard` that only other releases of LLVM have; empty for others."""
    if not name.startswith(("mesh.", "shard.")):
        return ""
    versions = [version for version in MESH_VERSIONS if dialect_table(version).op_class(name) is not None]
    if not versions:
        return ""
    return f"`{name}` is in LLVM {' and '.join(map(str, versions))}: --mesh-version={versions[-1]}"


def _dialect_help(name: str, dialects: DialectTable) -> str:
    if help := _releases_with(name):
        return help
    namespace, _, mnemonic = name.partition(".")
    owners = [other for other in dialects.names() if mnemonic in _operations(dialects, other)]
    help = did_you_mean(namespace, owners, lambda other: f"`{other}.{mnemonic}`")
    return help or (
        "load the dialect of another package with --load-dialect-plugin=NAME, or accept unknown operations "
        "in generic form (mlir-opt --mlir-print-op-generic) with --allow-unregistered-dialect"
    )


def _similar_operation(name: str, dialects: DialectTable) -> str:
    """Suggests an operation of the same dialect; of a partial one, only one with the same letters."""
    namespace, _, mnemonic = name.partition(".")
    dialect = dialects.find(namespace)
    if dialect is None or not dialect.is_partial:
        known = _operations(dialects, namespace)
        return did_you_mean(mnemonic, known, lambda other: f"`{namespace}.{other}`")
    letters = sorted(mnemonic.lower())
    typos = [other for other in dialect.ops if sorted(other) == letters]
    return did_you_mean(mnemonic, typos, lambda other: f"`{namespace}.{other}`") or (
        f"only some operations of {namespace} are supported; accept others in generic form (mlir-opt "
        "--mlir-print-op-generic) with --allow-unregistered-dialect"
    )


def _operations(dialects: DialectTable, namespace: str) -> Iterable[str]:
    dialect = dialects.find(namespace)
    return () if dialect is None else dialect.ops


# --- Values and blocks ----------------------------------------------------------------------


@explains("value")
def undeclared_value(case: Case) -> str:
    """Suggests a value with a similar name that the same function defines before the use."""
    name = _token(case, SSA_ID)
    start = max((m.start() for m in _TOP_LEVEL_FUNCTION.finditer(case.text, 0, case.offset)), default=0)
    # Names such as %12 and %13 are similar by chance.
    names = [] if name[1:2].isdigit() else [m[1] for m in _LOCAL_NAME.finditer(case.text, start, case.offset)]
    return did_you_mean(name, reversed(names))


@explains("block")
def undefined_block(case: Case) -> str:
    labels = re.findall(rf"^[ \t]*({BLOCK_ID})", case.text, re.MULTILINE)
    return did_you_mean(_token(case, BLOCK_ID), labels)


@explains("alias")
def undefined_alias(case: Case) -> str | ErrorExplanation:
    # The position is after the name.
    line_start = case.text.rfind("\n", 0, case.offset) + 1
    starts = [(case.text.rfind(sigil + case["name"], line_start, case.offset), sigil) for sigil in "#!"]
    start, sigil = max(starts)
    aliases = re.findall(rf"^({re.escape(sigil)}[\w$.-]+)\s*=", case.text, re.MULTILINE)
    return ErrorExplanation(
        help=did_you_mean(sigil + case["name"], aliases)
        or f"define the alias at the top of the file: `{sigil}{case['name']} = …`",
        token=start if start >= 0 else case.offset,
    )


# --- Symbols ----------------------------------------------------------------------------------


@explains("symbol")
def undefined_symbol(case: Case) -> str:
    """Suggests a similar symbol that an operation named `by` defines, or lists all such symbols."""
    table = None if case.op is None else nearest_symbol_table(case.op)
    if not isinstance(table, SymbolTableOp):
        return ""
    ops = [op for op in table.symbols() if op.signature.name == case["by"]]
    names = [n for op in reversed(ops) if (n := symbol_name(op)) is not None]
    if similar := did_you_mean(case["name"], names, lambda other: f"`{symbol_text(other)}`"):
        return similar
    defined = listed([symbol_text(other) for other in names])
    default = "" if case.message.kind.help else f"the module has no {case['by']}"
    return f"the module defines {defined}" if defined else default


# --- Attributes and keywords ------------------------------------------------------------------


@explains("missing attribute")
def missing_attribute(case: Case) -> str | ErrorExplanation:
    name, op = case["name"], case.op
    present = [] if op is None else [n for n, _ in (*op.signature.attributes.entries, *op.attributes.entries)]
    unknown = [other for other in present if op is None or other not in _declared(case)]
    meant = next((other for other in unknown if did_you_mean(other, [name])), None)
    if meant is not None:
        return ErrorExplanation([attribute_name(meant)], f"did you mean `{name}`?")
    return f"write `{name} = …`"


def _declared(case: Case) -> set[str]:
    """The names of the attributes and regions that the class of the operation declares."""
    assert case.op is not None
    return {getattr(field, "name", "") for field in type(case.op).fields.values()}


@explains("plain attribute")
def plain_attribute(case: Case) -> str | ErrorExplanation:
    """Finds the first attribute without a dialect prefix, as the verifier does."""
    if not isinstance(case.op, FunctionOpInterface):
        return ""
    is_argument = case["word"] == "argument"
    dictionaries = case.op.argument_attributes if is_argument else case.op.result_attributes
    for index, attributes in enumerate(dictionaries):
        for name, _ in attributes.entries:
            if "." not in name:
                meant = "`sdy.sharding`" if name == "sharding" else f"`dialect.{name}`"
                value = argument(index) if is_argument else result(index)
                help = f"{case.message.kind.help}: {meant}"
                return ErrorExplanation([within(value, attribute_name(name))], help)
    return ""


@explains("dialect of attribute")
def attribute_of_unknown_dialect(case: Case) -> str:
    return did_you_mean(case["name"], case.dialects.names(), lambda name: f"`#{name}.`")


@explains("keyword")
def wrong_keyword(case: Case) -> str:
    names = case["names"].split(", ")
    help = did_you_mean(_token(case, BARE_ID), names)
    return help or f"choose from {listed(map(backticked, names), 20)}"


@explains("attribute or type")
def unknown_kind(case: Case) -> str:
    dialect = case.dialects.find(case["dialect"])
    if dialect is None:
        return ""
    is_type = case["what"] == "type"
    if not is_type and (hint := dialect.hints.get(case["mnemonic"])):
        return hint
    known, sigil = (dialect.type_parsers, "!") if is_type else (dialect.attribute_parsers, "#")
    help = did_you_mean(case["mnemonic"], known, lambda other: f"`{sigil}{dialect.name}.{other}`")
    return help or f"{dialect.name} has {listed(sorted(known))}"


def _token(case: Case, pattern: str) -> str:
    """The token of this form at the position of the diagnostic; empty if there is none."""
    match = re.compile(pattern).match(case.text, max(0, case.offset))
    return "" if match is None else match[0]


@explains("axis")
def unknown_axis(case: Case) -> str:
    return _axis_help(case, case["axis"])


@explains("mesh order")
def not_in_mesh_order(case: Case) -> str:
    sharding = next(_shardings(case.op), None)
    mesh = None if sharding is None or case.op is None else mesh_of(sharding, case.op)
    axes = "" if mesh is None else f": {_axes(mesh).removeprefix('the axes ')}"
    return case.message.kind.help + axes


@explains("local shape")
def local_shape(case: Case) -> str | ErrorExplanation:
    # The verifier checks the shapes before the names of the axes.
    axis = _undefined_manual_axis(case.op)
    return "" if axis is None else ErrorExplanation([text(f'"{axis}"')], _axis_help(case, axis))


def _axis_help(case: Case, axis: str) -> str:
    sharding = next((s for s in _shardings(case.op) if any(a.name == axis for a in s.axis_refs)), None)
    sharding = sharding or next(_shardings(case.op), None)
    mesh = None if sharding is None or case.op is None else mesh_of(sharding, case.op)
    if mesh is None or sharding is None:
        return ""
    names = [axis.name for axis in mesh.axes]
    return sentences(
        did_you_mean(axis, names, lambda name: f'"{name}"'), f"{_mesh_name(sharding)} has {_axes(mesh)}"
    )


def _shardings(op: Op | None) -> Iterator[TensorSharding]:
    """The shardings in the attributes of an operation."""
    if op is not None:
        for dictionary in (op.inherent_attributes(), op.attributes):
            for nested_attribute in nested_attributes(dictionary):
                if isinstance(nested_attribute, TensorSharding):
                    yield nested_attribute


def _mesh_name(sharding: TensorSharding) -> str:
    return "the mesh" if sharding.mesh_name is None else symbol_text(sharding.mesh_name)


def _axes(mesh: Mesh) -> str:
    if not mesh.axes:
        return "no axes"
    axes = listed(f'"{axis.name}"={axis.size}' for axis in mesh.axes)
    return f"the axes {axes}"


def _undefined_manual_axis(op: Op | None) -> str | None:
    """The first manual axis that the mesh lacks."""
    sharding = next(_shardings(op), None)
    mesh = None if sharding is None or op is None else mesh_of(sharding, op)
    if op is None or mesh is None:
        return None
    manual = (
        nested_attribute
        for nested_attribute in nested_attributes(op.inherent_attributes())
        if isinstance(nested_attribute, ManualAxes)
    )
    known = {axis.name for axis in mesh.axes}
    return next((name for axes in manual for name in axes.names if name not in known), None)


_BRACE = re.compile(rf"{STRING_EXTENT}?|//[^\r\n]*|[{{}}]")
_ELEMENT_TYPES = (*sorted(FLOAT_FORMATS), "i1", "i4", "i8", "i16", "i32", "i64", "ui8", "ui32", "index")
# Type names of other frameworks -> the element type.
_FOREIGN_TYPES = {
    "float": "f32", "float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16", "double": "f64",
    "half": "f16", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "int": "i32", "bool": "i1",
    "s8": "i8", "s16": "i16", "s32": "i32", "s64": "i64", "u8": "ui8", "u32": "ui32", "pred": "i1",
}  # fmt: skip


def _operation_name(text: str, offset: int) -> str:
    if text[offset:].strip(" \t\r\n"):
        return ""
    opening = _unclosed_brace(text)
    if opening is None:
        return ""
    line = text.count("\n", 0, opening) + 1
    return f"close the `{{` of line {line} with `}}`"


def _unclosed_brace(text: str) -> int | None:
    """The offset of the innermost brace that is not closed."""
    opened: list[int] = []
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}" and opened:
            opened.pop()
    return opened[-1] if opened else None


def _string(text: str, offset: int) -> str:
    word = _word_at(text, offset)
    return f'write it in quotes: `"{word}"`' if word else ""


def _unclosed(text: str, offset: int) -> str:
    line = text[text.rfind("\n", 0, offset) + 1 :].partition("\n")[0]
    if line.count('"') % 2:
        return 'a string ends on its line: a `"` is missing'
    return "close the bracket"


def _type(text: str, offset: int) -> str:
    match = re.compile(r"(?:\d|x)*?x?([A-Za-z]\w*)").match(text, offset)
    word = "" if match is None else match[1].removeprefix("x")
    if not word:
        return ""
    known = _FOREIGN_TYPES.get(word)
    return f"did you mean `{known}`?" if known else did_you_mean(word, _ELEMENT_TYPES)


def _attribute_value(text: str, offset: int) -> str:
    word = _word_at(text, offset)
    if re.compile(rf"\s*{BARE_ID}\s*=(?!=)").match(text, offset):
        return "write properties in braces: `<{name = value}>`"
    if word == "None":
        return "remove the attribute"
    if word in ("True", "False"):
        return f"did you mean `{word.lower()}`?"
    return f'write a string in quotes: `"{word}"`' if word else ""


# The number of characters before a position that hints look at.
_MAX_BEFORE = 200


class _Hint(NamedTuple):
    """Help for a message where the line before the position and the text after it match these patterns.

    Named groups of `before` and `after` are inserted in the help.
    """

    message: str
    before: str
    after: str
    help: str


_HINTS = (
    _Hint(r"unexpected character", "", "[“”„«»]", 'write straight quotes: `"`'),
    _Hint(r"unexpected character", "", "'", 'strings are in double quotes: `"`'),
    _Hint(r"unexpected character", "", ";", "operations end with the line, without `;`"),
    _Hint(r"invalid attribute name", "", r"#\s", "comments start with `//`"),
    _Hint(r"expected operation name", "", r"/\*", "comments start with `//`, on each line"),
    _Hint(
        r"expected operation name",
        "",
        r"\{ lambda\b",
        "this is a jaxpr; print the MLIR program with `jax.jit(f).lower(…).as_text()`",
    ),
    _Hint(r"expected '\{'", "", '(?P<axis>"[^"]*")', "write a dimension in braces: `{{{axis}}}`"),
    _Hint(
        r"expected '<'",
        r"<\s*(?P<name>[A-Za-z_]\w*)\s*",
        "",
        "write the name of a mesh with `@`: `@{name}`",
    ),
    _Hint(
        r"expected '<'",
        "",
        r"\s*(?P<name>@[\w.]+)",
        "write a sharding in angle brackets: `<{name}, […]>`",
    ),
    _Hint(r"expected ','", "", r"\s*(?P<value>%[\w.]+)", "separate values by commas: `, {value}`"),
    _Hint(r"expected ':'", "", r"[ \t]*(?:$|//)", "write the types after a colon"),
    _Hint(
        r"expected 'x' in dimension list",
        "",
        r"\s*,",
        "separate the dimensions by `x`, as in `tensor<8x16xf32>`",
    ),
    _Hint(
        r"expected non-function type",
        r"[(,]\s*",
        r"(?P<name>\w+)\s*:",
        "write an argument with `%`: `%{name}`",
    ),
    _Hint(
        r"expected '.'",
        r"\b[a-z]+\d+",
        r"\[[\d,]*\]",
        "write the type of a tensor as in `tensor<8x16xf32>`",
    ),
    _Hint(r"expected '\]'", "", ">", "a `[` before it is not closed: write `]`"),
)


# Messages -> the function that gives help with the text at a position.
_BY_WORDING = (
    (r"^expected operation name in quotes", _operation_name),
    (r"(?:^|' )expected string$", _string),
    (r"^(?:expected '\"' in string literal|unbalanced)", _unclosed),
    (r"^expected (?:non-function )?type$|^expected '[x>]' in |^expected non-function type", _type),
    (r"(?:^|' )expected attribute value$", _attribute_value),
)


def help_at(message: str, text: str, offset: int) -> str:
    """Help for a syntax error at an offset of a text; empty if there is none."""
    offset = max(0, offset)
    line = text[max(text.rfind("\n", 0, offset) + 1, offset - _MAX_BEFORE) : offset]
    for hint in _HINTS:
        if re.search(hint.message, message) is None:
            continue
        before = re.search(f"(?:{hint.before})$", line)
        after = re.compile(hint.after, re.MULTILINE).match(text, offset)
        if before is not None and after is not None:
            groups = before.groupdict() | after.groupdict()
            return hint.help.format(**groups) if groups else hint.help
    return next((help(text, offset) for wording, help in _BY_WORDING if re.search(wording, message)), "")


def _word_at(text: str, offset: int) -> str:
    """The word at an offset, after whitespace if any; empty if there is none."""
    match = re.compile(rf"\s*({BARE_ID})").match(text, offset)
    return "" if match is None else match[1]
