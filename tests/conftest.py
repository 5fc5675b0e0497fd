"""Skips the tests that compare with the C++ passes where those are not installed."""

import pytest

from tests.harness.features import has_feature


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if has_feature("reference"):
        return
    skip = pytest.mark.skip(reason="requires the C++ passes: make test-reference")
    for item in items:
        if item.get_closest_marker("reference"):
            item.add_marker(skip)
