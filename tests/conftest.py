"""Skips comparisons with the C++ passes where these are not installed; lists skips; configures Hypothesis."""

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from sdyopt.mlir.registry import forgotten_dialects
from tests.harness import reference


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if reference.is_installed():
        return
    skip = pytest.mark.skip(reason="requires the C++ passes: make test-reference")
    for item in items:
        if item.get_closest_marker("reference"):
            item.add_marker(skip)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """Forgets the dialects that a test has loaded: lists of dialects are the same in each order of tests."""
    with forgotten_dialects():
        return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints each reason for skipped tests once, with their number."""
    reports: list[pytest.TestReport] = terminalreporter.getreports("skipped")
    reasons = Counter(_reason(report) for report in reports)
    if reasons:
        terminalreporter.section("skipped tests")
    for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        terminalreporter.write_line(f"{count:5}  {reason}")


def _reason(report: pytest.TestReport) -> str:
    """Why the test was skipped; pytest reports `(path, line, reason)`."""
    assert isinstance(report.longrepr, tuple)
    return report.longrepr[2].removeprefix("Skipped: ")


# The same examples on every machine, without deadlines for slow ones.
settings.register_profile(
    "project", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("project")
