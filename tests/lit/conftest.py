"""The features of this project's lit tests; the plugin sdyopt.lit runs them."""

from tests.harness import reference, xla


def pytest_sdyopt_lit_features() -> dict[str, bool]:
    return {"jax": xla.is_installed(), "reference": reference.is_installed()}
