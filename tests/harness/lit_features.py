"""The features of this project's lit tests."""

import sys

from tests.harness import reference, xla


def lit_features() -> dict[str, bool]:
    """Whether each feature that a lit test may require is available."""
    return {
        "jax": xla.is_installed(),
        "processes": sys.platform != "emscripten",
        "reference": reference.is_installed(),
    }
