"""Lines of checks that have too many columns: names lose their start, and figures stay."""

from fractions import Fraction
from types import SimpleNamespace
from typing import cast

import pytest

from sdyopt.analysis.changes.edits import Change, Edit
from sdyopt.analysis.changes.effect import Effect, Figures
from sdyopt.analysis.changes.trials import Annotation, Trial
from sdyopt.analysis.check.check_text import _tight, shortened, trial_text
from sdyopt.shardy.notation.partition_spec import specs_of


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("P('x', None) for dot", 20, "P('x', None) for dot"),
        ("P('x', None) for dot", 19, "P('x',None) for dot"),
        ("of state['params']['mlp']['up'] sharded", 39, "of state['params']['mlp']['up'] sharded"),
        ("of state['params']['mlp']['up'] sharded", 38, "of state…['mlp']['up'] sharded"),
        ("of state.params['mlp'][0] sharded", 20, "of state…[0] sharded"),
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
        (
            "for …ame_of_a_model.py:12, 1 result: -1.00 GiB sent",
            45,
            "for …_a_model.py:12, 1 result: -1.00 GiB sent",
        ),
    ],
)
def test_lines_keep_the_ends_of_files(text: str, width: int, expected: str) -> None:
    assert shortened(text, width) == expected


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (90, "tried: P('x', None) for the gradient of the value at line 7 and 1 result: -1 B sent"),
        (80, "tried: P('x',None) for the gradient of line 7 and 1 result: -1 B sent"),
        (66, "tried: P('x',None) for gradient of line 7 and 1 result: -1 B sent"),
        (63, "tried: P('x',None) for gradient of line 7, 1 result: -1 B sent"),
        (55, "tried: P('x',None) for gradient of line 7: -1 B sent"),
        (50, "tried: P('x',None) for …dient of line 7: -1 B sent"),
    ],
)
def test_changes_lose_words_before_figures(width: int, expected: str) -> None:
    none = Fraction(0)
    figures = Figures(none, none, none, Fraction(2), 0, None, none, none, 0, 0, none)
    effect = Effect(figures, figures._replace(wire_bytes=Fraction(1)))
    edit = cast(Edit, SimpleNamespace(is_removal=False, replaced=None))
    annotation = Annotation("", "P('x', None)", "")
    trial = Trial(Change((edit,)), *effect, annotations=(annotation,), results=(annotation,))
    assert trial_text(trial, "the gradient of the value at model.py:7", width, "model.py:7") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[{"x"}, {}] → [{}, {}]', "P('x') → P()"),
        ('[{}, {"x", "y"}, {}] for dot', "P(None, ('x', 'y')) for dot"),
        ('[{?}, {"x", ?}]', "P(P.UNCONSTRAINED, 'x')"),
        # JAX has no word for a part of an axis.
        ('[{"x"}, {"tp":(1)2}, {"tp":(2)2}, {}]', "P('x', 'tp':(1)2, 'tp':(2)2)"),
    ],
)
def test_shardings_have_one_notation(text: str, expected: str) -> None:
    assert specs_of(text) == expected
