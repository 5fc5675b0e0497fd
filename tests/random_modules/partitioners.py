"""Partitions programs with sdy-opt and with the C++ passes, runs the local programs, and prints the counts.

    python -m tests.random_modules.partitioners --reference-python PYTHON [--seeds FROM:TO] [PROGRAM …]

PYTHON has jax, of a release whose `sdy-export-pipeline` has the option `partitioner-stage`. Without programs,
the modules of a kind are partitioned. Where both succeed, both local programs run on virtual devices, and
their results are compared with those of the global program on one device, as by `--validate`. The exit status
is 1 if only C++ partitions a program, or if a local program of sdy-opt computes other results.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import sdyopt
from sdyopt.analysis.execution.global_program import entry_names, function_named
from sdyopt.analysis.execution.process import NotValidated
from sdyopt.analysis.execution.validation import ValidationOptions, compare
from sdyopt.base.releases import NEWEST
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.registry import dialect_table
from sdyopt.shardy.partition.outlining import MAIN, SHARDINGS_OF_MAIN
from sdyopt.tools.api.program import discard, session
from tests.random_modules.compare import KINDS, PipelineResult, Reference, reference
from tests.random_modules.execute import KeptWorker
from tests.random_modules.kept_worker import KeptProcess
from tests.random_modules.programs import MAX_DEVICES

# Propagation, and the export pipeline with the stages of the partitioner. Random numbers are those of one
# device.
_PASSES = (
    "sdy-import-pipeline,sdy-flatten-call-graph,symbol-dce,sdy-add-func-data-flow-edges,"
    "sdy-apply-sharding-constraints,func.func(sdy-sink-func-data-flow-edges),sdy-sharding-group-import,"
    "sdy-import-func-calls,symbol-dce,sdy-pre-order-funcs,sdy-user-priority-propagate{keep-sharding-rules=true},"
    "sdy-export-named-computations,sdy-propagate-to-func-results,sdy-unflatten-call-graph,symbol-dce,"
    "sdy-insert-func-call-reshards,sdy-export-pipeline{partitioner-stage=convert-global-to-local "
    "rng-bit-generator-unsafe=false partition-count=%d}"
)
_VARYING = re.compile(r"\d+|'[^']*'|\"[^\"]*\"|[%@]\w+|<.*")


def programs(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """The names and texts of the programs."""
    for path in options.programs:
        yield path.name, path.read_text(encoding="utf-8")
    if not options.programs:
        start, end = map(int, options.seeds.split(":"))
        for seed in range(start, end):
            yield f"seed {seed}", KINDS[options.kind].make(seed)


def device_count(module: sdyopt.Module) -> int:
    """The number of devices of the largest mesh."""
    sizes = [op.mesh.total_size for op in module.ir.walk() if isinstance(op, MeshOp)]
    return max([1, *sizes])


def parse_local(text: str, devices: int) -> sdyopt.Module:
    """A local program of C++, with the shardings of its inputs and outputs on @main, and a mesh."""
    mesh = f'\n  sdy.mesh @devices_of_program = <["devices"={devices}]>'
    local = sdyopt.parse(re.sub(r"(?=\n  func\.func)", mesh, text, count=1))
    main = function_named(local.ir, MAIN)
    rewriter = Rewriter()
    setters = rewriter.set_argument_attribute, rewriter.set_result_attribute
    for name, set_attribute in zip(SHARDINGS_OF_MAIN, setters, strict=True):
        shardings = local.ir.attribute(name)
        if main is not None and isinstance(shardings, ShardingPerValue):
            for index, sharding in enumerate(shardings):
                set_attribute(main, index, SHARDING, sharding)
    return local


def run(module: sdyopt.Module, local: sdyopt.Module, options: ValidationOptions) -> str:
    """Whether a local program computes what the global one does: `right`, `wrong`, or why it does not run."""
    with session(discard, NEWEST.name, dialect_table()):
        names = entry_names(module.ir)
        if len(names) != 1:
            return "not run: it has several functions"
        try:
            comparison = compare(module.ir, local.ir, names[0], options)
        except NotValidated as failure:
            return f"not run: {failure}"
    if comparison.differs:
        return "wrong"
    if any(not result.is_equal for result in comparison.results):
        return "not run: rounding the inputs differently changes a result as much"
    return "right" if comparison.results else "not run: it has no results"


@dataclass(frozen=True)
class Partitioning:
    """What a partitioner makes of a program: a local program, or the reason why there is none."""

    text: str = ""
    reason: str = ""
    local: sdyopt.Module | None = None


def with_sdy_opt(module: sdyopt.Module) -> Partitioning:
    """Partitions a program with sdy-opt."""
    try:
        local = module.partition()
    except sdyopt.Error as error:
        return Partitioning(reason=f"error: {_first_line(error.message)}")
    return Partitioning(str(local), local=local)


def with_cpp(result: PipelineResult | None, devices: int) -> Partitioning:
    """The partitioning of the C++ passes; a program that does not parse is none."""
    if result is None:
        return Partitioning(reason="crash")
    if not result.output:
        errors = [message for message in result.messages if ": error: " in message]
        return Partitioning(reason=_first_line(errors[0].partition(": ")[2]) if errors else "error")
    try:
        return Partitioning(result.output, local=parse_local(result.output, devices))
    except sdyopt.Error as error:
        return Partitioning(reason=f"invalid program: {_first_line(error.message)}")


def _first_line(message: str) -> str:
    return _VARYING.sub("…", message.partition("\n")[0])[:110]


def judge(text: str, running: Reference, options: ValidationOptions | None) -> tuple[str, str]:
    """Partitions a program with both, and names the case; the second is the case in detail."""
    try:
        module = sdyopt.parse(text)
    except sdyopt.Error as error:
        return "not parsed", _first_line(error.message)
    devices = device_count(module)
    running.submit(text, [f"builtin.module({_PASSES % devices})"])
    ours = with_sdy_opt(module)
    theirs = with_cpp(running.results()[0], devices)
    if ours.local is None or theirs.local is None:
        if ours.local is None and theirs.local is None:
            return "neither partitions", f"C++: {theirs.reason}"
        if ours.local is None:
            return "only C++ partitions", f"sdy-opt: {ours.reason}"
        return "only sdy-opt partitions", f"C++: {theirs.reason}"
    if options is None:
        return "both partition", ""
    results = [run(module, each, options) for each in (ours.local, theirs.local)]
    if "right" in results or "wrong" in results:
        return "both partition", "sdy-opt: {}, C++: {}".format(*results)
    return "both partition", results[0]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", type=Path, metavar="PROGRAM")
    parser.add_argument("--kind", choices=KINDS, default="executable", help="the kind of modules")
    parser.add_argument("--seeds", default="0:100", metavar="FROM:TO", help="the seeds of the modules")
    parser.add_argument("--reference-python", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--no-execute", action="store_true", help="only partition")
    parser.add_argument("--timeout", type=int, default=60, metavar="SECONDS", help="the limit of each run")
    arguments = parser.parse_args()
    process = KeptProcess(arguments.reference_python, MAX_DEVICES, arguments.timeout)
    options = None if arguments.no_execute else ValidationOptions(1, worker=KeptWorker(process=process))
    cases: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    with reference(arguments.reference_python) as running:
        for name, text in programs(arguments):
            case, detail = judge(text, running, options)
            cases[case][detail].append(name)
    process.close()
    for case, details in sorted(cases.items()):
        print(f"{sum(map(len, details.values())):6} {case}")
        for detail, names in sorted(details.items(), key=lambda item: -len(item[1])):
            if detail:
                print(f"{len(names):12} {detail} ({', '.join(names[:4])})")
    wrong = any("sdy-opt: wrong" in detail for detail in cases["both partition"])
    return 1 if wrong or cases["only C++ partitions"] else 0


if __name__ == "__main__":
    sys.exit(main())
