"""The code that mutants are made of: where a wrong result looks like a right one."""

from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Each group gives the same number of mutants.
GROUPS = {
    "axis lists": (
        "sdyopt/shardy/sharding/axis_lists.py",
        "sdyopt/mlir/dialects/sdy/axes.py",
    ),
    "projection": (
        "sdyopt/shardy/sharding/sharding_projection.py",
        "sdyopt/shardy/sharding/op_sharding_rule_builder.py",
    ),
    "propagation": ("sdyopt/shardy/sharding/propagation/*.py", "passes/propagation/**/*.py"),
    "explicit reshards": (
        "sdyopt/shardy/sharding/explicit_reshards/*.py",
        "passes/exporting/explicit_reshards/*.py",
        "passes/exporting/insert_explicit_reshards.py",
    ),
    "reshard to collectives": (
        "sdyopt/shardy/sharding/reshard_to_collectives/*.py",
        "passes/exporting/reshard_to_collectives.py",
    ),
    "partitioning": ("sdyopt/shardy/partition/**/*.py", "passes/partitioning/**/*.py"),
    "comparison with HLO": ("sdyopt/analysis/hlo_comparison/**/*.py",),
    "merging": ("sdyopt/mlir/ir/cse.py",),
    "inlining and dead values": (
        "passes/common/inline.py",
        "passes/common/remove_dead_values.py",
    ),
    "report formulas": tuple(
        f"sdyopt/analysis/figures/{name}.py"
        for name in (
            "buffers",
            "causes",
            "collective_traffic",
            "execution_counts",
            "figures",
            "flops",
            "local_shapes",
            "memory_figures",
            "mesh_layout",
            "product_collectives",
            "topology",
        )
    ),
}


def files_of(patterns: Sequence[str], root: Path = ROOT, name: str = "*.py") -> list[str]:
    """The files that match the patterns, relative to the root, in order; a folder stands for its files."""
    found: list[Path] = []
    for pattern in patterns:
        path = root / pattern
        found += path.rglob(name) if path.is_dir() else root.glob(pattern)
    return sorted({path.relative_to(root).as_posix() for path in found})


def function_of(test: str) -> str:
    """The test function of a test, without the parameters."""
    return test.partition("[")[0]


def all_files() -> list[str]:
    return sorted({path for patterns in GROUPS.values() for path in files_of(patterns)})
