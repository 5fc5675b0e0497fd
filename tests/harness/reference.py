"""The C++ passes that results are compared with."""

from importlib.util import find_spec


def is_installed() -> bool:
    """Whether the extra `reference` is installed."""
    return find_spec("jaxlib") is not None
