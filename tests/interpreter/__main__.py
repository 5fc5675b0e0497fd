"""Writes the collectives of each partitioned program to its second comment: `python -m tests.interpreter`."""

import argparse

from tests.interpreter.partitioned import collectives_of, partitioned
from tests.interpreter.programs import FILE, PROGRAMS, SEPARATOR

argparse.ArgumentParser(description=__doc__).parse_args()
chunks = [f"// {each.name}\n// {collectives_of(partitioned(each.text))}\n{each.text}" for each in PROGRAMS]
FILE.write_text(SEPARATOR.join(chunks), encoding="utf-8")
