"""Textual pipelines: parsing, printing, and errors."""

import re

import pytest

from sdyopt.mlir.pipeline import UsageError, parse_pipeline
from sdyopt.mlir.pipeline.tree import parse_passes
from tests.unit.pipeline.fakes import lookup


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("builtin.module()", "builtin.module()"),
        ("builtin.module(on-module)", "builtin.module(on-module)"),
        (
            " builtin.module( on-any , func.func( on-function ) ) ",
            "builtin.module(on-any,func.func(on-function))",
        ),
        ("builtin.module(counting)", "builtin.module(counting{limit=3})"),
        ("builtin.module(counting{limit=5} , on-any)", "builtin.module(counting{limit=5},on-any)"),
        ("builtin.module(two-passes)", "builtin.module(on-module,func.func(on-function))"),
        ("any(on-any,on-function)", "any(on-any,on-function)"),
        ("func.func(on-function)", "func.func(on-function)"),
        (
            "builtin.module(func.func(builtin.module(on-any)),func.func(on-any))",
            "builtin.module(func.func(builtin.module(on-any)),func.func(on-any))",
        ),
    ],
)
def test_pipelines_are_printed_in_one_form(text: str, printed: str) -> None:
    assert str(parse_pipeline(text, lookup)) == printed
    assert str(parse_pipeline(printed, lookup)) == printed


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("", ""),
        ("on-any", "write builtin.module(on-any)"),
        ("builtin.module(func.func(on-any", "write builtin.module(func.func(on-any))"),
        ("builtin.module(on-any{x=1})", "the pass has no options"),
        ("builtin.module(on-function)", "write func.func(on-function)"),
        ("func.func(on-module)", "on-module runs on builtin.module: write it outside of func.func(…)"),
    ],
)
def test_help_for_invalid_pipelines(text: str, help: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_pipeline(text, lookup)
    assert caught.value.help == help


UNWRAPPED = "expected pass pipeline to be wrapped with the anchor operation type, e.g. 'builtin.module(...)'"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", UNWRAPPED),
        ("on-any", UNWRAPPED),
        ("(on-any)", UNWRAPPED),
        ("builtin.module(on-any", UNWRAPPED),
        ("builtin.module(nope)", "1:16: error: 'nope' does not refer to a registered pass or pass pipeline"),
        ("builtin.module(on-any,)", "1:23: error: '' does not refer to a registered pass"),
        ("builtin.module(func.func())", "1:26: error: '' does not refer to a registered pass"),
        (
            "builtin.module(counting{limit=1)",
            "1:24: error: missing closing '}' while processing pass options",
        ),
        ("builtin.module(on-any))", "1:23: error: encountered extra closing ')' creating unbalanced"),
        ("builtin.module(func.func(on-any)", "1:33: error: encountered unbalanced parentheses"),
        ("any(" * 1000 + ")" * 1000, "1:404: error: nesting is too deep"),
        ("builtin.module(func.func(on-any)x)", "1:33: error: expected ',' after parsing pipeline"),
        ("any(on-any),any(on-any)", "1:13: error: expected only one pipeline"),
        ("builtin.module(on-any{x=1})", "no such option x\nfailed to add `on-any` with options `x=1`"),
        (
            "builtin.module(on-function)",
            "Can't add pass 'OnFunctionPass' restricted to 'func.func' on a PassManager intended to run "
            "on 'builtin.module', did you intend to nest?\nfailed to add `on-function` with options ``",
        ),
        ("func.func(two-passes)", "Can't add pass 'OnModulePass' restricted to 'builtin.module'"),
    ],
)
def test_invalid_pipelines_are_errors(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_pipeline(text, lookup)
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("", "builtin.module()"),
        ("on-any", "builtin.module(on-any)"),
        ("on-function", "builtin.module(func.func(on-function))"),
        ("on-module , counting{limit=5}", "builtin.module(on-module,counting{limit=5})"),
        (
            "func.func(on-any),two-passes",
            "builtin.module(func.func(on-any),on-module,func.func(on-function))",
        ),
    ],
)
def test_passes_are_nested_under_what_they_run_on(text: str, printed: str) -> None:
    assert str(parse_passes(text, lookup)) == printed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("on-any,no-such", "'no-such' does not refer to a registered pass or pass pipeline"),
        ("on-any),on-any(", "expected only one pipeline"),
        ("counting{limit=many}", "'many' value invalid for long argument!"),
        ("func.func(on-module)", "Can't add pass 'OnModulePass' restricted to 'builtin.module'"),
    ],
)
def test_invalid_lists_of_passes_are_errors(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        parse_passes(text, lookup)
