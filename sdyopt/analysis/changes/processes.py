"""Trials in processes of their own, which share nothing with this one: it may have threads, as those of JAX.

    processes = TrialProcesses(module, pipeline, topology)
    for answer in processes.answers(changes, jobs, limit): ...

A process that forks while other threads run may hang. So each process starts a Python, parses the text of the
program, and then answers one request after the other. They end when their input does.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
import weakref
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any

from sdyopt.analysis.changes.edits import AnnotationEdit
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.parent_process import end_with
from sdyopt.base.releases import followed_release
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import OpResult
from sdyopt.mlir.pipeline.tree import Pipeline
from sdyopt.mlir.registry.plugins import loaded_plugins
from sdyopt.shardy.record import FunctionResult, Subject

if TYPE_CHECKING:
    import subprocess

_FOLDER = Path(__file__).parents[3]
# Other packages beside this one must not hide those of the Python that runs; what this process may import
# beyond them comes last.
_START = (
    "import sys; _, folder, module, plugins, *rest = sys.argv; "
    "sys.path += [each for each in rest if each not in sys.path]; "
    "sys.path.insert(0, folder); import sdyopt; del sys.path[0]; "
    "from sdyopt.mlir.registry.plugins import load_plugins; load_plugins(plugins); "
    "from importlib import import_module; import_module(module).main()"
)
# Sufficient for programs nested as deeply as the parser accepts.
_RECURSION_LIMIT = 10_000

# The module whose `main` answers.
_MODULE = "sdyopt.analysis.changes.trials"

# The figures after a change, None if it is slower; whether the pipeline failed; the shardings of results; and
# the bytes by place.
Answer = tuple[Any, bool, Any, Any]


def started(module: str) -> subprocess.Popen[bytes]:
    """A Python that runs `main` of a module, with pipes and the plugins of this one.

    Raises OSError where there are no processes.
    """
    import subprocess  # noqa: PLC0415  slow to import

    command = [
        sys.executable,
        "-P",
        "-c",
        _START,
        str(_FOLDER),
        module,
        loaded_plugins(),
        *filter(None, sys.path),
    ]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)


def prepare() -> None:
    """Makes the settings of a process that runs passes, and ends with the one that started it."""
    end_with(os.getppid())
    gc.disable()
    sys.setrecursionlimit(_RECURSION_LIMIT)
    sys.set_int_max_str_digits(0)


class Start(NamedTuple):
    """The first data of a process: the text of the program, the release to follow, the passes as text."""

    text: str
    release: str
    pipeline: str
    topology: Any


# An edit for another process: the number of an operation in the program with indices, whether the subject is
# a result of a function, the sharding, the mesh, and whether a constraint is removed.
Placed = tuple[tuple[int, ...], bool, TensorSharding, Mesh, bool]


def edit_at(
    ops: Sequence[Op],
    path: tuple[int, ...],
    is_result: bool,
    sharding: TensorSharding,
    mesh: Mesh,
    is_removal: bool,
) -> AnnotationEdit:
    """The edit in the program whose operations these are."""
    number, *rest = path
    op = ops[number]
    if is_result:
        assert isinstance(op, FuncOp)
        subject: Subject = FunctionResult(op, rest[0])
    elif len(rest) == 1:
        result = op.results[rest[0]]
        assert isinstance(result, OpResult)
        subject = result
    else:
        blocks = [block for region in op.regions for block in region.blocks]
        subject = blocks[rest[0]].arguments[rest[1]]
    return AnnotationEdit(subject, sharding, mesh, is_removal)


class TrialProcesses:
    """Processes for the trials on a program, which start when they are needed."""

    def __init__(self, module: Op, pipeline: Pipeline, topology: object) -> None:
        self._module, self._pipeline, self._topology = module, pipeline, topology
        self._idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self._processes: list[subprocess.Popen[bytes]] = []
        weakref.finalize(self, _end, self._processes)

    @cached_property
    def _numbers(self) -> dict[Op, int]:
        """The number of each operation in the program."""
        return {op: number for number, op in enumerate(self._module.walk())}

    @cached_property
    def _start(self) -> bytes:
        text = print_op(self._module, PrintOptions(debuginfo=True))
        return pickle.dumps(Start(text, followed_release().name, str(self._pipeline), self._topology))

    def answers(
        self, changes: Sequence[Sequence[AnnotationEdit]], jobs: int, limit: Fraction | None
    ) -> Iterator[Answer | None]:
        """The figures of the program after the edits of each change; None if there is no answer."""
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  slow to import

        requests = [pickle.dumps(([self._placed(edit) for edit in edits], limit)) for edits in changes]
        try:
            while len(self._processes) < jobs:
                self._processes.append(started(_MODULE))
                self._idle.put(self._processes[-1])
                _send(self._processes[-1].stdin, self._start)
        except OSError:
            if not self._processes:
                yield from [None] * len(changes)
                return
        with ThreadPoolExecutor(len(self._processes)) as pool:
            yield from pool.map(self._answer, requests)

    def _answer(self, request: bytes) -> Answer | None:
        process = self._idle.get()
        try:
            _send(process.stdin, request)
            assert process.stdout is not None
            answer: Answer = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):  # it has ended
            return None
        finally:
            self._idle.put(process)
        return answer

    def _placed(self, edit: AnnotationEdit) -> Placed:
        subject = edit.subject
        if isinstance(subject, FunctionResult):
            path: tuple[int, ...] = (self._numbers[subject.function], subject.result_index)
        elif isinstance(subject, OpResult):
            path = (self._numbers[subject.op], subject.index)
        else:
            op = owning_op(subject)
            blocks = [block for region in op.regions for block in region.blocks]
            path = (self._numbers[op], blocks.index(subject.block), subject.index)
        return path, isinstance(subject, FunctionResult), edit.sharding, edit.mesh, edit.is_removal


def _send(stream: IO[bytes] | None, data: bytes) -> None:
    assert stream is not None
    stream.write(data)
    stream.flush()


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.kill()
        process.communicate()
