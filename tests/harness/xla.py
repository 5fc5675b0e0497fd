"""XLA, which executes programs."""

from importlib.util import find_spec


def is_installed() -> bool:
    """Whether jax, the extra `run`, is installed."""
    return find_spec("jax") is not None
