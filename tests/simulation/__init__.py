"""Programs of collectives on simulated devices, where every device holds a numpy array of its own.

This says in other words than the compiler's what shardings and collectives mean, and shows that a reshard
that became collectives still gives every device exactly what its sharding says:

    python -m tests.simulation --seeds 0:20000

- `devices.py`: where a device stands along the axes of a mesh, and which devices exchange data.
- `shards.py`: what a sharding gives each device, and whether that is what the devices hold.
- `collectives.py`: what a collective does, by what the devices of a group send each other. Nobody looks at
  the tensor as a whole.
- `programs.py`: reading functions and running them.
- `reshards.py`: one program before and after the pass, compared.

**Sizes that do not divide.** A dimension of size d that is sharded k ways is cut into k shards of ceil(d/k);
behind the end of the tensor there is padding, and shards at the end may be nothing else. What is in the
padding must not matter, so it is NaN here: if any of it got into a result, the comparison would see it.

Such borders do not nest. A dimension of size 5 has its borders at 2 and 4 when it is sharded four ways,
and at 3 when it is sharded two ways. Who gathers two of four shards gets four places, and the next two have
to come from the neighbours behind. So a collective is two steps here where sizes do not divide: the exchange
in its groups, and before or after it a move of the borders, between the devices that share the dimension
and nothing else. `Tensor.moves` counts these; where everything divides there is none.

**Unreduced axes.** Along them lie the parts of a sum. What the devices hold then means the sum of it.
"""
