"""Writes the tables of docs/versions.md: `make docs`, at the root of the checkout."""

from __future__ import annotations

from pathlib import Path

from sdyopt.base.releases import NEWEST, RELEASES, Behavior, Release

PAGE = Path(__file__).with_name("versions.md")
START, END = (
    "<!-- releases: written by `make docs` from sdyopt/base/releases.py -->\n",
    "<!-- end of releases -->\n",
)


def with_tables(text: str) -> str:
    """The text of the page with the current tables between its markers."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    tables = [_releases(), *map(_changes, reversed(RELEASES[1:]))]
    return "\n\n".join([before + START.rstrip(), *tables, END + after])


def _releases() -> str:
    rows = [
        f"| `{each.name}`{' (default)' if each is NEWEST else ''} | {each.date} | {each.stablehlo} |"
        for each in reversed(RELEASES)
    ]
    return "\n".join(["| release | date | StableHLO |", "|---|---|---|", *rows])


def _changes(release: Release) -> str:
    rows = [
        f"| {each.summary} | [{Path(each.case).stem}](../tests/lit/{each.case}) |"
        for each in Behavior
        if each.since is release
    ]
    return "\n".join([f"## New in {release.name}\n", "| what changes | test |", "|---|---|", *rows])


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
