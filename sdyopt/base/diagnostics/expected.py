"""`--verify-diagnostics`: compares diagnostics with the comments that expect them.

    // expected-error @+1 {{dimension 3 is not sharded}}
    // expected-note-re @below {{tensor {{.*}} defined here}}
    // expected-warning @unknown {{no mesh}}

By default, a diagnostic is expected on the line of the comment. `@+N` and `@-N` are relative to it, `@above`
and `@below` are the nearest lines without such a comment, and `@unknown` expects one without a location.
The text must occur in the message; in an `-re` comment, a nested `{{…}}` is a regular expression. The
diagnostic must occur at least once or, in `expected-remark @above 2 {{…}}`, exactly that many times.

A backtracking engine can take exponential time for an expression such as `(a+)+$`. Python's engine handles
signals while it matches, so a timer interrupts it. Outside the main thread, and where the system has no such
timer, there is no limit.
"""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.ids import ADVICE, MISSING_DIAGNOSTIC, UNEXPECTED_DIAGNOSTIC
from sdyopt.base.diagnostics.location import (
    FileLoc,
    FileRange,
    Location,
    Source,
    UnknownLoc,
    resolve_file_location,
)
from sdyopt.base.diagnostics.whole_files import encode


class MatchTime:
    """The remaining seconds for all matches that share it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def matches(self, match: Callable[[str], re.Match[str] | None], text: str) -> bool:
        """Whether a method of a pattern, such as `search`, finds a match in a text.

        Raises TimeoutError when no time remains.
        """
        if self._seconds <= 0:
            raise TimeoutError
        start = time.monotonic()
        try:
            with _interrupted_after(self._seconds):
                return match(text) is not None
        finally:
            self._seconds -= time.monotonic() - start


@contextmanager
def _interrupted_after(seconds: float) -> Iterator[None]:
    """Raises TimeoutError in the block after a number of seconds."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGALRM, _raise_timeout)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


def _raise_timeout(number: int, frame: FrameType | None) -> None:
    raise TimeoutError


COMMENT = re.compile(
    r"expected-(?P<severity>error|note|remark|warning)(?P<regex>-re)?"
    r"(?: *+@(?P<line>[+-][0-9]+|above|below|unknown))?+(?: ++(?P<times>[0-9]++))?+ *+"
    r"\{\{(?P<text>.*)\}\}\Z"
)
NO_LINE = 0
# The limit for matching the regular expressions of one text.
MATCH_SECONDS = 5.0


@dataclass(slots=True, eq=False)
class Expectation:
    """An expected diagnostic. `line` is NO_LINE for one without a location, `times` None for at least once.

    `comment` is the location of the expecting comment, `count` the number of matching diagnostics so far.
    """

    severity: Severity
    text: str
    pattern: re.Pattern[str]
    line: int
    comment: Location
    times: int | None
    count: int = 0

    @property
    def is_open(self) -> bool:
        """Whether it can match another diagnostic."""
        return self.times is None or self.count < self.times

    @property
    def is_satisfied(self) -> bool:
        """Whether enough diagnostics have matched."""
        return self.count >= (1 if self.times is None else self.times)


class ExpectedDiagnostics:
    """A diagnostic handler that compares diagnostics with expectations; mismatches go to `report`.

    As in mlir-opt, a chunk expects only its own diagnostics, which are complete at its end.
    """

    def __init__(self, report: Callable[[Diagnostic], None], only_expected: bool = False) -> None:
        self.failed = False
        self._report = report
        self._only_expected = only_expected
        self._match_time = MatchTime(MATCH_SECONDS)
        self._timed_out = False
        self._file = ""
        self._expectations: list[Expectation] = []

    def start_chunk(self, chunk: Source) -> None:
        """Reads the expectations of a chunk."""
        self._file = chunk.name
        self._expectations = list(self._find_expectations(chunk))

    def handle(self, diagnostic: Diagnostic) -> None:
        """Matches a diagnostic and its notes with the expectations; advice is ignored."""
        if diagnostic.id in ADVICE:
            return
        for note in (diagnostic, *diagnostic.notes):
            self._check(note)

    def finish_chunk(self) -> None:
        """Reports the diagnostics that are missing in the chunk."""
        for expectation in self._expectations:
            if not expectation.is_satisfied:
                self._fail(
                    expectation.comment,
                    f'expected {expectation.severity} "{expectation.text}" was not produced',
                )

    def _check(self, diagnostic: Diagnostic) -> None:
        wrong_severity = None
        for expectation in self._candidates(diagnostic.location):
            if not self._matches(expectation, diagnostic.message):
                continue
            if expectation.severity is not diagnostic.severity:
                wrong_severity = expectation
            elif expectation.is_open:
                expectation.count += 1
                return
        if self._only_expected:
            return
        if wrong_severity is not None:
            self._fail(
                _start(wrong_severity.comment),
                f"'{diagnostic.severity}' diagnostic emitted when expecting a '{wrong_severity.severity}'",
                UNEXPECTED_DIAGNOSTIC,
            )
        else:
            message = f"unexpected {diagnostic.severity}: " + diagnostic.message
            self._fail(diagnostic.location, message, UNEXPECTED_DIAGNOSTIC, diagnostic.operation)

    def _matches(self, expectation: Expectation, message: str) -> bool:
        try:
            return self._match_time.matches(expectation.pattern.search, message)
        except TimeoutError:
            if not self._timed_out:
                message = f"regexes take longer than {MATCH_SECONDS:g} seconds to match"
                self._fail(expectation.comment, message)
            self._timed_out = True
            return False

    def _candidates(self, location: Location) -> Iterator[Expectation]:
        """The expectations for the line of a diagnostic."""
        file_location = resolve_file_location(location)
        if file_location is not None and file_location.file != self._file:
            return
        line = NO_LINE if file_location is None else file_location.line
        for expectation in self._expectations:
            if expectation.line == line:
                yield expectation

    def _fail(
        self, location: Location, message: str, id: str = MISSING_DIAGNOSTIC, operation: object = None
    ) -> None:
        self.failed = True
        self._report(Diagnostic(Severity.ERROR, location, message, id=id, operation=operation))

    def _find_expectations(self, source: Source) -> Iterator[Expectation]:
        first, column = source.line_column(0)
        line_above = line = first
        below: list[Expectation] = []
        for line, text in enumerate(source.text.split("\n"), start=first):
            text = text.rstrip()
            comment = COMMENT.search(text) if "expected-" in text and text.endswith("}}") else None
            if comment is None:
                for pending in below:
                    pending.line = line
                below.clear()
                line_above = line
                continue
            expectation = self._read_comment(comment, source, line, column if line == first else 1)
            if expectation is None:
                continue
            match comment["line"]:
                case "above":
                    expectation.line = line_above
                case "below":
                    below.append(expectation)
                case "unknown":
                    expectation.line, expectation.comment = NO_LINE, UnknownLoc()
                case str() as offset:
                    expectation.line += int(offset)
            yield expectation
        for pending in below:
            pending.line = line

    def _read_comment(
        self, comment: re.Match[str], source: Source, line: int, column: int
    ) -> Expectation | None:
        start = column + len(encode(comment.string[: comment.start()]))
        location = FileRange(source.name, line, start, line, start + len(encode(comment["text"])))
        try:
            pattern = _compile_regex(comment["text"]) if comment["regex"] else re.escape(comment["text"])
            compiled = re.compile(pattern, re.DOTALL)
        except RecursionError:
            # What Python says depends on how deep the stack was before.
            self._fail(location, "invalid regex: nesting is too deep")
            return None
        except (re.error, ValueError, OverflowError) as problem:
            message = str(problem) if isinstance(problem, ValueError) else f"invalid regex: {problem}"
            self._fail(location, message)
            return None
        return Expectation(
            severity=Severity(comment["severity"]),
            text=comment["text"],
            pattern=compiled,
            line=line,
            comment=location,
            times=int(comment["times"]) if comment["times"] else None,
        )


def _start(location: Location) -> Location:
    if isinstance(location, FileRange):
        return FileLoc(location.file, location.line, location.column)
    return location


def _compile_regex(text: str) -> str:
    """The pattern of an `-re` comment: literal text, except for regular expressions in `{{…}}`."""
    pattern, rest = "", text
    while rest:
        literal, opened, rest = rest.partition("{{")
        pattern += re.escape(literal)
        if opened:
            regex, closed, rest = rest.partition("}}")
            if not closed:
                raise ValueError("found start of regex with no end '}}'")
            re.compile(regex)
            pattern += f"({regex})"
    return pattern
