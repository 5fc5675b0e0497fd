"""Trees of sentences as text."""

from sdyopt.analysis.explain.arrival_text import Sentence, tree_text


def test_children_hang_below_their_sentence() -> None:
    root = Sentence("a value", "model.py:1")
    first = root.add("the first reason")
    first.add("what to write")
    root.add("the second reason", "model.py:2")
    assert tree_text(root, 80) == (
        "a value  model.py:1\n├─ the first reason\n│  └─ what to write\n└─ the second reason  model.py:2\n"
    )


def test_long_sentences_are_wrapped_beside_the_bar_of_what_follows() -> None:
    root = Sentence("a value")
    root.add("a reason that takes more columns than there are", "model.py:1").add("help: write less")
    root.add("end")
    assert tree_text(root, 36) == (
        "a value\n"
        "├─ a reason that takes more columns\n"
        "│  │  than there are  model.py:1\n"
        "│  └─ help: write less\n"
        "└─ end\n"
    )


def test_control_characters_of_the_input_are_escaped() -> None:
    assert tree_text(Sentence("axis \x1b[31m\nred"), 80) == "axis \\x1b[31m\\nred\n"


def test_continued_lines_are_no_wider_than_the_terminal() -> None:
    root = Sentence("root")
    root.add("tried: " + "ab " * 30).add("child")
    root.add("last")
    lines = tree_text(root, 40).splitlines()
    assert lines[:2] == ["root", "├─ tried: ab ab ab ab ab ab ab ab ab ab"]
    assert max(map(len, lines)) <= 40
    assert all(line.startswith("│  │  ab") for line in lines[2:4])
