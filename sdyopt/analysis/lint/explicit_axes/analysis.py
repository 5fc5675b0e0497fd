"""`--explicit`: what is to be written in the programs of a run before their axes become explicit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from sdyopt.analysis.figures.execution_counts import CallLocations, ExecutionCounts
from sdyopt.analysis.figures.source_locations import UserLines, source_location
from sdyopt.analysis.interface import Analysis, Program
from sdyopt.analysis.lint.explicit_axes import Options
from sdyopt.analysis.lint.explicit_axes.typing import ExplicitTyping, Need
from sdyopt.base.diagnostics.text import counted, replace_unprintable
from sdyopt.mlir.ir.operation import Op

_NONE = "no line needs an out_sharding or a reshard: JAX derives all shardings from those of the arguments"


class Migrating(Analysis[Options]):
    """The lines of one run."""

    phase = "Explicit axes"

    def on_input(self, program: Program) -> None:
        calls = CallLocations(ExecutionCounts(program.op))
        lines = UserLines.before_passes(program.op)

        def line(op: Op) -> str:
            place = lines.chosen(calls.completed(source_location(op.location), op))
            return place.file_text or op.signature.name

        needs = needs_by_line(ExplicitTyping(program.op).needs, line)
        self._text = "".join(f"{text}\n" for text in _text(needs))

    def on_output(self, program: Program) -> None:
        self.texts.append(self._text)


# (line, operation, what to write, reason) of a need -> how often it occurs: layers have the same.
_Needs = Counter[tuple[str, str, str, str]]


def needs_by_line(needs: Sequence[Need], line: Callable[[Op], str]) -> _Needs:
    """What each line needs, in the order of the program."""
    return Counter((line(need.op), need.what, need.write, need.reason) for need in needs)


def _text(needs: _Needs) -> Iterator[str]:
    if not needs:
        yield _NONE
        return
    places = counted(len({where for where, *_ in needs}), "line")
    verb = "needs" if places == "1 line" else "need"
    yield f"{places} {verb} an out_sharding or a reshard if axes are explicit; JAX derives the rest"
    for number, ((where, what, write, reason), count) in enumerate(needs.items(), 1):
        times = f", {count} times" if count > 1 else ""
        yield replace_unprintable(f"{number}. {where}  {what}{times}: {write}")
        yield replace_unprintable(f"   {reason}")
