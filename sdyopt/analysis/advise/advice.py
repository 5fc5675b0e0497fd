"""Advice: changes of a program with their figures, and the numbers of trials."""

from __future__ import annotations

from dataclasses import dataclass, field

from sdyopt.analysis.changes.effect import Figures
from sdyopt.analysis.changes.trials import Annotation, CompiledCost, Trial
from sdyopt.mlir.ir.operation import Op


@dataclass
class AdviceResult:
    """The findings. `program` is the program with the best change, or with all of several changes.

    `changes` are alternatives, the best first, or several changes in their order if `is_sequence`; `together`
    is the trial of the best ones that go together, which `program` then has. `tried` is the
    number of trials, `proposed` that of changes, `failed` that of trials whose pipeline fails.
    `reduced` is the number of trials on the program with fewer layers. `is_above_memory`: the program takes
    more memory than the limit, so changes lower its peak. `excess`: the bytes above the limit after all
    changes of a sequence. `contradicted` are the changes that are left out because they make the program
    that XLA compiles slower, or because XLA rejects it, and `unverified` why it compiles nothing. `reason`
    says why there were no trials. `moves_whole`: the times at most assume that whole tensors move where
    activations are resharded. `prefers_less`: some changes that send more, or may take longer, come after
    others that are nearly as fast.
    """

    program: Op
    changes: list[Trial] = field(default_factory=list)
    together: Trial | None = None
    is_sequence: bool = False
    is_above_memory: bool = False
    excess: int = 0
    reduced: int = 0
    tried: int = 0
    proposed: int = 0
    failed: int = 0
    limit: int = 0
    contradicted: list[Trial] = field(default_factory=list)
    unverified: str = ""
    seconds: int = 0
    machine: str = ""
    moves_whole: bool = True
    prefers_less: bool = False
    assumption: str = ""
    reason: str = ""
    # From scratch: the figures with the given annotations, and at the end; all annotations that were found,
    # and what XLA sends before and after, if that is verified.
    given: Figures | None = None
    final: Figures | None = None
    annotations: list[Annotation] = field(default_factory=list)
    compiled: tuple[CompiledCost, CompiledCost] | None = None
