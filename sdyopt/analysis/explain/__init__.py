"""Answers why a value is sharded as it is, and why it is not sharded otherwise, from a sharding record.

`names.RecordedProgram` records while passes run, and `explainer` answers questions after them. `targets`
finds what a question is about, `answers` builds a tree of sentences, and `tree_text` prints it.
"""

from __future__ import annotations

from sdyopt.analysis.interface import AnalysisOptions, Request
from sdyopt.analysis.interface.flag import SHARDINGS, TextFile, flag
from sdyopt.base.dataclasses import replace


class Options(AnalysisOptions):
    """The answers to questions about the shardings of a program; see `targets`.

    `speeds` is the file of --topology, and `memory` the bytes of a device, once the options are prepared.
    """

    order, group = 10, SHARDINGS
    needs_parse_record = True
    explain: tuple[str, ...] = flag(
        default=(),
        placeholder="WHAT",
        repeats=True,
        is_common=True,
        help="explain the sharding of a value (\"params['w']\", '@main %3'), a line (train.py:12) or a "
        "collective ('#3')",
    )
    speeds: TextFile | None = None
    memory: int | None = None

    @property
    def is_needed(self) -> bool:
        return bool(self.explain)

    @property
    def needs_collectives(self) -> bool:
        return True

    @property
    def replaces_output(self) -> bool:
        return self.is_needed

    def prepared(self, request: Request) -> Options:
        if not self.is_needed:
            return self
        from sdyopt.analysis.figures.machines import memory_size, topology_file

        memory = memory_size("device-memory", request["device-memory"])
        return replace(self, speeds=topology_file(request), memory=memory)
