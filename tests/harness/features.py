"""Features of the system that a lit test can require."""

import sys
from functools import cache
from importlib.util import find_spec

from tests.harness.directives import MalformedCaseError

SYSTEMS = ("linux", "darwin", "win32")


@cache
def has_feature(feature: str) -> bool:
    """Whether the system has a feature; raises MalformedCaseError for an unknown one."""
    if feature == "reference":
        return find_spec("jaxlib") is not None
    if feature in SYSTEMS:
        return sys.platform == feature
    raise MalformedCaseError(f"unknown feature {feature!r}; known are reference, {', '.join(SYSTEMS)}")
