"""The templates of statements that a process keeps for its next sources."""

from __future__ import annotations

import pytest

from sdyopt.base.diagnostics import DiagnosticError, Source
from sdyopt.base.releases import following
from sdyopt.mlir.asm.parser import statement_templates
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.mlir.registry import dialect_table


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statement_templates, "_kept", [()])


def parsed(body: str, aliases: str = "", allows_unregistered: bool = False) -> str:
    text = f"{aliases}func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) {{\n{body}  return\n}}\n"
    options = ParseOptions(allow_unregistered_dialects=allows_unregistered)
    module, _ = parse_module(Source("in", text), dialect_table(), options)
    return print_op(module, PrintOptions(debuginfo=True))


def kept_statements() -> set[str]:
    return {key for kept in statement_templates._kept[0] for key in kept.statements}


ADD = "  %0 = stablehlo.add %a, %b : tensor<4xf32>\n"
OTHER = "  %7 = stablehlo.add %b, %a : tensor<4xf32>\n  %9 = stablehlo.add %7, %7 : tensor<4xf32>\n"


def test_a_statement_of_an_earlier_source_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = parsed(OTHER)
    statement_templates._kept[0] = ()
    parsed(ADD)
    parses: list[str] = []
    add = statement_templates.StatementTemplates.add

    def recording_add(self: statement_templates.StatementTemplates, key: str, *more: object) -> None:
        parses.append(key)
        add(self, key, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(statement_templates.StatementTemplates, "add", recording_add)
    assert parsed(OTHER) == expected
    assert not any("stablehlo.add" in key for key in parses)


def test_aliases_are_those_of_the_source() -> None:
    body = "  %0 = stablehlo.add %a, %b {label = #x} : tensor<4xf32>\n"
    assert '"one"' in parsed(body, '#x = "one"\n')
    assert '"two"' in parsed(body, '#x = "two"\n')
    body = "  %0 = stablehlo.abs %a : !t\n"
    assert "abs %arg0 : tensor<4xf32>" in parsed(body, "!t = tensor<4xf32>\n")
    with pytest.raises(DiagnosticError):
        parsed(body, "!t = tensor<5xf32>\n")
    assert not any("#x" in key or "!t" in key for key in kept_statements())


def test_unregistered_operations_need_permission_in_each_source() -> None:
    body = '  %0 = "no.such"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n'
    parsed(body, allows_unregistered=True)
    with pytest.raises(DiagnosticError, match="unregistered dialect"):
        parsed(body)


def test_other_releases_have_their_own() -> None:
    parsed(ADD)
    with following("jaxlib-0.10.2"):
        assert "stablehlo.add" in parsed(ADD)
    assert len(statement_templates._kept[0]) >= 2


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed(ADD)
    for size in range(20):
        parsed(f"{ADD}  %c = stablehlo.constant dense<0> : tensor<{size}xi8>\n")
    assert len(statement_templates._kept[0]) == statement_templates._KEPT_SOURCES
    assert any("stablehlo.add" in key for key in kept_statements()), "it was used by each of them"
    monkeypatch.setattr(statement_templates, "_KEPT_STATEMENTS", 1)
    statement_templates._kept[0] = ()
    parsed(ADD + "  %1 = stablehlo.abs %0 : tensor<4xf32>\n")
    assert not any("stablehlo" in key for key in kept_statements())
