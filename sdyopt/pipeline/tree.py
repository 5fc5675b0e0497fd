"""Pipelines: passes in order, nested under the operations that they run on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sdyopt.diagnostics.usage import UsageError
from sdyopt.pipeline.base import MODULE, Pass

ANY = "any"


@dataclass(slots=True, eq=False)
class Pipeline:
    """What runs on every operation named `anchor` that is directly inside the operation above."""

    anchor: str = MODULE
    elements: list[Pass | Pipeline] = field(default_factory=list)

    def add(self, element: Pass | Pipeline) -> None:
        """Appends what fits; for a pass that runs on something else, say so."""
        if isinstance(element, Pass) and not self.accepts(element):
            raise UsageError(
                f"Can't add pass '{element.label()}' restricted to '{element.anchor}' on a PassManager "
                f"intended to run on '{self.anchor}', did you intend to nest?",
                f"{element.flag} runs on all of the program: write it outside of {self.anchor}(…)"
                if element.anchor == MODULE
                else f"write {element.anchor}({element.flag})",
            )
        self.elements.append(element)

    def add_nested(self, elements: Iterable[Pass | Pipeline]) -> None:
        """Appends passes, those that run on something inside nested under that."""
        for element in elements:
            if isinstance(element, Pass) and element.anchor not in (None, MODULE, self.anchor):
                self.elements.append(Pipeline(element.anchor, [element]))
            else:
                self.add(element)

    def accepts(self, single: Pass) -> bool:
        """Whether a pass may stand here without further nesting."""
        return single.anchor in (None, self.anchor) or self.anchor == ANY

    def passes(self) -> Iterator[Pass]:
        """All passes, in order, however deep."""
        for element in self.elements:
            if isinstance(element, Pass):
                yield element
            else:
                yield from element.passes()

    def merged(self) -> Pipeline:
        """The same, with neighbouring pipelines of one anchor joined: how it is run.

        All passes of a joined pipeline run on one operation before any runs on the next.
        """
        elements: list[Pass | Pipeline] = []
        for element in self.elements:
            previous = elements[-1] if elements else None
            if (
                isinstance(element, Pipeline)
                and isinstance(previous, Pipeline)
                and previous.anchor == element.anchor
            ):
                elements[-1] = Pipeline(previous.anchor, previous.elements + element.elements)
            else:
                elements.append(element)
        joined = [element if isinstance(element, Pass) else element.merged() for element in elements]
        # What needs no joining stays the same object, which instruments rely on from run to run.
        return self if joined == self.elements else Pipeline(self.anchor, joined)

    def dump(self) -> str:
        """What `--dump-pass-pipeline` shows."""
        return f"Pass Manager with {len(self.elements)} passes:\n{self}\n\n"

    def __str__(self) -> str:
        return f"{self.anchor}({','.join(map(str, self.elements))})"
