"""Compares how sdy-opt and the reference lower random reshards, function by function.

    python -m tests.random_reshards.compare --seeds 0:20000 --reference-python PYTHON [PIPELINE …]

PYTHON is a Python with jaxlib. Many reshards share a module; a module with an error or a crash is bisected
until the reshard that causes it is alone. Without pipelines, `sdy-reshard-to-collectives` is compared.

The reference stops after two rounds of collectives, even if a third is needed. Where axis sizes are not all
powers of two, collectives that follow those of the reference are ignored. Where sub-axes of source and target
cannot coexist, its result is wrong on some devices, and is not compared.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from tests.random_modules.compare import Comparison, PipelineResult, Reference, reference, run_here
from tests.random_reshards.cases import Reshard, module_text, random_reshard

PIPELINE = "func.func(sdy-reshard-to-collectives)"
# The number of functions in a module: few enough to find their meshes quickly.
CHUNK = 100


def compare_all(
    reshards: Sequence[Reshard], pipeline: str, reference: Reference, chunk: int = CHUNK
) -> Iterator[Comparison]:
    """Compares the result of each reshard with that of the reference."""
    for start in range(0, len(reshards), chunk):
        yield from _compare(reshards[start : start + chunk], pipeline, reference)


def _compare(reshards: Sequence[Reshard], pipeline: str, reference: Reference) -> Iterator[Comparison]:
    text, whole = module_text(reshards), f"builtin.module({pipeline})"
    reference.submit(text, [whole])
    ours, [theirs] = run_here(text, whole), reference.results()
    if len(reshards) == 1:
        ours, theirs = _without_axis(ours), theirs and _without_axis(theirs)
        if reshards[0].may_need_third_round and theirs is not None:
            ours = PipelineResult(_without_third_round(ours.output, theirs.output), ours.messages)
        yield Comparison(reshards[0].seed, pipeline, ours, theirs)
        return
    if not ours.output or theirs is None or ours.messages != theirs.messages:
        middle = len(reshards) // 2
        yield from _compare(reshards[:middle], pipeline, reference)
        yield from _compare(reshards[middle:], pipeline, reference)
        return
    ours_by_name, theirs_by_name = functions_of(ours.output), functions_of(theirs.output)
    for reshard in reshards:
        here, there = (found.get(reshard.name, "") for found in (ours_by_name, theirs_by_name))
        if reshard.may_need_third_round:
            here = _without_third_round(here, there)
        yield Comparison(reshard.seed, pipeline, PipelineResult(here, ()), PipelineResult(there, ()))


def _without_third_round(ours: str, theirs: str) -> str:
    """The reference's function if ours has the same collectives, and then further ones; ours otherwise."""
    first_rounds = re.split(r"^ *return ", theirs, maxsplit=1, flags=re.M)[0]
    third_round = r"( *%\d+ = sdy\.\w+ .*\n)+ *return "
    continues = ours.startswith(first_rounds) and re.match(third_round, ours[len(first_rounds) :])
    return theirs if continues else ours


def _without_axis(result: PipelineResult) -> PipelineResult:
    """The result with errors that name no axes: of several invalid axes, C++ reports an arbitrary one."""
    messages = [
        re.sub(r" op (overlapping sub-axes|both sub-axis).*", " op axes overlap", m) for m in result.messages
    ]
    return PipelineResult(result.output, tuple(messages))


def functions_of(module: str) -> dict[str, str]:
    """The text of each function of a module, by name."""
    return {match[1]: match[0] for match in re.finditer(r"^  func\.func @(\w+).*?^  \}", module, re.M | re.S)}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "pipelines", nargs="*", default=[PIPELINE], help="the pipeline inside builtin.module(…)"
    )
    parser.add_argument("--seeds", default="0:1000", metavar="FROM:TO", help="the range of seeds")
    parser.add_argument("--reference-python", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--most", type=int, default=5, help="the maximum number of differences to show")
    options = parser.parse_args()
    start, end = map(int, options.seeds.split(":"))
    reshards = [random_reshard(seed) for seed in range(start, end)]
    reshards = [each for each in reshards if not each.has_clashing_sub_axes]
    counts: Counter[str] = Counter()
    different = []
    with reference(options.reference_python) as running:
        for pipeline in options.pipelines:
            for comparison in compare_all(reshards, pipeline, running):
                counts[comparison.verdict] += 1
                if comparison.is_different:
                    different.append(comparison)
    for comparison in different[: options.most]:
        print(random_reshard(comparison.seed).function, comparison, sep="\n", end="\n\n")
    for verdict, count in sorted(counts.items()):
        print(f"{count:6} {verdict}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
