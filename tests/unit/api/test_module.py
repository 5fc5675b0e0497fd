"""`sdyopt.Module`: running passes, diagnostics, printing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sdyopt
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass
from tests.unit.api.programs import COLLECTIVES, LAYER, REDUCED


class Remark(Pass):
    """Remarks on every function and warns about it."""

    def run(self, op: Any) -> bool:
        for function in op.functions:
            function.remark("a function", ("in this module", op.location))
            function.warning("it has no name", help="give it one")
        return False


class Reject(Pass):
    """Fails at every function."""

    flag = "reject"

    def run(self, op: Any) -> bool:
        op.functions[0].remark("about to fail")
        raise op.functions[0].error("rejected").note("as tested", op.location).help("run another pass")


class Break(Pass):
    """Makes the program invalid."""

    flag = "break"

    def run(self, op: Any) -> bool:
        Rewriter().erase(op.functions[0].entry.terminator)
        return True


class Crash(Pass):
    """Has a bug."""

    flag = "crash"

    def run(self, op: Any) -> bool:
        raise KeyError("bug")


CONSTRAINED = """\
sdy.mesh @mesh = <["x"=2]>
func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


@pytest.mark.parametrize(
    "passes",
    [
        ["sdy-basic-propagate,sdy-sharding-constraint-to-reshard,sdy-reshard-to-collectives"],
        ["sdy-basic-propagate", "sdy-sharding-constraint-to-reshard", "sdy-reshard-to-collectives"],
        ["-sdy-basic-propagate --sdy-sharding-constraint-to-reshard -sdy-reshard-to-collectives"],
        [
            "builtin.module(sdy-basic-propagate,"
            "func.func(sdy-sharding-constraint-to-reshard,sdy-reshard-to-collectives))"
        ],
        [
            "--pass-pipeline='builtin.module(sdy-basic-propagate)'",
            "-sdy-sharding-constraint-to-reshard",
            "-sdy-reshard-to-collectives",
        ],
        [
            sdyopt.create_pass("sdy-basic-propagate"),
            sdyopt.create_pass("sdy-sharding-constraint-to-reshard"),
            "func.func(sdy-reshard-to-collectives)",
        ],
    ],
)
def test_passes_are_names_pipelines_flags_or_objects(passes: list[str | sdyopt.PassPipeline]) -> None:
    expected = sdyopt.parse(CONSTRAINED).run(
        "builtin.module(sdy-basic-propagate,func.func(sdy-sharding-constraint-to-reshard),"
        "func.func(sdy-reshard-to-collectives))"
    )
    assert "sdy.all_gather" in str(expected)
    assert str(sdyopt.parse(CONSTRAINED).run(*passes)) == str(expected)


def test_options_are_keywords() -> None:
    module = sdyopt.parse(REDUCED)
    expected = module.run(COLLECTIVES)
    assert "sdy.all_reduce" in str(expected)
    keywords = module.run("sdy-propagation-pipeline", enable_insert_explicit_collectives=True)
    created = module.run(
        sdyopt.create_pass("sdy-propagation-pipeline", enable_insert_explicit_collectives=True)
    )
    assert str(keywords) == str(created) == str(expected)


def test_values_of_options_are_texts_lists_or_numbers() -> None:
    assert "{keep-sharding-rules=true" in str(
        sdyopt.create_pass("sdy-basic-propagate", keep_sharding_rules="true")
    ).replace(
        "conservative-propagation=false debug-propagation-edge-sharding=false debug-sharding-origins=false ",
        "",
    )
    listed = sdyopt.create_pass("canonicalize", disable_patterns=["a", "b"], max_iterations=3)
    assert "disable-patterns={a,b}" in str(listed)
    assert "max-iterations=3" in str(listed)


def test_the_text_of_an_option_may_have_spaces(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    sdyopt.parse(REDUCED).run("sdy-propagation-pipeline", dump_directory=str(folder))
    assert list(folder.iterdir())


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("sdy-close-sharding", {}, "help: did you mean 'sdy-close-shardings'?"),
        ("cse", {"x": 1}, "'cse' has no option 'x'\nhelp: the pass has no options"),
        ("sdy-basic-propagate", {"keep_rules": True}, "help: did you mean 'keep_sharding_rules'?"),
        ("sdy-basic-propagate", {"keep_sharding_rules": 3}, "'3' is invalid value for boolean argument"),
        ("sdy-basic-propagate", {"keep_sharding_rules": None}, "None is not a value of an option"),
    ],
)
def test_unknown_passes_and_invalid_options_are_errors(
    name: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(sdyopt.PipelineError) as created:
        sdyopt.create_pass(name, **options)
    assert message in str(created.value)
    assert created.value.id == "usage-error"
    with pytest.raises(sdyopt.PipelineError):
        sdyopt.parse("").run(name, **options)  # type: ignore[arg-type]  # as tested


def test_invalid_flags_are_errors() -> None:
    for text, message in (("-cse='", "-cse=': No closing quotation"), ("-cse -cs", "did you mean 'cse'")):
        with pytest.raises(sdyopt.PipelineError, match=message):
            sdyopt.parse("").run(text)


@pytest.mark.parametrize("wrong", [Remark, ["cse"], None])
def test_a_value_that_is_no_pass_is_a_type_error(wrong: Any) -> None:
    with pytest.raises(
        TypeError, match="passes are text, what create_pass returns, or instances of pass classes"
    ):
        sdyopt.parse("").run(wrong)


# Calls with wrong arguments are errors of mypy, too.
UNTYPED: Any = sdyopt


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda module: module.explain(None), "what is explained is text such as .*, not None"),
        (lambda module: module.compare_with("text"), "before is a module, not 'text'"),
        (lambda module: module.validate("text"), "after is a module, not 'text'"),
        (lambda module: module.snapshot("train.py"), r"places are several texts, such as \['train.py'\]"),
        (lambda module: module.snapshot(3), r"places are several texts, such as \['3'\], not 3"),
        (lambda module: module.snapshot([3]), "a place is text, not 3"),
        (lambda module: module.check_snapshot(3), "path is a path, not 3"),
        (lambda module: module.report(topology=5), "topology is a path, not 5"),
        (lambda module: module.report(device_memory=5), "device_memory is text such as '16GiB', not 5"),
        (lambda module: module.advise(topology=b"x"), "topology is a path, not b'x'"),
        (lambda module: module.advise(memory="x"), "memory is a number, not 'x'"),
        (lambda module: module.advise(seconds="x"), "seconds is a number, not 'x'"),
        (lambda module: module.advise(jobs=1.5), "jobs is a number, not 1.5"),
        (lambda module: module.lint(3), "a rule is text, not 3"),
        (lambda module: module.lint(config=3), "config is a path, not 3"),
        (
            lambda module: UNTYPED.check(module, device_memory=3),
            "device_memory is text such as '16GiB', not 3",
        ),
        (lambda module: UNTYPED.check(module, topology=3), "topology is a path, not 3"),
        (
            lambda module: UNTYPED.mesh_sweep(module, 3),
            "sizes is text such as 'data=1..8', before the arguments of the function, not 3",
        ),
        (lambda _: UNTYPED.parse("", name=[1]), r"name is text, not \[1\]"),
        (lambda _: UNTYPED.create_pass(3), "the name of a pass is text, not 3"),
        (lambda _: UNTYPED.load_pass_plugin(3), "the name of a plugin is text, not 3"),
        (lambda _: UNTYPED.load_dialect_plugin(b"x"), "the name of a plugin is text, not b'x'"),
        (lambda _: UNTYPED.exported_function(3), "what jax.export returns, its bytes or a path is expected"),
    ],
)
def test_arguments_of_another_type_are_type_errors(call: Callable[[Any], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call(sdyopt.parse(""))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sdyopt.parse("").run("\ud800"), r"a pipeline has half of a surrogate pair: '\\ud800'"),
        (lambda: sdyopt.parse("").explain("%\udfff"), "what is explained has half of a surrogate pair"),
        (lambda: sdyopt.parse("", mesh_version=20), "mesh_version is 19, 21 or 22, not 20"),
    ],
)
def test_values_that_cannot_be_used_are_value_errors(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_options_need_the_name_of_a_pass() -> None:
    with pytest.raises(sdyopt.PipelineError, match="options are for the name of a single pass"):
        sdyopt.parse("").run("cse", "canonicalize", max_iterations=3)


def test_running_passes_does_not_change_the_module() -> None:
    module = sdyopt.parse(REDUCED)
    before = str(module)
    operations = list(module.walk())
    assert str(module.run(COLLECTIVES)) != before
    with pytest.raises(sdyopt.PassError):
        module.run(COLLECTIVES, Reject())
    assert str(module) == before
    assert list(module.walk()) == operations
    assert not {op.ir for op in operations} & {op.ir for op in module.clone().walk()}


def test_a_copy_has_the_uses_in_their_order() -> None:
    """Results of passes depend on the order of uses."""
    module = sdyopt.parse(
        "func.func @f(%a: tensor<f32>) {\n" + "stablehlo.add %a, %a : tensor<f32>\n" * 3 + "return\n}"
    )
    argument = module.functions["f"].arguments[0].ir
    last = argument.first_use
    assert last is not None
    last.unlink()
    oldest = list(argument.uses)[-1]
    oldest.unlink()
    last.link(argument)
    oldest.link(argument)

    def positions(copy: sdyopt.Module) -> list[tuple[int, int]]:
        ops = [op.ir for op in copy.walk()]
        return [(ops.index(use.owner), use.index) for use in copy.functions["f"].arguments[0].ir.uses]

    assert positions(module.clone()) == positions(module) == [(2, 0), (4, 1), (4, 0), (3, 1), (3, 0), (2, 1)]


def test_errors_have_help_and_show_the_culprit() -> None:
    function = "func.func @f(%a: f32 {sdy.sharding = #sdy.sharding<@mseh, []>}) {\n  return\n}"
    text = f'sdy.mesh @mesh = <["x"=2]>\n{function}'
    with pytest.raises(sdyopt.VerifyError) as caught:
        sdyopt.parse(text)
    assert caught.value.help == "did you mean `@mesh`?"
    assert caught.value.diagnostics[0].text.splitlines()[3].strip() == "^~~~~"


def test_warnings_and_remarks_are_collected_in_order(capfd: pytest.CaptureFixture[str]) -> None:
    module = sdyopt.parse("func.func @f() {\n  return\n}")
    assert module.diagnostics == ()
    remark, warning = module.run(Remark()).diagnostics
    assert (remark.severity, remark.message) == (sdyopt.Severity.REMARK, "a function")
    assert [note.message for note in remark.notes] == ["in this module"]
    assert (warning.severity, warning.help) == ("warning", "give it one")
    assert (
        str(warning)
        == "<string>:1:1: warning: it has no name\nfunc.func @f() {\n^~~~~~~~~\nhelp: give it one\n"
    )
    assert capfd.readouterr() == ("", "")


def test_a_failed_pass_is_an_exception_with_its_name() -> None:
    with pytest.raises(sdyopt.PassError) as caught:
        sdyopt.parse("func.func @f() {\n  return\n}").run("cse", Reject())
    error = caught.value
    assert (error.message, error.help, error.pass_name) == ("rejected", "run another pass", "reject")
    assert [note.message for note in error.notes] == ["as tested"]
    assert [each.severity for each in error.diagnostics] == ["remark", "error"]
    assert str(error).startswith("<string>:1:1: remark: about to fail\n")


@pytest.mark.parametrize("verify_each", [True, False])
def test_the_result_of_passes_is_verified(verify_each: bool) -> None:
    module = sdyopt.parse("func.func @f() {\n  return\n}")
    with pytest.raises(sdyopt.PassError, match="expect at least a terminator"):
        module.run(Break(), verify_each=verify_each)


def test_a_module_can_be_used_after_an_exception_in_a_pass() -> None:
    module = sdyopt.parse("func.func @f() {\n  return\n}")
    with pytest.raises(KeyError, match="bug"):
        module.run(Crash())
    assert [each.message for each in module.run(Remark()).diagnostics] == ["a function", "it has no name"]


def test_edits_of_the_ir_can_be_verified() -> None:
    module = sdyopt.parse("func.func @f() {\n  return\n}").clone()
    module.verify()
    Break().run(module.ir)
    with pytest.raises(sdyopt.VerifyError, match="expect at least a terminator"):
        module.verify()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "  func.func @f() -> tensor<20xi32> {\n    %c = stablehlo.constant dense<["),
        ({"generic": True}, '"builtin.module"() ({\n  "func.func"() <{function_type = () -> tensor<20xi32>'),
        ({"debug_info": True}, "#loc1 = loc("),
        ({"debug_info": True, "local_scope": True}, 'return %c : tensor<20xi32> loc("<string>":2:1)'),
        ({"pretty_debug_info": True}, "#loc3 = <string>:2:1"),
        ({"large_elements_limit": 16}, "stablehlo.constant dense_resource<__elided__> : tensor<20xi32>"),
        ({"value_users": True}, "// user: "),
        ({"skip_regions": True}, "module {...}"),
    ],
)
def test_as_text_has_the_options_of_printing(options: dict[str, Any], text: str) -> None:
    numbers = list(range(20))
    module = sdyopt.parse(
        f"func.func @f() -> tensor<20xi32> {{ %0 = stablehlo.constant dense<{numbers}> : tensor<20xi32>\n"
        "return %0 : tensor<20xi32> }"
    )
    assert text in module.as_text(**options)


def test_resources_are_printed() -> None:
    program = (
        "func.func private @f() attributes {a = dense_resource<blob> : tensor<1xi32>}\n"
        '{-#\n  dialect_resources: {\n    builtin: {\n      blob: "0x0400000001000000"\n    }\n  }\n#-}\n'
    )
    assert 'blob: "0x0400000001000000"' in str(sdyopt.parse(program).run("cse"))
    assert '"0x04' not in sdyopt.parse(program).as_text(large_resource_limit=4)


def test_the_repr_names_the_function_and_counts_operations() -> None:
    assert repr(sdyopt.parse(LAYER)) == "<sdyopt.Module @layer: 5 operations>"


def test_the_list_of_passes_has_options_and_manuals() -> None:
    passes = {each.name: each for each in sdyopt.list_passes()}
    info = passes["sdy-propagation-pipeline"]
    assert info.options["enable_insert_explicit_collectives"] is False
    assert info.summary == "the whole pipeline: import, propagate and export"
    assert info.manual.startswith(f"{info.name}: {info.summary}")
