"""Lint: located findings about what a sharded program wastes, each from a rule with a stable id.

    linter = Linter(settings, source, dialects, options)
    findings = linter.run(program as read, program after its pipeline)

A rule is a file in `rules/`. It looks at the program as it was read, at the program with collectives, or at
trials: changed copies that are partitioned again.
"""

from __future__ import annotations

from sdyopt.analysis.interface import AnalysisOptions, Request
from sdyopt.analysis.interface.flag import REPORTS, TextFile, flag
from sdyopt.base.dataclasses import replace

# The value of --lint-config for no configuration file.
_NO_FILE = "-"


class Options(AnalysisOptions):
    """The findings in the program, as it was read and after the passes.

    `lint` has the rules as they are given; ("all",) stands for those of the configuration file. That is
    `config`, `speeds` the file of --topology, and `memory` the bytes of a device, once the options are
    prepared.
    """

    order, group = 80, REPORTS
    needs_module = needs_before = True
    lint: tuple[str, ...] = flag(
        default=(),
        implied="all",
        placeholder="RULES",
        is_common=True,
        help="print what a sharding wastes; RULES selects lint rules, and -RULE leaves one out",
    )
    lint_config: str | None = flag(
        default=None,
        placeholder="FILE",
        needs=("lint",),
        reads=True,
        help="read the settings of --lint from this TOML file, or from none for - (default: sdy-lint.toml or "
        "pyproject.toml in the folder of the input or the nearest parent folder)",
    )
    lint_fail_on: str | None = flag(
        default=None,
        choices=("error", "warning", "remark", "never"),
        needs=("lint",),
        help="exit with 1 for findings of this severity and of more severe ones (default: error)",
    )
    config: TextFile | None = None
    speeds: TextFile | None = None
    memory: int | None = None

    @property
    def is_needed(self) -> bool:
        return bool(self.lint)

    @property
    def replaces_output(self) -> bool:
        return self.is_needed

    def prepared(self, request: Request) -> Options:
        if not self.is_needed:
            return self
        from sdyopt.analysis.figures.machines import memory_size, topology_file
        from sdyopt.analysis.lint.rule import find_config, select

        if self.lint != ("all",):
            select(self.lint)
        memory = memory_size("device-memory", request["device-memory"])
        prepared = replace(self, speeds=topology_file(request), memory=memory)
        path = find_config(request.input) if self.lint_config is None else self.lint_config
        if path is None or path == _NO_FILE:
            return prepared
        return replace(prepared, config=request.read_text(path))
