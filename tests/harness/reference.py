"""The C++ passes that results are compared with."""

from importlib.util import find_spec


def is_installed() -> bool:
    """Whether jaxlib, which contains the C++ passes, is installed."""
    return find_spec("jaxlib") is not None
