"""Partitions the training step of transformer_train.py, and trains with and without partitioning.

    python -m examples.partitioned_training           # small dimensions, under a minute
    python -m examples.partitioned_training --full    # the dimensions of transformer_train.mlir, some minutes

Needs the extra `run`: pip install 'sdy-opt[run]'. The original program runs on one device, the partitioned
one on 8 virtual devices of the CPU, for ten steps on the same sequences. The losses differ only by rounding.
"""

import sys
from typing import Any

import jax
import numpy as np

import sdyopt
from examples import transformer_train as model

STEPS = 10
SMALL = {"BATCH": 8, "LENGTH": 16, "WIDTH": 64, "HEADS": 4, "HIDDEN": 128, "VOCABULARY": 256}


def initial(value: jax.ShapeDtypeStruct, rng: np.random.Generator) -> Any:
    """Random weights; the scales of normalizations are vectors, and start at one."""
    if len(value.shape) == 1:
        return np.ones(value.shape, np.float32)
    return rng.normal(0, 0.05, value.shape).astype(np.float32)


def main() -> None:
    if sys.argv[1:] not in ([], ["--full"]):
        sys.exit("usage: partitioned_training.py [--full]")
    if not sys.argv[1:]:
        for name, size in SMALL.items():
            setattr(model, name, size)

    parameters = model.parameters()
    tokens = model.array((model.BATCH, model.LENGTH), "data", dtype=np.int32)
    step = jax.jit(model.train_step).trace(parameters, parameters, tokens, tokens)
    program = sdyopt.parse(step.lower(lowering_platforms=("tpu",)))
    partitioned = program.partition()

    rng = np.random.default_rng(0)
    text = rng.integers(0, model.VOCABULARY, (model.BATCH, model.LENGTH + 1))
    weights = [initial(value, rng) for value in jax.tree.leaves(parameters)]
    momentum = [np.zeros_like(value) for value in weights]
    arguments = [*weights, *momentum, text[:, :-1], text[:, 1:]]

    # The new weights and momentum, the first results, are the arguments of the next step.
    carry = {index: index for index in range(len(weights + momentum))}
    losses = [
        [float(results[-1]) for results in each.execute(*arguments, steps=STEPS, carry=carry, timeout=1800)]
        for each in (program, partitioned)
    ]

    print("step   1 device  8 devices  difference")
    for number, (whole, sharded) in enumerate(zip(*losses, strict=True), 1):
        print(f"{number:4}  {whole:9.6f}  {sharded:9.6f}  {abs(whole - sharded):10.1e}")


if __name__ == "__main__":
    main()
