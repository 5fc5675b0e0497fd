"""Programs from text, files, and what JAX and MLIR's Python bindings print."""

from __future__ import annotations

import os
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Protocol, runtime_checkable

from sdyopt.base.diagnostics.diagnostic import DiagnosticError, emit
from sdyopt.base.diagnostics.ids import INPUT_ERROR, PARSE_ERROR, VERIFY_ERROR, identified, identify
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.whole_files import read_file
from sdyopt.base.releases import NEWEST, release_of
from sdyopt.mlir.asm.parser.module_parser import ParseOptions
from sdyopt.mlir.bytecode.stream import ExportedFunction
from sdyopt.mlir.bytecode.stream import exported_function as read_exported_function
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.registry import MESH_VERSIONS, dialect_table
from sdyopt.tools.api.errors import SURROGATE, Collector, ParseError, VerifyError, diagnostic_of, require_text
from sdyopt.tools.api.module import Module
from sdyopt.tools.api.program import IrProgram, session
from sdyopt.tools.api.reports import HasText
from sdyopt.tools.driver.chunk import resource_error
from sdyopt.tools.driver.split import as_text, check_text, decode, parse_source
from sdyopt.tools.driver.xla_dump import DumpError, dumped_file, is_dump


@runtime_checkable
class HasAsm(Protocol):
    """An operation of MLIR's Python bindings."""

    def get_asm(self, *, enable_debug_info: bool) -> str: ...


@runtime_checkable
class HasOperation(Protocol):
    """A module of MLIR's Python bindings, such as what `compiler_ir()` returns in JAX."""

    @property
    def operation(self) -> HasAsm: ...


@runtime_checkable
class HasBytecode(Protocol):
    """A function that JAX has exported, `jax.export.Exported`."""

    @property
    def mlir_module_serialized(self) -> bytes: ...


@runtime_checkable
class CanBeSerialized(Protocol):
    """A function that JAX has exported, `jax.export.Exported`."""

    def serialize(self) -> bytearray | bytes: ...


ProgramText = str | bytes | os.PathLike[str] | HasText | HasAsm | HasOperation | HasBytecode

_HLO_PREFIX = "HloModule"


def parse(
    program: ProgramText,
    *,
    name: str = "",
    allow_unregistered_dialects: bool = False,
    mesh_version: int = 19,
    sdy_version: str = NEWEST.name,
) -> Module:
    """Parses and verifies a program: MLIR text or bytecode, a path, or an object that prints itself as MLIR.

    What `jax.export` returns or serializes is a program, too. A path may be a folder that XLA has dumped to,
    with the name of a program and a stage: `Path("dump:jit_step:03")`.

    Objects print themselves with locations if they can, so that diagnostics and reports name lines of the
    Python program. `name` is the file name in diagnostics, by default that of the path. `mesh_version` is the
    LLVM release, 19, 21 or 22, that defines the syntax of the mesh dialect. `sdy_version` is the release
    of Shardy that is followed where releases differ, such as "jaxlib-0.10.2"; by default the newest. Raises
    ParseError or VerifyError.
    """
    require_text("name", name)
    release_of(sdy_version)  # raises ValueError for an unknown name
    if mesh_version not in MESH_VERSIONS:
        raise ValueError(f"mesh_version is 19, 21 or 22, not {mesh_version!r}")
    source_name, text = _text_of(program)
    source = _source_of(name or source_name, text)
    dialects = dialect_table(mesh_version)
    options = ParseOptions(allow_unregistered_dialects=allow_unregistered_dialects)
    collector = Collector(source, dialects, options)
    with session(collector.handle, sdy_version, dialects):
        try:
            with identified(INPUT_ERROR):
                check_text(source)
                _check_is_mlir(source)
            with identified(PARSE_ERROR):
                source = as_text(source, dialects, options)
                op, resources = parse_source(source, dialects, options)
        except DiagnosticError as error:
            emit(error.diagnostic)
            raise ParseError(collector.diagnostics) from None
        except (RecursionError, MemoryError) as error:
            emit(resource_error(source, error))
            raise ParseError(collector.diagnostics) from None
        assert isinstance(op, ModuleOp)
        parsed = IrProgram(op, source, resources, options, mesh_version, sdy_version)
        with identified(VERIFY_ERROR):
            if not parsed.verifier.verify(op):
                raise VerifyError(collector.diagnostics)
    return Module(parsed, collector.diagnostics)


def exported_function(program: bytes | os.PathLike[str] | CanBeSerialized) -> ExportedFunction:
    """How a function is called that `jax.export` has serialized: arguments, shardings, devices, version.

    Takes the bytes of a file, its path, or an `Exported`. Raises ValueError for other data.
    """
    if isinstance(program, os.PathLike):
        data = read_file(Path(program))
    else:
        if not isinstance(program, bytes | CanBeSerialized):
            raise TypeError(f"what jax.export returns, its bytes or a path is expected, not {program!r}")
        data = program if isinstance(program, bytes) else bytes(program.serialize())
    exported_function = read_exported_function(data)
    if exported_function is None:
        raise ValueError("this is not a file of jax.export")
    return exported_function


def _text_of(program: ProgramText) -> tuple[str, str | bytes]:
    """The default name and the text of a program."""
    if isinstance(program, bytes):
        return "<bytes>", program
    if isinstance(program, str):
        return "<string>", program
    if isinstance(program, os.PathLike):
        path = _file_of(Path(program))
        return str(path), read_file(path)
    name = f"<{type(program).__name__}>"
    if isinstance(program, HasBytecode):
        return name, program.mlir_module_serialized
    if isinstance(program, HasText):
        print_text: Callable[..., str] = program.as_text
        options = {"debug_info": True} if "debug_info" in signature(print_text).parameters else {}
        return name, print_text(**options)
    if isinstance(program, HasOperation):
        program = program.operation
    if isinstance(program, HasAsm):
        return name, program.get_asm(enable_debug_info=True)
    raise TypeError(
        f"a program is what jax.jit(f).lower(*args) returns, text, bytes or a path, not {_kind(program)}"
        + _how_to_lower(program)
    )


def _how_to_lower(value: object) -> str:
    if hasattr(value, "lower"):
        return "; lower the function first: function.lower(*args)"
    return "; lower the function first: jax.jit(function).lower(*args)" if callable(value) else ""


def _kind(value: object) -> str:
    """`function step`, or the name of the type."""
    name = getattr(value, "__name__", "")
    kind = type(value).__name__
    return f"the function {name}" if callable(value) and name and not isinstance(value, type) else kind


def _file_of(path: Path) -> Path:
    """The file of a path, which may name a program in a folder that XLA has dumped to."""
    if not is_dump(str(path)):
        return path
    try:
        return Path(dumped_file(str(path)))
    except DumpError as error:
        raise FileNotFoundError(f"{error.message}; {error.help}") from None


def _source_of(name: str, text: str | bytes) -> Source:
    """The source of a program; raises ParseError for text that is not UTF-8."""
    if isinstance(text, str) and (text.isascii() or not SURROGATE.search(text)):
        return Source(name, text)
    try:
        return decode(name, text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    except DiagnosticError as error:
        identify(error.diagnostic, INPUT_ERROR)
        raise ParseError([diagnostic_of(error.diagnostic, None)]) from None


def _check_is_mlir(source: Source) -> None:
    """Raises DiagnosticError, with help, for HLO text and for a string that is the name of a file."""
    text = source.text
    if text.startswith(_HLO_PREFIX):
        error = DiagnosticError.at(source.location(0), "this is HLO, not MLIR")
        raise error.help("pass what jax.jit(f).lower(*args) returns; report.compare_hlo(compiled) takes HLO")
    if text.endswith(".mlir") and "\n" not in text:
        error = DiagnosticError.at(source.location(0), "this is the name of a file, not a program")
        raise error.help("use pathlib.Path for the path of a file")
