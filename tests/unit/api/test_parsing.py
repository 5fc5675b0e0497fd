"""`sdyopt.parse`: what it takes, and how it fails."""

from __future__ import annotations

import gc
import pickle
import sys
from pathlib import Path
from typing import Any, Literal

import pytest

import sdyopt
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import dialect_table, dialects_of_run
from tests.unit.api.programs import LAYER

EMPTY = "module {\n}\n"


class Lowered:
    """Prints itself as what `jax.jit(f).lower(…)` returns does."""

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        return 'module {\n} loc("model.py":3:1)\n' if debug_info else EMPTY


class Printing:
    """Prints itself without options."""

    def as_text(self) -> str:
        return EMPTY


class MlirOperation:
    """Prints itself as an operation of MLIR's Python bindings does."""

    def get_asm(self, *, enable_debug_info: bool) -> str:
        return Lowered().as_text(debug_info=enable_debug_info)


class MlirModule:
    """Has an operation, as a module of MLIR's Python bindings does."""

    operation = MlirOperation()


def test_text_bytes_and_paths_are_parsed(tmp_path: Path) -> None:
    path = tmp_path / "layer.mlir"
    path.write_text(LAYER, encoding="utf-8")
    texts = {str(sdyopt.parse(program)) for program in (LAYER, LAYER.encode(), path)}
    assert len(texts) == 1
    assert sdyopt.parse(path).functions["layer"].location.file == str(path)


@pytest.mark.parametrize("program", [Lowered(), MlirModule(), MlirOperation()])
def test_objects_print_themselves_with_locations(program: Any) -> None:
    [module, *_] = sdyopt.parse(program).walk()
    assert module.location.short == "model.py:3"


def test_an_object_without_options_prints_itself() -> None:
    assert str(sdyopt.parse(Printing())) == EMPTY
    assert str(sdyopt.parse(sdyopt.parse(EMPTY))) == EMPTY


def test_the_name_is_that_of_the_file_in_diagnostics() -> None:
    with pytest.raises(sdyopt.ParseError) as caught:
        sdyopt.parse("foo", name="model.mlir")
    assert caught.value.location.short == "model.mlir:1"


def test_a_parse_error_has_fields_and_the_text_of_the_command(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(sdyopt.ParseError) as caught:
        sdyopt.parse("func.func @f() {\n  foo.bar\n}")
    error = caught.value
    assert error.message.startswith("Dialect `foo' not found")
    assert str(error.location) == 'loc("<string>":2:3)'
    assert (error.location.line, error.location.column) == (2, 3)
    assert error.id == "parse-error"
    assert str(error).startswith(f"<string>:2:3: error: {error.message}\n  foo.bar\n  ^")
    assert capfd.readouterr() == ("", "")


def test_a_verification_error_has_the_operation_and_all_errors() -> None:
    returns = "func.func @{} (%a: tensor<4xf32>) -> tensor<5xf32> {{ return %a : tensor<4xf32> }}\n"
    with pytest.raises(sdyopt.VerifyError) as caught:
        sdyopt.parse(returns.format("f") + returns.format("g"))
    error = caught.value
    assert error.id == "verify-error/func.return"
    assert error.diagnostics[0].operation == '"func.return"(%arg0) : (tensor<4xf32>) -> ()'
    assert [each.location.line for each in error.diagnostics] == [1, 2]
    assert error.diagnostics[1].severity == "error"


def test_an_error_with_a_python_location_names_the_culprit_in_the_text_and_suggests_a_fix() -> None:
    program = LAYER.replace('[{"data"}, {?}]', '[{"dta"}, {?}]').replace("}\n", '} loc("model.py":3:1)\n')
    with pytest.raises(sdyopt.VerifyError) as caught:
        sdyopt.parse(program)
    error = caught.value
    assert error.location.short == "model.py:3"
    assert error.input_location is not None
    assert (error.input_location.file, error.input_location.line) == ("<string>", 2)
    assert error.help.startswith('did you mean "data"?')
    assert "  --> <string>:2:" in str(error)
    assert "^~~~~" in str(error)


def test_an_exception_can_be_pickled() -> None:
    """As pytest-xdist and multiprocessing do."""
    with pytest.raises(sdyopt.ParseError) as caught:
        sdyopt.parse("foo")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is sdyopt.ParseError
    assert copy.diagnostics == caught.value.diagnostics


@pytest.mark.parametrize(
    ("program", "message", "help"),
    [
        (
            "model.mlir",
            "this is the name of a file, not a program",
            "use pathlib.Path for the path of a file",
        ),
        (
            "HloModule jit_f\n",
            "this is HLO, not MLIR",
            "pass what jax.jit(f).lower(*args) returns; report.compare_hlo(compiled) takes HLO",
        ),
        (b"\xff", "invalid UTF-8: byte 0xff", ""),
        ("\0", "unexpected NUL character", ""),
    ],
)
def test_inputs_that_are_not_mlir_text_are_rejected(program: str | bytes, message: str, help: str) -> None:
    with pytest.raises(sdyopt.ParseError) as caught:
        sdyopt.parse(program)
    assert (caught.value.message, caught.value.id) == (message, "input-error")
    assert caught.value.help.startswith(help)


def test_an_object_that_is_no_program_is_a_type_error() -> None:
    class Jitted:
        def lower(self) -> Lowered:
            return Lowered()

    with pytest.raises(TypeError, match=r"not Jitted; lower the function first: function\.lower"):
        sdyopt.parse(Jitted())  # type: ignore[arg-type]  # as tested
    with pytest.raises(TypeError, match=r"not int$"):
        sdyopt.parse(3)  # type: ignore[arg-type]


def test_a_missing_file_is_the_error_of_python(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        sdyopt.parse(tmp_path / "missing.mlir")


def test_unregistered_dialects_and_another_mesh_version_are_accepted_on_request() -> None:
    program = '"foo.bar"() : () -> ()'
    with pytest.raises(sdyopt.Error):
        sdyopt.parse(program)
    assert program in str(sdyopt.parse(program, allow_unregistered_dialects=True))
    llvm21 = "mesh.mesh @mesh(shape = 2)\n%0 = mesh.sharding @mesh split_axes = [[0]] : !mesh.sharding"
    assert "mesh.sharding" in str(sdyopt.parse(llvm21, mesh_version=21))


def test_nesting_is_bounded() -> None:
    program = '"t.a"() ({\n' * 100_000
    with pytest.raises(sdyopt.ParseError, match="regions are nested deeper than 1000"):
        sdyopt.parse(program, allow_unregistered_dialects=True)


def test_settings_are_restored_after_an_error() -> None:
    before = sys.getrecursionlimit(), sys.get_int_max_str_digits(), gc.isenabled()
    for _ in range(2):
        with pytest.raises(sdyopt.ParseError):
            sdyopt.parse("foo")
    assert (sys.getrecursionlimit(), sys.get_int_max_str_digits(), gc.isenabled()) == before


def test_text_with_surrogates_is_not_utf8() -> None:
    with pytest.raises(sdyopt.ParseError, match=r"<string>:1:5: error: invalid UTF-8: byte 0xed"):
        sdyopt.parse('"a\u00e9\ud800"() : () -> ()')


def test_the_version_of_shardy_is_that_of_the_module() -> None:
    """The export pipeline inlines meshes since jaxlib 0.11.2."""
    text = (
        'sdy.mesh @mesh = <["x"=2]>\n'
        'func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) { return }\n'
    )
    assert "@mesh, [" not in str(sdyopt.parse(text).run("sdy-export-pipeline"))
    earlier = sdyopt.parse(text, sdy_version="jaxlib-0.10.2").clone().run("cse")
    assert "@mesh, [" in str(earlier.run("sdy-export-pipeline"))
    with pytest.raises(ValueError, match=r"unknown version of Shardy '2027-01'; known are jaxlib-0\.12"):
        sdyopt.parse(text, sdy_version="2027-01")


@pytest.mark.parametrize("mesh_version", [19, 21])
def test_passes_see_the_dialects_of_the_program(mesh_version: Literal[19, 21]) -> None:
    dialects = []

    class Look(Pass):
        """Looks up the dialect mesh."""

        def run(self, op: object) -> bool:
            dialects.append(dialects_of_run().find("mesh"))
            return False

    sdyopt.parse("", mesh_version=mesh_version).run(Look())
    assert dialects == [dialect_table(mesh_version).find("mesh")]
