"""The features of this project's lit tests; the plugin sdyopt.tools.lit runs them."""

from tests.harness.lit_features import lit_features


def pytest_sdyopt_lit_features() -> dict[str, bool]:
    return lit_features()
