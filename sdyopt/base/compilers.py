"""The compilers that programs are run by, and the one table of their behaviours.

    if CompilerBehavior.SUMS_AFTER_LOOPS.holds(compiler): …

XLA partitions a program alike for all devices, but its compilers for TPU, GPU and CPU go on with the result
in different ways. Figures and passes ask for a behaviour and never compare compilers. Without a compiler, a
behaviour holds if it does on both TPU and GPU.
"""

from __future__ import annotations

from enum import Enum

TPU = "tpu"
GPU = "gpu"
CPU = "cpu"
COMPILERS = {TPU: "TPU", GPU: "GPU", CPU: "CPU"}


class CompilerBehavior(Enum):
    """Something that not all compilers do: those that do, a sentence for users, and a lit case.

    The lit case is a path in `tests/lit/`, in which two compilers differ.
    """

    compilers: tuple[str, ...]
    summary: str
    case: str

    def __init__(self, compilers: tuple[str, ...], summary: str, case: str) -> None:
        self.compilers = compilers
        self.summary = summary
        self.case = case

    def holds(self, compiler: str) -> bool:
        """Whether a compiler does it; for "", whether those for TPU and GPU both do."""
        if compiler:
            return compiler in self.compilers
        return TPU in self.compilers and GPU in self.compilers

    SUMS_IN_SCATTERS = (
        (TPU, GPU),
        "a scatter that adds to zeros adds to the other term of a sum, before programs are partitioned",
        "report/simplified_by_compiler.mlir",
    )
    MULTIPLIES_OUTER = (
        (TPU, GPU),
        "a product that sums up nothing is a multiplication, before programs are partitioned",
        "report/simplified_by_compiler.mlir",
    )
    SELECTS_IN_ROWS = (
        (TPU,),
        "a scatter that adds one element to each row of zeros, such as the gradient of take_along_axis, is a "
        "selection by a comparison of indices, before programs are partitioned",
        "report/simplified_by_compiler.mlir",
    )
    SUMS_AFTER_LOOPS = (
        (TPU, GPU),
        "an all-reduce in a loop whose result is only added to a loop-carried value is done once, after the "
        "loop; on TPU in the type of that value, and as a reduce-scatter if a device keeps a shard of it",
        "report/compilers.mlir",
    )
    SCATTERS_SHARDS = (
        (TPU, GPU),
        "a psum of a shard_map of whose result a device keeps a shard is a reduce-scatter",
        "report/compilers.mlir",
    )
    SCATTERS_AFTER_LOOPS = (
        (TPU,),
        "so is a reduce-scatter that the program writes, in the type of the loop-carried value",
        "report/compilers.mlir",
    )
    PRODUCTS_OF_BF16 = (
        (TPU,),
        "32-bit floats that only products of default precision or conversions to bf16 use are sent as bf16",
        "report/compilers.mlir",
    )
    CONVERTS_BEFORE_SENDING = (
        (GPU,),
        "what is only converted to a narrower type after it is gathered or moved is sent in that type, and "
        "what is converted from one before, too",
        "report/compilers.mlir",
    )
    COLLECTIVE_PRODUCTS = (
        (TPU,),
        "a product that scatters its result, or one of 16-bit floats that gathers its left operand, sends "
        "parts around a ring meanwhile if it takes longer than that: n + 1 of n parts, not n - 1",
        "report/compilers.mlir",
    )
    SCATTERS_ON_LINES = (
        (TPU,),
        "a reduce-scatter over all devices of a square or a cube of more than 4 devices is an all-reduce",
        "report/compilers.mlir",
    )
    SCATTERS_DIMENSIONS = (
        (TPU, GPU),
        "a reduce-scatter of several dimensions is an all-reduce",
        "report/compilers.mlir",
    )
    SCATTERS_TILES = (
        (TPU,),
        "a reduce-scatter of the minor dimension into shards that are not whole tiles, of 128 elements of "
        "32 bits or 256 of 16, is an all-reduce",
        "report/compilers.mlir",
    )
    SPLIT_SCANS = (
        (TPU,),
        "a cumulative operation along a sharded dimension gathers the totals of shards, not the dimension",
        "report/compilers.mlir",
    )
    GATHERS_IN_LOOPS = (
        (TPU, GPU),
        "an all-gather stays in a loop, even if its operand does not change there",
        "report/compilers.mlir",
    )
    GATHERS_AGAIN = (
        (TPU,),
        "a value that is gathered for operations far apart, such as a weight for the forward and the "
        "backward pass, is gathered for each of them, and not in memory in between",
        "report/compilers.mlir",
    )
    MERGED_TRANSPOSES = (
        (TPU,),
        "a tensor and its transpose are gathered once",
        "report/compilers.mlir",
    )
    ALL_KINDS_BESIDE = (
        (GPU,),
        "collectives of all kinds run beside products; on TPU all-gathers and permutes do",
        "report/overlap.mlir",
    )
    LOOKS_UP_SHARDS = (
        (TPU,),
        "each slice of a replicated value looks the position of the shard up in a kernel of its own",
        "report/slices.mlir",
    )
    SUMS_VECTORS = (
        (TPU,),
        "a product with a vector, or of one element each, is multiplied and summed up, which counts no "
        "FLOPs; of a batch, so are rows, vectors of less than 64 elements, and those of a matrix that is "
        "broadcast or looked up",
        "report/products_by_compiler.mlir",
    )
    SUMS_SMALL_VECTORS = (
        (GPU,),
        "a product with a vector is multiplied and summed up, which counts no FLOPs, if the matrix has less "
        "than 10 million elements",
        "report/products_by_compiler.mlir",
    )
    COMPLEX_PRODUCTS = (
        (TPU,),
        "a Fourier transform is a product with a matrix for each dimension, and a product of complex numbers "
        "three of real ones",
        "report/products_by_compiler.mlir",
    )
    SLICES_PRODUCTS = (
        (TPU,),
        "of a product, no more is computed than what a slice takes, and of a product before it",
        "report/products_by_compiler.mlir",
    )
    FUSES_INTO_PRODUCTS = (
        (TPU,),
        "what is computed elementwise for a product is computed in it and not written to memory",
        "report/memory_by_compiler.mlir",
    )
    FUSES_SIMPLE_INTO_PRODUCTS = (
        (TPU, GPU),
        "what simple arithmetic makes for a product, such as relu, is computed in it",
        "report/memory_by_compiler.mlir",
    )
    RECOMPUTES_TRANSCENDENTALS = (
        (TPU, GPU),
        "exponentials and the like are computed again for each use, as other elementwise operations are",
        "report/memory_by_compiler.mlir",
    )
    CONSTANTS_IN_LOOPS = (
        (TPU,),
        "what is computed from constants alone, and a loop does not change, is computed in the loop",
        "report/memory_by_compiler.mlir",
    )
    CONVERTS_BEFORE_LOOPS = (
        (TPU,),
        "what a loop slices and converts to a narrower type, as parameters of layers, is converted before "
        "the loop",
        "report/memory_by_compiler.mlir",
    )
    ONE_HOT_SCATTERS = (
        (TPU,),
        "a scatter that sets few elements of a constant is computed where its result is used",
        "report/memory_by_compiler.mlir",
    )
    WRITES_FOR_MOVES = (
        (TPU,),
        "what is put beside something, padded, reversed, or thinned out, and what several slices are of, is "
        "written for that, and so is what is read whole and as a shard; and every second row or column, and "
        "zeros between elements, by an operation of its own",
        "report/memory_by_compiler.mlir",
    )
    KEEPS_SOFTMAX = (
        (TPU,),
        "the exponentials of a softmax in attention are written by what sums them up, and not computed again",
        "report/memory_by_compiler.mlir",
    )
    SUMS_IN_PRODUCTS = (
        (TPU,),
        "a product that is only summed up, as it is or after elementwise operations, is not written to "
        "memory",
        "report/memory_by_compiler.mlir",
    )
    LOOKS_UP_LATE = (
        (TPU,),
        "what few elements are looked up in, such as the logarithms of probabilities for a loss, is in "
        "memory until what it is computed from is used for the last time",
        "report/memory_by_compiler.mlir",
    )
    OVERLAPS_SCATTERS = (
        (TPU,),
        "a reduce-scatter ends when its result is read, and what it sums up is in memory until then",
        "report/memory_by_compiler.mlir",
    )
    SUMS_IN_PLACE = (
        (GPU,),
        "an all-reduce of more than 30 MiB, which is not combined with others, writes over its operand if "
        "that is not used again",
        "report/memory_by_compiler.mlir",
    )
    COPIES_GATHERED = (
        (TPU,),
        "a result of the program that is gathered is copied from where it is gathered; an argument in whose "
        "memory it is returned is copied, too",
        "report/memory_by_compiler.mlir",
    )
    COPIES_GATHERED_MINOR = (
        (GPU, CPU),
        "a result of the program that is gathered along another dimension than the first is transposed from "
        "where it is gathered",
        "report/memory_by_compiler.mlir",
    )
    ON_CHIP_MEMORY = (
        (TPU,),
        "temporaries of up to 108 MiB are in on-chip memory, not in the device's memory",
        "report/memory_by_compiler.mlir",
    )
    GAPS_BETWEEN_BUFFERS = (
        (TPU,),
        "temporaries share an allocation, in which there are gaps between them: 3% of their bytes",
        "report/memory_by_compiler.mlir",
    )
    PADS_TO_TILES = (
        (TPU,),
        "the two minor dimensions are padded to multiples of 128 and 8 elements in memory",
        "report/memory_by_compiler.mlir",
    )
