"""Pass pipelines: passes in order, nested under the operations that they run on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.mlir.pipeline.base import MODULE, Pass

ANY = "any"


@dataclass(slots=True, eq=False)
class Pipeline:
    """Passes and nested pipelines that run on operations named `anchor`.

    A nested pipeline runs on each such operation that is directly in a region of the parent operation.
    """

    anchor: str = MODULE
    elements: list[Pass | Pipeline] = field(default_factory=list)

    def add(self, element: Pass | Pipeline) -> None:
        """Appends a pass or nested pipeline; raises UsageError for a pass with a different anchor."""
        if isinstance(element, Pass) and not self.accepts(element):
            raise UsageError(
                f"Can't add pass '{element.label()}' restricted to '{element.anchor}' on a PassManager "
                f"intended to run on '{self.anchor}', did you intend to nest?",
                f"{element.flag} runs on {MODULE}: write it outside of {self.anchor}(…)"
                if element.anchor == MODULE
                else f"write {element.anchor}({element.flag})",
            )
        self.elements.append(element)

    def add_nested(self, elements: Iterable[Pass | Pipeline]) -> None:
        """Appends passes and pipelines; a pass with a different anchor is wrapped in a nested pipeline.

        Raises UsageError for a pass on modules if the anchor is another operation.
        """
        for element in elements:
            if isinstance(element, Pass) and element.anchor not in (None, MODULE, self.anchor):
                self.elements.append(Pipeline(element.anchor, [element]))
            else:
                self.add(element)

    def accepts(self, pass_: Pass) -> bool:
        """Whether a pass can run on the anchor of this pipeline."""
        return pass_.anchor in (None, self.anchor) or self.anchor == ANY

    def passes(self) -> Iterator[Pass]:
        """All passes in order, those of nested pipelines included."""
        for element in self.elements:
            if isinstance(element, Pass):
                yield element
            else:
                yield from element.passes()

    def on(self, anchor: str) -> Pipeline:
        """This pipeline with another anchor; nested pipelines on that anchor are unwrapped.

        Raises UsageError for a pass with a different anchor.
        """
        pipeline = Pipeline(anchor)
        for element in self.elements:
            if isinstance(element, Pipeline) and element.anchor == anchor:
                pipeline.elements += element.elements
            else:
                pipeline.add(element)
        return pipeline

    def merged(self) -> Pipeline:
        """This pipeline as it is run: adjacent nested pipelines with the same anchor are merged.

        All passes of a merged pipeline run on one operation before the next operation.
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
        merged = [element if isinstance(element, Pass) else element.merged() for element in elements]
        # An unchanged pipeline stays the same object: timers are keyed by pipeline.
        return self if merged == self.elements else Pipeline(self.anchor, merged)

    def dump(self) -> str:
        """The output of `--dump-pass-pipeline`."""
        return f"Pass Manager with {len(self.elements)} passes:\n{self}\n\n"

    def __str__(self) -> str:
        return f"{self.anchor}({','.join(map(str, self.elements))})"
