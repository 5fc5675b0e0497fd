"""Properties of passes: names do not matter, a fixed point stays, and chunks do not influence each other."""

from collections.abc import Callable
from functools import partial
from random import Random

from sdyopt.mlir.asm.printer.asm_printer import print_op
from sdyopt.mlir.pipeline.base import FUNCTION
from sdyopt.mlir.pipeline.tree import parse_pipeline
from sdyopt.mlir.registry import all_passes, lookup
from sdyopt.mlir.registry.table import PassEntry
from sdyopt.tools.driver.job import SPLIT_MARKER, Job
from sdyopt.tools.driver.run import run_job
from tests.metamorphic.permuting import difference_up_to_order, permute
from tests.metamorphic.printing import GENERIC, UNPARSABLE, first_difference, parse
from tests.metamorphic.renaming import rename_axes, rename_functions, rename_values
from tests.metamorphic.splitting import axes_to_split, split_axes
from tests.random_modules.compare import KINDS, run_here

_IMPORT = "sdy-import-pipeline"
_PROPAGATIONS = [f"sdy-{kind}-propagate" for kind in ("basic", "aggressive", "op-priority", "user-priority")]
_PRINTERS = ("sdy-report",)
# Passes whose result may depend on the order of operations, in C++ too: the first of equal constants is kept,
# conflicts between shardings are resolved for one operation after the other, and channels are numbered.
ORDER_DEPENDENT = (
    "canonicalize",
    "inline",
    "sdy-constant-or-scalar-merger",
    "sdy-explicit-gather-scatter-batching",
    "test-mesh-",
    "-propagate",
    "sdy-propagation-pipeline",
    "sdy-export-pipeline",
    "sdy-partition-pipeline",
    "sdy-per-instruction-partitioning",
    "sharding-propagation",
)
_MARKER = f"\n{SPLIT_MARKER}\n"


# The output of a pipeline on a program; empty if it fails.
Run = Callable[[str, str], str]


def run_with_sdy_opt(text: str, pipeline: str) -> str:
    """The output of a pipeline with sdy-opt."""
    return run_here(text, pipeline).output


def random_pipeline(random: Random) -> str:
    """A pass with its default options, or a pipeline of those that are compared with the reference.

    Without debug information, where names are keys of attributes, and passes that print.
    """
    if random.random() < 0.5:
        pipelines = random.choice(list(KINDS.values())).pipelines
        return random.choice([pipeline for pipeline in pipelines if "debug-" not in pipeline] or [_IMPORT])
    entry = random.choice([entry for entry in all_passes() if entry.flag not in _PRINTERS])
    anchor = entry.pass_class.anchor if isinstance(entry, PassEntry) else None
    return f"func.func({entry.flag})" if anchor == FUNCTION else entry.flag


def does_not_depend_on_names(
    rename: Callable[[str], str], rename_result: Callable[[str, str], str], text: str, random: Random
) -> str:
    """A pipeline on a renamed program gives the renamed result."""
    pipeline = f"builtin.module({random_pipeline(random)})"
    expected = run_here(text, pipeline).output
    renamed = run_here(rename(text), pipeline).output
    difference = first_difference(rename_result(expected, text), renamed)
    return f"{pipeline}: {difference}" if difference else ""


def is_a_fixed_point_of_propagation(text: str, random: Random, run: Run = run_with_sdy_opt) -> str:
    """Propagating a second time changes nothing."""
    strategy = random.choice(_PROPAGATIONS)
    first = run(text, f"builtin.module({_IMPORT},{strategy})")
    if not first or UNPARSABLE.search(first):
        return ""
    second = run(first, f"builtin.module({strategy})")
    difference = first_difference(first, second)
    return f"{strategy}: {difference}" if difference else ""


def treats_parts_of_axes_alike(text: str, random: Random) -> str:
    """An axis of size 4 propagates like two axes of size 2, where its sub-axes become these."""
    axes = axes_to_split(text)
    pipeline = f"builtin.module({_IMPORT},{random.choice(_PROPAGATIONS)})"
    whole = run_here(text, pipeline).output if axes else ""
    if not whole:
        return ""
    parts = run_here(split_axes(text, axes), pipeline).output
    difference = first_difference(split_axes(whole, axes), parts)
    return f"{pipeline}: {difference}" if difference else ""


def gives_the_same_twice(text: str, random: Random) -> str:
    """A second run in the same process gives the same output and messages."""
    pipeline = f"builtin.module({random_pipeline(random)})"
    first, second = run_here(text, pipeline), run_here(text, pipeline)
    return "" if first == second else f"{pipeline}: {first_difference(first.output, second.output)}"


def chunks_are_separate(make: Callable[[int], str], text: str, random: Random) -> str:
    """The output of several chunks is that of separate runs."""
    pipeline = f"builtin.module({random_pipeline(random)})"
    chunks = [text, make(random.randrange(10_000)), text]
    together = _run(_MARKER.join(chunks), pipeline, SPLIT_MARKER)
    difference = first_difference(
        f"{SPLIT_MARKER}\n".join(_run(chunk, pipeline) for chunk in chunks), together
    )
    return f"{pipeline}: {difference}" if difference else ""


def does_not_depend_on_order(text: str, random: Random) -> str:
    """A pipeline gives the same result, up to order, if independent operations have another order."""
    pipeline = random_pipeline(random)
    while any(name in pipeline for name in ORDER_DEPENDENT):
        pipeline = random_pipeline(random)
    return _order_dependence(pipeline, text, random, run_with_sdy_opt)


def depends_on_order(text: str, random: Random, run: Run) -> str:
    """As `does_not_depend_on_order`, with all pipelines that are compared with the reference."""
    kinds = [kind for kind in KINDS.values() if kind.pipelines]
    pipelines = [each for each in random.choice(kinds).pipelines if "debug-" not in each] or [_IMPORT]
    return _order_dependence(random.choice(pipelines), text, random, run)


def _order_dependence(pipeline: str, text: str, random: Random, run: Run) -> str:
    module = parse(text)
    permute(module, random)
    expected, actual = (
        run(each, f"builtin.module({pipeline})") for each in (text, print_op(module, GENERIC))
    )
    if UNPARSABLE.search(expected):
        return ""
    if expected and actual:
        difference = difference_up_to_order(parse(expected), parse(actual))
    else:
        difference = first_difference(expected, actual)
    return f"{pipeline}: {difference}" if difference else ""


def _run(text: str, pipeline: str, marker: str = "") -> str:
    job = Job("random", text.encode, parse_pipeline(pipeline, lookup), split_marker=marker)
    return run_job(job).output


def _unchanged(text: str, program: str) -> str:
    return text


RENAMINGS = {
    "axes": partial(does_not_depend_on_names, rename_axes, rename_axes),
    "functions": partial(does_not_depend_on_names, rename_functions, rename_functions),
    "values": partial(does_not_depend_on_names, rename_values, _unchanged),
}
