"""Simulates programs of collectives on devices, each of which has a numpy array.

The simulation defines shardings and collectives independently of the compiler, and checks that a reshard
lowered to collectives leaves every device with exactly the shard that the target sharding defines:

    python -m tests.simulation --seeds 0:20000

- `devices.py`: the coordinates of devices along mesh axes, and the groups of devices that exchange data.
- `shards.py`: the shard of each device, and the comparison of expected and actual shards.
- `collectives.py`: the collectives, as exchanges between the devices of a group, without the global tensor.
- `programs.py`: parses programs and runs their functions.
- `reshards.py`: compares one program before and after the pass.
- `local.py`: runs the programs for each device that reshards are converted to.
- `kinds.py`: the kinds of random programs, and the pipelines that lower them.
- `judge.py`: lowers a random program, and compares it where a right result is defined.

**Sizes that do not divide.** A dimension of size d with k shards has shards of size ceil(d/k). Those at the
end have padding, or consist of padding only. Padding must not affect results, so it is NaN here, and so is
the result of any computation with it.

Such shard boundaries do not nest. A dimension of size 5 has its boundaries at 2 and 4 with four shards, and
at 3 with two. Gathering the first two of four shards gives four elements, the last of which belongs to the
second of two shards. So if sizes do not divide, a collective has two steps here: the exchange in its groups,
and before or after it a move of the boundaries, which exchanges data between all devices that differ in the
shard of this dimension only. `Tensor.moves` counts the moves; if all sizes divide, there are none.

**Unreduced axes.** The arrays of devices along them are partial sums; the value is their sum.
"""
