"""A job from bytes to text: split, parse, verify, run a pipeline, print. No input or output of its own."""
