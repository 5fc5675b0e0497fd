"""Shardings of the sdy dialect as text on the command line.

`<@mesh, [{"x"}, {"y":(1)2}]>`, also after `#sdy.sharding`, or with an inlined mesh:
`<mesh<["x"=4]>, [{"x"}]>`. The dialect's own parser and verifier check it; this module gives errors of the
verifier a location in the text.
"""

from __future__ import annotations

import re

from sdyopt.analysis.notation.mesh_text import Shape
from sdyopt.analysis.notation.sharding_on_mesh import IncompatibleSubAxes, ShardingOnMesh, tiling_of
from sdyopt.analysis.notation.text_parser import error_at_range
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.parser_state import ParserState
from sdyopt.mlir.dialects.sdy.dialect import sdy
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.sharding_checks import sharding_problem
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.types import F32, RankedTensor

_HELP = 'such as <@mesh, [{"x"}, {"y":(1)2}, {}]>'
_PREFIX = re.compile(r"\s*(?:#sdy\.sharding)?")
# The end of a message, which names an axis -> the occurrence of the axis that is underlined: 0 for the first,
# -1 for the last.
_SUBJECTS = (
    (re.compile(r'unknown axis name: (".*")$'), 0),
    (re.compile(r'(?:[:,]| and) (".*?"(?::\(\d+\)\d+)?)$'), -1),
)


def parse_sdy(source: Source) -> TensorSharding:
    """Parses a sharding. Raises DiagnosticError."""
    state = ParserState(source, DialectTable({"sdy": sdy}.get, lambda: ["sdy"]), False)
    prefix = _PREFIX.match(source.text)
    assert prefix is not None
    parser = AsmParser(source, state.attribute_parser, prefix.end())
    try:
        sharding: TensorSharding = TensorSharding.assembly.parse(parser)
    except DiagnosticError as error:
        raise error if error.diagnostic.help else error.help(_HELP) from None
    if not parser.at_end:
        end = len(source.text.rstrip())
        raise error_at_range(source, parser.position, end, "unexpected text").help(_HELP)
    return sharding


def check_sdy(source: Source, subject: ShardingOnMesh, shape: Shape | None) -> None:
    """Checks a parsed sharding against its mesh and the rank of a shape, if any. Raises DiagnosticError."""
    sharding, mesh = subject.sharding, subject.mesh
    rank = sharding.rank if shape is None else len(shape)
    problem = sharding_problem(sharding, RankedTensor((1,) * rank, F32), mesh)
    if problem is not None:
        raise _located(source, problem).help(_help(problem, mesh))
    try:
        tiling_of(subject)
    except IncompatibleSubAxes as error:
        raise _located(source, str(error)).help("divide the axis at the same sizes for both") from None


def _located(source: Source, problem: str) -> DiagnosticError:
    """The error, which underlines the axis that it names, or else the whole text."""
    text = source.text
    for pattern, which in _SUBJECTS:
        if (match := pattern.search(problem)) is not None:
            for name in (match[1], match[1].replace('"', "'")):
                found = text.find(name) if which == 0 else text.rfind(name)
                if found >= 0:
                    return error_at_range(source, found, found + len(name), problem)
    return error_at_range(source, len(text) - len(text.lstrip()), len(text.rstrip()), problem)


def _help(problem: str, mesh: Mesh) -> str:
    if problem.startswith("unknown axis name"):
        axes = ", ".join([f'"{axis.name}"={axis.size}' for axis in mesh.axes])
        return f"the mesh has {axes}" if axes else "the mesh has no axes"
    if problem.startswith("sharding doesn't match tensor rank"):
        return "write one {…} for each dimension of --shape"
    if problem.startswith("duplicate axis ref"):
        return "an axis shards one dimension; remove one of the two"
    return ""
