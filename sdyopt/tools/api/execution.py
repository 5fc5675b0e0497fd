"""Execution and validation of programs. They need jax, the extra `run`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

from sdyopt.analysis.execution import MODES
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import NOT_VALIDATED
from sdyopt.tools.api.errors import Diagnostic, Error, diagnostic_of
from sdyopt.tools.api.program import IrProgram, discard
from sdyopt.tools.api.shardings import topology_of

if TYPE_CHECKING:  # imported when programs are run
    from sdyopt.analysis.execution.validation import ResultComparison
    from sdyopt.analysis.figures import figures

NO_MACHINE = "compiled needs a machine to compile for: topology='tpu-v5e', or another"


@dataclass(frozen=True, slots=True)
class HowToRun:
    """The options of execution: the mode, the Python and the limits, as in the flags of `--validate`."""

    mode: str = "replicas"
    python: str = ""
    timeout: int = 300
    memory: int = 8

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode is {' or '.join(map(repr, MODES))}, not {self.mode!r}")
        if not isinstance(self.python, str):
            raise TypeError(f"python is the path of a Python, not {self.python!r}")
        check_count("timeout", self.timeout)
        check_count("memory", self.memory)


def check_count(name: str, value: object, least: int = 1) -> None:
    """Raises TypeError or ValueError for an argument that is not a number, or less than `least`."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} is a number, not {value!r}")
    if value < least:
        raise ValueError(f"{name} is at least {least}, not {value}")


class ExecutionError(Error):
    """A program cannot be run, for example because jax is missing."""

    __module__ = "sdyopt"  # as tracebacks show it


@dataclass(frozen=True, slots=True)
class Validation:
    """Whether programs compute the same. `diagnostics` are those of `--validate`.

    `is_equal` is None if that is unknown. `errors` has the largest difference of each result, relative to the
    largest element of the result; it is empty if nothing could be run.
    """

    is_equal: bool | None
    errors: tuple[float, ...]
    devices: int
    diagnostics: tuple[Diagnostic, ...] = field(repr=False)

    def __str__(self) -> str:
        return "".join(map(str, self.diagnostics))


def validation_of(program: IrProgram, after: IrProgram, seeds: int, how: HowToRun) -> Validation:
    """Compares what a program computes before and after passes."""
    check_count("seeds", seeds)
    from sdyopt.analysis.execution.process import Worker
    from sdyopt.analysis.execution.validation import ValidationOptions, findings, validate

    options = ValidationOptions(seeds, how.mode, Worker(how.python, how.timeout, how.memory))
    results: list[ResultComparison] = []
    diagnostics: list[Diagnostic] = []
    devices, is_known, differs = 1, True, False
    with program.session(discard), execution_errors(program):
        for function in validate(program.module, after.module, options, after.verifier):
            problems = findings(function, program.module, options)
            diagnostics += [diagnostic_of(diagnostic, program.source) for diagnostic in problems]
            results += function.results
            devices = max(devices, function.devices)
            differs |= function.differs
            is_known &= not function.reason and not any(result.is_unstable for result in function.results)
    is_equal = False if differs else (True if is_known else None)
    errors = tuple([result.error for result in results])
    return Validation(is_equal, errors, devices, tuple(diagnostics))


def results_of(
    program: IrProgram, arguments: Sequence[Any], steps: int, carry: Mapping[int, int], how: HowToRun
) -> list[list[Any]]:
    """The results of each step as arrays of numpy."""
    check_count("steps", steps)
    import numpy as np

    from sdyopt.analysis.execution.process import Worker
    from sdyopt.analysis.execution.validation import Execution
    from sdyopt.analysis.execution.worker.inputs import numpy_type

    with program.session(discard), execution_errors(program):
        execution = Execution(program.module, how.mode, Worker(how.python, how.timeout, how.memory))
        if len(arguments) != len(execution.arguments):
            raise TypeError(f"@main takes {len(execution.arguments)} arguments, not {len(arguments)}")
        for result, index in carry.items():
            if result not in range(len(execution.results)) or index not in range(len(arguments)):
                raise ValueError(f"@main has no result {result} or no argument {index} for 'carry'")
        values = []
        for index, (argument, placement) in enumerate(zip(arguments, execution.arguments, strict=True)):
            array = np.ascontiguousarray(argument, dtype=numpy_type(placement["element"]))
            if list(array.shape) != placement["shape"]:
                raise ValueError(f"argument {index} has shape {array.shape}, not {tuple(placement['shape'])}")
            values.append(array.tobytes())
        outputs = execution.run(values, steps, list(carry.items()))
    return [
        [
            np.frombuffer(data, dtype=numpy_type(placement["element"])).reshape(placement["shape"])
            for data, placement in zip(step, execution.results, strict=True)
        ]
        for step in outputs
    ]


def compilation_of(
    program: IrProgram, topology: str | PathLike[str] | None, python: str
) -> Callable[[figures.Report], figures.Compiled]:
    """Compiles a program as it is now, for the figures that the machine's compiler adds to a report."""
    from sdyopt.analysis.execution.process import Worker
    from sdyopt.analysis.hlo_comparison.compiled.analysis import Compilation

    if topology is None:
        raise ValueError(NO_MACHINE)
    return Compilation(program.op, topology_of(topology), Worker(python, memory=0)).figures


@contextmanager
def execution_errors(program: IrProgram) -> Iterator[None]:
    """Turns the failures of execution into an ExecutionError."""
    from sdyopt.analysis.execution.process import NoJax, NotValidated

    try:
        yield
        return
    except NoJax as error:
        problem = DiagnosticError.at(program.module.location, str(error)).help(error.help)
    except NotValidated as failure:
        problem = DiagnosticError.at(program.module.location, f"cannot be executed: {failure}")
    problem.diagnostic.id = NOT_VALIDATED
    raise ExecutionError([diagnostic_of(problem.diagnostic, program.source)])
