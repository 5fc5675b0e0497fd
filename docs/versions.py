"""Writes docs/versions.md from the table of releases: `make docs`, at the root of the checkout."""

from __future__ import annotations

from pathlib import Path

from sdyopt.releases import NEWEST, RELEASES, Behavior, Release

PAGE = Path(__file__).with_name("versions.md")

_HEAD = """\
<!-- written by `make docs` from sdyopt/releases.py -->

# Releases of Shardy

Shardy is part of the jaxlib wheel, and each release of jaxlib has another version of it. What JAX does with the
shardings of a program may therefore change with an upgrade of jax. sdy-opt follows the newest release by default,
and earlier ones on request:

    sdy-opt program.mlir -sdy-propagation-pipeline --sdy-version=jaxlib-0.10.2

In Python: `sdyopt.parse(program, sdy_version="jaxlib-0.10.2")`. `sdy-opt --version` names the release.

| release | date | StableHLO | also named |
|---|---|---|---|
"""

_TAIL = """\
## What an upgrade changes in your program

    sdy-opt program.mlir -sdy-propagation-pipeline --compare-sdy-version=jaxlib-0.10.2

runs the passes twice, as in the named release and as in that of this run, and prints what differs between the
results: shardings, collectives, bytes and memory. [comparing.md](comparing.md) describes the output.

## Passes and options of other releases

A pass or an option that the selected release lacks is an error, whose help names the release that introduced it.
Programs with syntax of later releases are accepted whatever the selected release is, because it has one meaning:

| syntax | meaning |
|---|---|
| `sdy.all_reduce max {"x"} %a …`, `sdy.reduce_scatter min [{"x"}] %a …` | combine partial results by a maximum or minimum |
| `unreduced=max{"x"}` in a sharding | partial results whose maximum is the value |
| `#sdy.op_sharding_rule<([i])->([i]) {i=8589934592}>` | factors of more than 2^31 - 1 elements |

## How a new release is taken up

jaxlib from 0.11 on needs Python 3.12 or newer; under 3.11, `pip` shows 0.10.2 as the newest.

1. `python3.12 -m venv build/new && build/new/bin/pip install jax==VERSION`.
2. Add the release to `RELEASES` in `sdyopt/releases.py`, and to the extras in `pyproject.toml`.
3. Find what differs. `python -m tests.random_modules.compare --kind KIND --reference-python build/new/bin/python`
   compares random modules, kind by kind, and `make test-reference` programs, tests and examples.
4. Each difference becomes a row of `Behavior` with its first release, and a lit test that shows both releases. A pass
   asks `Behavior.X.active` where it differs, a new pass is registered with `since=Behavior.X`, a new option is
   declared with `since=Since(Behavior.X)`, and a changed default with `since=Since(Behavior.X, before=OLD)`.
5. `python -m tests.random_modules.recorded --reference-python build/new/bin/python` records results for the tests,
   and `make docs` writes this page.

To stop following a release, delete its row in `RELEASES` and those of `Behavior` that came with it or with the
release after it; the type checker then finds the code that asks for them.
"""


def page() -> str:
    """The text of the page."""
    rows = [
        f"| `{each.name}`{' (default)' if each is NEWEST else ''} | {each.date} | {each.stablehlo} "
        f"| {f'`{each.alias}`' if each.alias else ''} |"
        for each in reversed(RELEASES)
    ]
    changes = [_changes(each) for each in reversed(RELEASES[1:])]
    return "\n\n".join([_HEAD + "\n".join(rows), *changes, _TAIL])


def _changes(release: Release) -> str:
    rows = [
        f"| {each.summary} | [{Path(each.case).stem}](../tests/lit/{each.case}) |"
        for each in Behavior
        if each.since is release
    ]
    return "\n".join([f"## New in {release.name}\n", "| what changes | test |", "|---|---|", *rows])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
