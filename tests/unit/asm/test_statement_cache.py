"""The statement cache does not change the result of parsing."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.programs import training_step
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, handling
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.interning import instances
from sdyopt.mlir.asm.parser import statement_templates
from sdyopt.mlir.asm.parser.module_parser import ModuleParser, ParseOptions
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_for_note, print_op
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.ir.attribute import UNIT
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.verify import Verifier
from sdyopt.mlir.registry import find_dialect

ROOT = Path(__file__).parents[3]
FILES = sorted([*ROOT.glob("examples/*.mlir"), *ROOT.glob("tests/lit/**/*.mlir")])
EVERYTHING = PrintOptions(generic=True, debuginfo=True)


def outcome(text: str, uses_statement_cache: bool) -> str:
    """The program as it is printed, also with a further attribute on each operation, and its diagnostics."""
    dialects = DialectTable(find_dialect)
    diagnostics: list[Diagnostic] = []
    printed: list[str] = []
    for signature in instances(OpSignature):
        signature.cache.clear()  # what it knows of its form
    with handling(diagnostics.append):
        try:
            options = ParseOptions(
                allow_unregistered_dialects=True, uses_statement_cache=uses_statement_cache
            )
            op, _ = ModuleParser(Source("in", text), dialects, options).module()
            printed.append(print_op(op, EVERYTHING))
            # Invalid VHLO may be valid for the verifier, and then has no custom form.
            if "vhlo." not in text and Verifier(dialects, plain_type, print_for_note).verify(op):
                printed.append(print_op(op))
                for inner in op.walk():
                    inner.attributes = inner.attributes.with_entry("test.mark%s", UNIT)
                printed.append(print_op(op))
        except DiagnosticError as error:
            diagnostics.append(error.diagnostic)
    return "\n".join([*printed, *map(description, diagnostics)])


def description(diagnostic: Diagnostic) -> str:
    parts = [diagnostic, *diagnostic.notes]
    followers = map(description, diagnostic.followers)
    return "\n".join([*(f"{p.location}: {p.message}" for p in parts), *followers])


def assert_equal_results(text: str) -> None:
    assert outcome(text, uses_statement_cache=True) == outcome(text, uses_statement_cache=False)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_results_are_equal_on_files(path: Path) -> None:
    for chunk in path.read_text(encoding="utf-8").split("// -----"):
        assert_equal_results(chunk)


def test_results_are_equal_on_a_long_program() -> None:
    assert_equal_results(training_step(1))


def test_results_are_equal_for_statements_of_one_form() -> None:
    """A statement is verified by what its form leaves open, and printed as it is written."""
    sizes = [(8, 8), (4, 4), (2, 8), (8, 2), (1, 8), (4, 2), (4, 8)]
    lines = [
        line
        for number, (old, new) in enumerate(sizes)
        for line in (
            f"func.func private @f{'g' * number}(tensor<{old}xf32>) -> tensor<{old}xf32>",
            f"%a{number} = stablehlo.constant dense<1.0> : tensor<{old}xf32>",
            f"%b{number} = stablehlo.add %a{number}, %a{number} : tensor<{old}xf32>",
            f"%c{number} = stablehlo.broadcast_in_dim %b{number}, dims = [0] : (tensor<{old}xf32>) -> "
            f"tensor<{new}x{new}xf32>",
            f"%d{number} = func.call @f{'g' * number}(%a{number}) : (tensor<{old}xf32>) -> tensor<{old}xf32>",
        )
    ]
    for count in range(0, len(lines) + 1, 5):
        assert_equal_results("\n".join(["module {", *lines[:count], "}"]))


# --- Random layouts ----------------------------------------------------------------------------

# Statements with blanks between tokens; R and S are names of results, A and B those of operands and blocks.
OPERATIONS = [
    '%R = "t.add" ( %A , %B ) : ( i32 , i32 ) -> i32',
    '%R = "t.add" ( %A , %B ) { k = 1 : i32 , "l" } : ( i32 , i32 ) -> i32',
    '"t.use" ( %A ) : ( i32 ) -> ( )',
    '"t.use" ( ) : ( ) -> ( )',
    '%R , %S = "t.pair" ( %A ) : ( i32 ) -> ( i32 , i32 )',
    '%R :2 = "t.pair" ( %A ) : ( i32 ) -> ( i32 , i32 )',
    '"t.use" ( %R #1 ) : ( i32 ) -> ( )',
    '"t.use" ( %R#0 ) : ( i32 ) -> ( )',
    '"t.use" ( %A ) : ( f32 ) -> ( )',
    "%R = builtin.unrealized_conversion_cast to i32",
    "%R = builtin.unrealized_conversion_cast %A : i32 to i32",
    "%R = func.call @f ( %A , %B ) : ( i32 , i32 ) -> i32",
    "func.call @g ( ) : ( ) -> ( )",
    "call @g ( ) : ( ) -> ( )",
    "return",
    "return %A : i32",
    '"t.region" ( ) ( {',
    "} ) : ( ) -> ( )",
    "} , {",
    "^A",
    "^A ( %R : i32 ) :",
    '"t.branch" ( ) [ ^A ] : ( ) -> ( )',
    "%R = stablehlo.constant dense < 1 > : tensor < i32 >",
    "%R = stablehlo.constant dense < 2 > : tensor < i32 >",
    "%R = stablehlo.constant dense < 2.5 > : tensor < i32 >",
    "%R = stablehlo.constant dense < [ 1 , 2 ] > : tensor < 2xi32 >",
    "%R = stablehlo.constant { k = 1 : i32 } dense < 3 > : tensor < i32 >",
    '%R = "stablehlo.constant" ( ) <{ value = dense < 3 > : tensor < i32 > }> : ( ) -> tensor < i32 >',
    '"t.use" ( ) { value = dense < 3 > : tensor < i32 > } : ( ) -> ( )',
    "loc ( unknown )",
]
LOCATIONS = [
    'loc ( "f" :1 :2 )',
    "loc ( unknown )",
    "loc ( #early )",
    "loc ( #late )",
    'loc ( "n" )',
    "loc ( #never )",
]
ODD_GAPS = ["\n", "  ", "\t", " // comment\n", "\r\n", "\n\n", "  // loc(unknown)\n"]
# The printer puts no blank before these.
TIGHT = ["(", ")", ",", "[", "]", "<", ">", ":1", ":2"]


@st.composite
def statements(draw: st.DrawFn) -> str:
    """A statement, mostly with the printer's layout."""
    text = draw(st.sampled_from(OPERATIONS))
    if draw(st.integers(0, 3)) == 0:
        text += " " + draw(st.sampled_from(LOCATIONS))
    tokens = text.split(" ")
    parts = [tokens[0]]
    for before, token in pairwise(tokens):
        if draw(st.integers(0, 40)) == 0:
            parts.append(draw(st.sampled_from(ODD_GAPS)))
        elif before not in ("(", "[", "<") and token not in TIGHT:
            parts.append(" ")
        parts.append(token)
    return "".join(parts)


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """The body of a function with `%a`, `%b` and `%x.y`, mostly one statement per line."""
    text = ""
    names = ["a", "b"]
    for index, statement in enumerate(draw(st.lists(statements(), max_size=12))):
        # Rarely, an operand has another type or is defined later, or a result is already defined.
        operands = st.sampled_from(names[-4:] * 4 + ["x.y", f"r{index + 2}"])
        result = draw(st.sampled_from([f"r{index}"] * 20 + ["a"]))
        for letter, name in (("R", result), ("S", f"s{index}"), ("A", draw(operands)), ("B", draw(operands))):
            statement = re.sub(rf"([%^]){letter}\b", rf"\g<1>{name}", statement)
        if "%" + result in statement:
            names.append(result)
        text += statement + draw(st.sampled_from(["\n"] * 12 + [" ", "\n  ", " // end\n", "\r\n"]))
    return text


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Two functions with the same body, so that the statements of the second are in the cache."""
    body, arguments = draw(bodies()), "%a: i32, %b: i32, %x.y: f32"
    return (
        '#early = loc("early")\n'
        "func.func private @f(i32, i32) -> i32\n"
        "func.func private @g()\n"
        f"func.func @h({arguments}) {{\n{body}  return\n}}\n"
        f"func.func @i({arguments}) {{\n{body}  return\n}}\n"
        '#late = loc("late")\n'
    )


@given(programs())
@settings(max_examples=300)
def test_results_are_equal_on_random_layouts(program: str) -> None:
    assert_equal_results(program)


# --- Statements of one form --------------------------------------------------------------------

# Each `T` is a tensor type, each `N` a number. Some parsers read a type, and some types are in attributes.
FORMS = [
    "%R = stablehlo.add %A, %B : T",
    "%R = stablehlo.add %A, %B : (T, T) -> T",
    "%R = stablehlo.complex %A, %B : T",
    "%R = stablehlo.reshape %A : (T) -> T",
    "%R = stablehlo.select %A, %B, %B : T, T",
    "%R = stablehlo.constant dense<1> : T",
    "%R = stablehlo.constant dense<[1, 2]> : T",
    "%R = stablehlo.iota dim = 0 : T",
    "%R = stablehlo.broadcast_in_dim %A, dims = [0] : (T) -> T",
    "%R = stablehlo.reduce(%A init: %B) applies stablehlo.add across dimensions = [0] : (T, T) -> T",
    "%R:2 = stablehlo.optimization_barrier %A, %B : T, T",
    "%R = stablehlo.tuple %A, %B : tuple<T, T>",
    '%R = "t.add"(%A, %B) : (T, T) -> T',
    '%R = "t.add"(%A, %B) {k = T} : (T, T) -> T',
    '%R = "t.add"(%A, %B) {k = "T"} : (T, T) -> T',
    '%R = "t.add"(%A, %B) {k = !t.box<T>} : (T, T) -> T',
    '%R = "t.add"(%A, %B) {k = dense<1> : T} : (T, T) -> T',
    '%R = "t.add"(%A, %B) : (T, T) -> (T',
    "%R = stablehlo.slice %A [N:N] : (T) -> T",
    "%R = stablehlo.slice %A [N:N:N] : (T) -> T",
    "%R = stablehlo.slice %A [N:N, N:N] {t.k = N : i64, t.l = [N, N]} : (T) -> T",
    "%R = stablehlo.pad %A, %B, low = [N], high = [N], interior = [N] : (T, T) -> T",
    "%R = stablehlo.transpose %A, dims = [N, N] : (T) -> T",
    "%R = stablehlo.dot_general %A, %B, contracting_dims = [N] x [N] : (T, T) -> T",
    "%R = stablehlo.concatenate %A, %B, dim = N : (T, T) -> T",
    "%R = stablehlo.constant dense<N.5> : T",
    "%R = stablehlo.constant dense<N.> : T",
    "%R = sdy.sharding_constraint %A <@m, [{}, {?}]> : T",
    "%R = call @f(%A) : (T) -> T",
    "%R = func.constant @f : (T) -> T",
    "%R = sdy.sharding_constraint %A <@m, [{}]> : T",
    "return %A : T // T",
]
TYPES = ["tensor<2xi32>", "tensor<2xf32>", "tensor<f32>", "tensor<?xi32>", "tensor<2xcomplex<f32>>"]
TYPES += [f"tensor<{sizes}xf32>" for sizes in ("02", "3", "0", "1", "2x3", "3x2", "3x3", "4x3", "1x3", "?x3")]
TYPES += ["tensor<2xi032>"]


@st.composite
def programs_of_forms(draw: st.DrawFn) -> str:
    """Functions with statements of few forms, whose operands mostly have the written types."""
    text = "sdy.mesh @m = <[]>\n"
    forms = draw(st.lists(st.sampled_from(FORMS), min_size=1, max_size=3))
    for number in range(4):
        types = draw(st.permutations(TYPES))[: draw(st.sampled_from([1, 1, 2, 5]))]
        arguments = ", ".join(f"%a{index}: {type}" for index, type in enumerate(types))
        text += f"func.func @f{number}({arguments}) {{\n"
        for index, form in enumerate(draw(st.permutations(forms * 2))):
            statement = form.replace("%R", f"%r{index}")
            names = [f"%a{i}" for i in range(len(types))]
            while (match := re.search(r"%[AB]", statement)) is not None:
                statement = statement.replace(match[0], draw(st.sampled_from(names)), 1)
            while re.search(r"\bT\b", statement):
                statement = re.sub(r"\bT\b", draw(st.sampled_from(types)), statement, count=1)
            while re.search(r"\bN\b", statement):
                digits = draw(st.sampled_from(["0", "1", "2", "3", "02", "-1"]))
                statement = re.sub(r"\bN\b", digits, statement, count=1)
            text += f"  {statement}\n"
        text += "  return\n}\n"
    return text


@given(programs_of_forms())
@settings(max_examples=300)
def test_results_are_equal_on_statements_of_one_form(program: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statement_templates, "_FIRST_STATEMENTS", 1)
        assert_equal_results(program)


@pytest.mark.parametrize("type", ["tensor<02xf32>", "tensor<2x01xf32>", "tensor<2xi032>"])
def test_types_with_leading_zeros_are_printed_without_them(type: str) -> None:
    lines = [f"%{i} = stablehlo.tanh %a : {t}\n" for i, t in enumerate(["tensor<f32>"] * 3 + [type] * 3)]
    assert_equal_results(f"func.func @f(%a: tensor<f32>) {{\n{''.join(lines)}  return\n}}")
    lines = [f"%{number} = stablehlo.negate %a : {type}\n" for number in range(3)]
    assert_equal_results(f"func.func @f(%a: {type}) {{\n{''.join(lines)}  return\n}}")


def fully_parsed(text: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operations of StableHLO that are parsed in full."""
    parsed: list[str] = []
    parse_operation = ModuleParser._parse_operation

    def record(parser: ModuleParser) -> OpAsmParser:
        op_parser = parse_operation(parser)
        parsed.append(op_parser.text[op_parser.offset : op_parser.position])
        return op_parser

    monkeypatch.setattr(ModuleParser, "_parse_operation", record)
    ModuleParser(Source("in", text), DialectTable(find_dialect), ParseOptions()).module()
    return [operation for operation in parsed if operation.startswith("stablehlo")]


def test_statement_of_known_form_is_not_parsed_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"  %{size} = stablehlo.iota dim = 0 : tensor<{size}xi32>\n" for size in range(9)]
    assert fully_parsed(f"func.func @f() {{\n{''.join(lines)}  return\n}}", monkeypatch) == [
        "stablehlo.iota dim = 0 : tensor<0xi32>",
        "stablehlo.iota dim = 0 : tensor<0>",
    ]


def test_statement_of_known_form_with_other_numbers_is_not_parsed_in_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [
        f"  %{n} = stablehlo.slice %a [{n}:20] : (tensor<20xi8>) -> tensor<{20 - n}xi8>\n"
        for n in range(1, 20)
    ]
    text = f"func.func @f(%a: tensor<20xi8>) {{\n{''.join(lines)}  return\n}}"
    assert [operation.partition(" :")[0] for operation in fully_parsed(text, monkeypatch)] == [
        *(f"stablehlo.slice %a [{n}:20]" for n in range(1, 9)),
        "stablehlo.slice %1 [700000000000000000:700000000000000001]",
    ]
