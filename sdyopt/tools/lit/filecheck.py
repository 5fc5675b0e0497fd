"""The package filecheck as a tool of RUN lines, where it agrees with LLVM's FileCheck in more cases.

The text that a CHECK-NOT excludes is searched up to the next match, not in it; up to the first of all matches
if CHECK-DAGs follow. What precedes a CHECK-LABEL may match in its line, too. A CHECK-NEXT is the first match
after the one before, on the next line. CHECK-NEXT, CHECK-SAME and CHECK-EMPTY need a match before them.
Errors of the package add how to run LLVM's FileCheck instead.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

HELP = (
    "help: the Python package filecheck has fewer options than LLVM's FileCheck; to run that,\n"
    "      set sdyopt_lit_filecheck = FileCheck in the configuration of pytest"
)


def main() -> int:
    """Runs filecheck and returns its exit status."""
    try:
        package = import_module("filecheck.main")
    except ImportError:
        print("filecheck is not installed\nhelp: pip install 'sdy-opt[lit]'", file=sys.stderr)
        return 2
    if len(sys.argv) < 2:  # filecheck prints its help and succeeds, so that a test without checks passes
        print("filecheck: no file with checks\nhelp: write FileCheck %s", file=sys.stderr)
        return 2
    adapt(package.Matcher)
    try:
        return int(package.main(list(sys.argv)) or 0)
    except RuntimeError as error:  # a wrong or missing option
        print(f"filecheck: {error}\n{HELP}", file=sys.stderr)
        return 2


# They are about the place where the directive before them matched.
_FOLLOWING = ("NEXT", "SAME", "EMPTY")


def adapt(matcher: Any) -> None:
    """Changes the class of filecheck that matches directives. A second call changes nothing."""
    if hasattr(matcher, "match_start"):
        return
    matcher.match_start = None
    matcher.has_matched = False
    before, capture, after = matcher._pre_check, matcher.capture_results, matcher._post_check

    def check_excluded(self: Any, end: int) -> None:
        context = self.ctx
        if context.negative_matches_start is not None:
            searched = import_module("filecheck.finput").InputRange(context.negative_matches_start, end)
            for excluded in context.negative_matches_stack:
                self.check_not(excluded, searched)
            context.negative_matches_start, context.negative_matches_stack = None, []

    def pre_check(self: Any, directive: Any) -> None:
        holes = self.file.is_discontigous()
        if holes and directive.name != "DAG":
            check_excluded(self, holes.start_of_first_hole())
        if directive.name in _FOLLOWING and not self.has_matched:
            error = import_module("filecheck.error").CheckError
            raise error(f"found '{directive.check_name}' without previous 'CHECK: line", directive)
        self.has_matched |= directive.name not in ("NOT", "DAG")
        if directive.name not in ("NEXT", "LABEL"):
            before(self, directive)
        elif self.file.is_discontigous():
            self.file.advance_to_last_hole()

    def match_immediately(self: Any, directive: Any) -> None:
        anywhere = import_module("filecheck.ops").CheckOp(
            directive.prefix,
            "CHECK",
            directive.arg,
            directive.source_line,
            directive.uops,
            is_literal=directive.is_literal,
        )
        compiled = import_module("filecheck.compiler").compile_uops
        pattern, captured = compiled(anywhere, self.ctx.live_variables, self.opts)
        file = self.file
        match = file.find(pattern)
        if match is None or file.content.count("\n", file.range.start, match.start(0)) != 1:
            error = import_module("filecheck.error").CheckError
            raise error(f'Couldn\'t match "{directive.arg}".', directive)
        file.move_to(match.end(0))
        self.capture_results(match, captured, directive)

    def capture_results(self: Any, match: Any, captured: Any, directive: Any) -> None:
        if self.match_start is None and directive.name != "DAG":
            self.match_start = match.start(0)
        capture(self, match, captured, directive)

    def post_check(self: Any, directive: Any) -> None:
        if directive.name == "DAG":
            return
        end = self.match_start
        if directive.name != "NOT":
            self.match_start = None
            if end is not None:
                check_excluded(self, end)
        after(self, directive)

    def check_label(self: Any, directive: Any) -> None:
        self.match_eventually(directive)
        self.file.advance_range()

    def preprocess_label(self: Any, directive: Any) -> None:
        part = self.range
        split(self, directive)
        part.end = self.range.start

    preprocessor = import_module("filecheck.preprocess").Preprocessor
    split, preprocessor.preprocess_label = preprocessor.preprocess_label, preprocess_label
    matcher.check_label = check_label
    matcher._pre_check, matcher.capture_results, matcher._post_check = pre_check, capture_results, post_check
    matcher.match_immediately = match_immediately


if __name__ == "__main__":
    sys.exit(main())
