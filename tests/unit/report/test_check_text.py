"""Lines of checks that have too many columns: names lose their start, and figures stay."""

import pytest

from sdyopt.analysis.check.check_text import _tight, shortened


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("P('x', None) for dot", 20, "P('x', None) for dot"),
        ("P('x', None) for dot", 19, "P('x',None) for dot"),
        ("of state['params']['mlp']['up'] sharded", 39, "of state['params']['mlp']['up'] sharded"),
        ("of state['params']['mlp']['up'] sharded", 38, "of …['mlp']['up'] sharded"),
        ("of state.params['mlp'][0] sharded", 20, "of …[0] sharded"),
    ],
)
def test_reasons_keep_the_ends_of_names(text: str, width: int, expected: str) -> None:
    assert _tight(text, width) == expected


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("at the peak (model.py:12), fits", 31, "at the peak (model.py:12), fits"),
        ("at the peak (long_name_of_a_model.py:12), fits", 40, "at the peak (…me_of_a_model.py:12), fits"),
        ("at the peak (long_name_of_a_model.py:12), fits", 20, "at the peak (…model…"),
    ],
)
def test_lines_keep_the_ends_of_files(text: str, width: int, expected: str) -> None:
    assert shortened(text, width) == expected
