"""Writes the collectives of each partitioned program to its second comment: `python -m tests.interpreter`."""

from tests.interpreter.partitioned import collectives_of, partitioned
from tests.interpreter.programs import FILE, PROGRAMS, SEPARATOR

chunks = [f"// {each.name}\n// {collectives_of(partitioned(each.text))}\n{each.text}" for each in PROGRAMS]
FILE.write_text(SEPARATOR.join(chunks), encoding="utf-8")
