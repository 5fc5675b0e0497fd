"""The options of the pytest plugin, and its hooks, which a conftest.py can implement."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

PATHS, TIMEOUT, FILECHECK = "sdyopt_lit_paths", "sdyopt_lit_timeout", "sdyopt_lit_filecheck"
PLUGINS = "sdyopt_plugins"


# Several conftest.py can implement a hook; pytest returns a list of their mappings.
@pytest.hookspec
def pytest_sdyopt_lit_features(config: pytest.Config) -> Mapping[str, bool]:  # type: ignore[empty-body]
    """Returns the features that REQUIRES, UNSUPPORTED and XFAIL lines can name, and which are available."""


@pytest.hookspec
def pytest_sdyopt_lit_substitutions(config: pytest.Config) -> Mapping[str, str]:  # type: ignore[empty-body]
    """Returns texts to replace in RUN lines, such as {"%my-opt": "my-opt --my-flag"}."""
