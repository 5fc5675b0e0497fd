"""Simulates programs of collectives on devices, each of which has a numpy array.

The simulation defines shardings and collectives independently of the compiler, and checks that a reshard
lowered to collectives leaves every device with exactly the shard that its sharding defines:

    python -m tests.simulation --seeds 0:20000

- `devices.py`: the coordinates of devices along mesh axes, and the groups of devices that exchange data.
- `shards.py`: the shard of each device, and the comparison of expected and actual shards.
- `collectives.py`: the collectives, as exchanges between the devices of a group, without the global tensor.
- `programs.py`: parses functions and runs them.
- `reshards.py`: compares one program before and after the pass.

**Sizes that do not divide.** A dimension of size d with k shards has shards of size ceil(d/k). Those at the
end have padding, or are nothing but padding. Padding must not affect results, so it is NaN here, which any
computation with it makes visible.

Such shard boundaries do not nest. A dimension of size 5 has its boundaries at 2 and 4 with four shards, and
at 3 with two. Gathering two of four shards gives four elements, of which the last must come from the
neighbor. So if sizes do not divide, a collective has two steps here: the exchange in its groups, and before
or after it a move of the boundaries between the devices that share the dimension. `Tensor.moves` counts
these; if all sizes divide, there are none.

**Unreduced axes.** The arrays of devices along them are partial sums; the value is their sum.
"""
