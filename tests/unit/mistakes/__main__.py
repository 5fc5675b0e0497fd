"""Writes the expected outputs: `python -m tests.unit.mistakes`, in the root of the checkout."""

from tests.unit.mistakes import mistakes, output_of

for mistake in mistakes():
    _, text = output_of(mistake)
    mistake.golden.write_text(text, encoding="utf-8")
