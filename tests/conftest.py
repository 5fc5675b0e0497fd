"""Skips comparisons with the C++ passes where these are not installed; configures Hypothesis."""

import pytest
from hypothesis import HealthCheck, settings

from tests.harness.features import has_feature


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if has_feature("reference"):
        return
    skip = pytest.mark.skip(reason="requires the C++ passes: make test-reference")
    for item in items:
        if item.get_closest_marker("reference"):
            item.add_marker(skip)


# The same examples on every machine, without deadlines for slow ones.
settings.register_profile(
    "project", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("project")
