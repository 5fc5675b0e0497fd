"""The check of a program: its figures, and the places that cost most, with changes that were tried there.

The code that checks is imported when it is used: it imports all of stablehlo.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter, signature
from os import PathLike
from typing import TYPE_CHECKING, Any

from sdyopt.base.diagnostics.ids import TOPOLOGY_ERROR, USAGE_ERROR
from sdyopt.base.diagnostics.usage import nearest_or_all
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions
from sdyopt.mlir.ir.symbols import symbol_name
from sdyopt.tools.api.analyses import Advice
from sdyopt.tools.api.errors import (
    Location,
    PassError,
    as_parse_error,
    as_value_error,
    from_source,
    require_text,
)
from sdyopt.tools.api.execution import NO_MACHINE, compilation_of, execution_errors
from sdyopt.tools.api.html import as_html, bar, cards, coloured, details, fill, frame, html_fragment, table
from sdyopt.tools.api.module import Module
from sdyopt.tools.api.parsing import parse
from sdyopt.tools.api.program import OfProgram, discard
from sdyopt.tools.api.reports import Explanation, Report
from sdyopt.tools.api.shardings import memory_of_device, topology_file_of, topology_of

if TYPE_CHECKING:  # imported only for checks
    from sdyopt.analysis.changes.trial import Annotation, Trial
    from sdyopt.analysis.mesh_sweep import sweep
    from sdyopt.analysis.report.check import checker


@dataclass(frozen=True, slots=True)
class CostlyPlace(OfProgram):
    """A place of the program that communicates: the collectives of one line.

    `wire_bytes` is what a device sends there in a run of the program, and `kinds` the bytes of each kind and
    axes, such as `all_gather along "x"`. `names` are the arguments whose elements move, or that gradients
    update. `reason` is that of the most expensive kind. `change` is the change of an annotation that was
    tried and sends less, with its effect, or how many were tried in vain; `best` is that change, or None.
    """

    location: Location
    kinds: Mapping[str, int]
    wire_bytes: int
    names: tuple[str, ...]
    reason: str
    change: str
    best: TriedChange | None = None
    _passed = "its fields without best"

    def __str__(self) -> str:
        return f"{self.location.short}: {self.wire_bytes} bytes sent; {self.reason}; {self.change}"


@dataclass(frozen=True, slots=True)
class MemoryPlace(OfProgram):
    """What takes `peak_bytes` more of the peak than it must: inputs, whose `name` it is, or values of a line.

    `change` is the change that was tried, with its effect, and `best` the same as an object.
    """

    location: Location
    name: str
    peak_bytes: int
    reason: str
    change: str
    best: TriedChange | None = None
    _passed = "its fields without best"

    def __str__(self) -> str:
        return f"{self.name}: {self.peak_bytes} bytes; {self.reason}; {self.change}"


@dataclass(frozen=True, slots=True, repr=False)
class TriedChange(OfProgram):
    """A change of annotations that was tried: `text` says what to write, `annotations` what is where.

    Each annotation has its `place`, `spec` and `sdy`.
    """

    text: str
    annotations: tuple[Annotation, ...]
    _apply: Callable[[], Module] = field(compare=False)
    _passed = "its text and its annotations"

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<sdyopt.TriedChange: {self.text}>"

    def apply(self) -> Module:
        """The program with the change, before passes, which is checked again by `sdyopt.check(…)`."""
        return self._apply()


class Check(OfProgram):
    """The check of `sdy-opt --check`. `str` is its text, in at most 14 lines. Figures are of one device."""

    __slots__ = ("_module", "_program", "_title", "_topology", "ir")
    _passed = "its text, or report.to_dict()"

    ir: checker.CheckResult

    def __init__(
        self,
        ir: checker.CheckResult,
        title: str,
        program: str,
        module: Module,
        topology: str | PathLike[str] | None = None,
    ) -> None:
        self.ir = ir
        self._module, self._topology = module, topology
        self._title = title
        self._program = program

    @property
    def wire_bytes(self) -> int:
        """What a device sends in a run of the program, as far as that is known; as compiled, if it is."""
        from sdyopt.analysis.figures.totals import wire_total

        compiled = self.ir.report.compiled
        return round((self.ir.wire if compiled is None else wire_total(compiled.figures)).high)

    @property
    def peak_bytes(self) -> int:
        """The memory that a device needs at most; as compiled, if it is."""
        report = self.ir.report
        return (report if report.compiled is None else report.compiled.figures).memory.peak

    @property
    def fits(self) -> bool | None:
        """Whether the peak fits in the memory of a device; None if that is not given."""
        return self.ir.fits

    @property
    def places(self) -> tuple[CostlyPlace, ...]:
        """The three places that cost most, the most expensive one first; others that their changes help."""
        from sdyopt.analysis.report.check import check_text

        return tuple(
            [
                CostlyPlace(
                    from_source(place.largest.location),
                    {part.kind: round(part.total.high) for part in place.parts},
                    round(place.total.high),
                    tuple(dict.fromkeys(name for part in place.parts for name in part.names)),
                    check_text.why(place),
                    check_text.change_of(self.ir, place),
                    self._tried(place.best),
                )
                for place in self.ir.places
            ]
        )

    @property
    def memory_place(self) -> MemoryPlace | None:
        """What takes more of the peak than it must; None if no change lowers the peak by much."""
        from sdyopt.analysis.report.check import trial_text

        place = self.ir.memory_place
        if place is None:
            return None
        reason, change = place.reason, trial_text.trial_text(place.trial)
        location, best = from_source(place.location), self._tried(place.trial)
        return MemoryPlace(location, place.name, place.saved, reason, change, best)

    def _tried(self, trial: Trial | None) -> TriedChange | None:
        trials = self.ir.trials
        if trial is None or trials is None:
            return None

        def apply() -> Module:
            return self._module._with_op(trials.changed(trial.change))

        return TriedChange(trial.text, tuple(trial.annotations), apply)

    def explain(self, what: str, width: int = 100) -> Explanation:
        """Why a value is sharded as it is, or why a collective is there: `"params['w']"`, `"#3"`."""
        return self._module.explain(what, width=width, topology=self._topology)

    def advise(self, **options: Any) -> Advice[Module]:
        """The changes of the program that make it cheaper, with the options of `Module.advise`."""
        return self._module.advise(**{"topology": self._topology, **options})

    @property
    def report(self) -> Report:
        """The report with all figures."""
        return Report(self.ir.report, self._title, self._program, self.ir)

    def __str__(self) -> str:
        from sdyopt.analysis.report.check import check_text

        return check_text.check_text(self.ir, 100)

    def __repr__(self) -> str:
        return f"<sdyopt.Check: {self.wire_bytes} bytes sent, {self.peak_bytes} bytes at the peak>"

    def _repr_html_(self) -> str:
        return html_fragment(self._parts())

    def _parts(self) -> Iterator[str]:
        from sdyopt.analysis.figures.figures import axis_sizes
        from sdyopt.analysis.figures.totals import wire_totals
        from sdyopt.analysis.report.check import check_text, trial_text

        check = self.ir
        yield cards(
            [
                ("communication", *check_text.communication_of(check).split(" ", 2)),
                ("memory", *check_text.memory_of(check).split(" ", 2)),
                ("compute", *check_text.compute_of(check).split(" ", 2)),
            ],
            ("memory",) if check.fits is False else (),
        )
        if check.wire.high:
            parts = wire_totals(
                check.report.collectives, lambda collective: f"{collective.kind} {collective.group}"
            )
            yield bar([(name, float(part.high / check.wire.high)) for name, part in parts.items()])
        axes, rows = list(axis_sizes(check.report.mesh)), []
        for place, shown in zip(check.places, self.places, strict=True):
            sends, what = check_text.amount_of(check, place), check_text.kinds_of(check, place)
            share = float(place.total.high / check.wire.high) if check.wire.high else 0
            cells = [coloured(cell, axes) for cell in (place.name, what, shown.reason, shown.change)]
            rows.append([f"{as_html(sends)}{fill(share)}", *cells])
        if (memory := check.memory_place) is not None:
            reason, change = memory.reason, trial_text.trial_text(memory.trial)
            texts = (trial_text.memory_title(memory), memory.name, "", reason, change)
            rows.append([coloured(text, axes) for text in texts])
        if rows:
            yield table(["sends", "where", "what", "why", "change"], rows, 1)


class MeshSweep:
    """The sweep of `sdy-opt --mesh-sweep`. `str` is its table.

    Its rows are `SweptMesh`: `sizes` by axis, `devices`, `wire_bytes`, `peak_bytes`, `flops`, the
    `useful_share` of them, `seconds` or None, and the `problem` that JAX or a pass has with the mesh. Without
    figures, which are None then, it is why there are none.
    """

    __slots__ = ("ir",)

    ir: sweep.Sweep

    def __init__(self, ir: sweep.Sweep) -> None:
        self.ir = ir

    @property
    def rows(self) -> tuple[sweep.SweptMesh, ...]:
        """The figures of each mesh, the last axis changing fastest."""
        return tuple(self.ir.rows)

    @property
    def best(self) -> tuple[sweep.SweptMesh, ...]:
        """The best row for each number of devices: it fits, and takes the least time, or sends least."""
        return tuple(self.ir.best)

    def fits(self, row: sweep.SweptMesh) -> bool:
        """Whether the program can run on a mesh, as far as is known."""
        return self.ir.fits(row)

    def to_json(self) -> str:
        """The sweep as JSON, whose schema is versioned."""
        from sdyopt.analysis.mesh_sweep.formats import FORMATS

        return FORMATS[".json"](self.ir)

    def to_markdown(self) -> str:
        from sdyopt.analysis.mesh_sweep.formats import FORMATS

        return FORMATS[".md"](self.ir)

    def to_html(self) -> str:
        """The sweep as an HTML page, with charts of time and memory."""
        from sdyopt.analysis.mesh_sweep.formats import FORMATS

        return FORMATS[".html"](self.ir)

    def to_dict(self) -> dict[str, Any]:
        """The data of the JSON."""
        data: dict[str, Any] = json.loads(self.to_json())
        return data

    def __str__(self) -> str:
        from sdyopt.analysis.mesh_sweep.sweep import sweep_text

        return sweep_text(self.ir)

    def __repr__(self) -> str:
        return f"<sdyopt.MeshSweep: {len(self.rows)} {'mesh' if len(self.rows) == 1 else 'meshes'}>"

    def _repr_html_(self) -> str:
        from sdyopt.analysis.mesh_sweep.sweep import best_text, sweep_table

        header, *rows = sweep_table(self.ir)
        peaks = max((row.peak_bytes or 0 for row in self.rows), default=0) or 1
        cells = []
        for check, row in zip(self.rows, rows, strict=True):
            texts = list(map(as_html, row))
            texts[-2] = "" if check.peak_bytes is None else fill(check.peak_bytes / peaks)
            cells.append(texts)
        best = [number for number, check in enumerate(self.rows) if check in self.best]
        columns = list(map(as_html, header))
        shown = table(columns, cells, len(columns) - 2, best=best)
        page = details("the page, with charts", frame(self.to_html(), "mesh sweep"))
        return html_fragment([shown, f"<p>{as_html(best_text(self.ir))}</p>", page])


def mesh_sweep(
    program: Any,
    sizes: str,
    *arguments: Any,
    topology: str | PathLike[str] | None = None,
    device_memory: str | None = None,
    compiled: bool = False,
    python: str = "",
    **keywords: Any,
) -> MeshSweep:
    """What a program sends and stores on meshes of other sizes, such as "fsdp=1..64 x tp=1,2,8".

    The program and its arguments are as for `check`. The meshes are computed in several processes. Raises
    ValueError for malformed sizes, and ParseError for an axis that the program does not have or a malformed
    topology. The memory of a device is that of the topology if `device_memory` is not given. If programs are
    to be `compiled`, the figures are those of the compiler of the topology's machine, which `python` has.
    """
    from sdyopt.analysis.mesh_sweep.sweep import check_axes, memory_of, read_sizes, run_sweep

    require_text("sizes", sizes, "such as 'data=1..8', before the arguments of the function")
    memory = memory_of_device(device_memory)
    with as_value_error():
        axes = read_sizes(sizes)
    lowered = _module("mesh_sweep", program, arguments, keywords)._program
    speeds = None if topology is None else topology_file_of(topology)
    if compiled and speeds is None:
        raise ValueError(NO_MACHINE)
    with as_parse_error(TOPOLOGY_ERROR):
        memory = memory_of(memory, speeds)
    request = {
        "text": lowered.text(PrintOptions(debuginfo=True)),
        "name": lowered.source.name,
        "shardy": lowered.sdy_version,
        "pipeline": "",
        "topology": speeds,
        "compiler": (python, 600) if compiled else None,
    }
    with lowered.session(discard):
        with as_parse_error(USAGE_ERROR, lowered.source):
            check_axes(lowered.op, list(axes), sizes)
        return MeshSweep(run_sweep(request, axes, memory))


@as_parse_error(TOPOLOGY_ERROR)
def check(
    program: Any,
    *arguments: Any,
    topology: str | PathLike[str] | None = None,
    device_memory: str | None = None,
    compiled: bool = False,
    python: str = "",
    **keywords: Any,
) -> Check:
    """What a program sends, stores and computes on a device, and the three places that cost most.

    `program` is a function of `jax.jit`, which is lowered for the arguments, or what `parse` takes, or a
    module. The passes of `sdy-jax-pipeline` run, as they do in JAX, unless the program has its collectives.
    A `topology`, of a machine such as "tpu-v5e:4x4" or in a file, adds an estimated time; `device_memory`,
    such as "16GiB", whether the program fits. If it is to be `compiled`, the compiler of this machine adds
    its figures; it is in `python`, by default this one.

    Raises ParseError, VerifyError, PassError, ValueError for a malformed size, and ExecutionError without the
    compiler, or if it rejects the program.
    """
    from sdyopt.analysis.figures.assumed_pipeline import assumed_pipeline
    from sdyopt.analysis.report.check.checker import Checker
    from sdyopt.analysis.report.entry import report_on

    memory = memory_of_device(device_memory)
    speeds = None if topology is None else topology_of(topology)
    checked = _module("check", program, arguments, keywords)
    given = checked._program
    copy = given.clone()
    compilation = compilation_of(copy, topology, python) if compiled else None
    collector = copy.collector()
    with copy.session(collector.handle):
        _, pipeline = assumed_pipeline(copy.op, "" if speeds is None else speeds.compiler)
        checker = Checker(copy.op, has_passes=False, machine=speeds)
        succeeded = copy.run_passes(pipeline, copy.op, collector, lambda: given.clone().op)
        if not succeeded:
            raise PassError(collector.diagnostics)
        report = report_on(copy.op, speeds)
        report.device_memory = report.device_memory if memory is None else memory
        if compilation is not None:
            with execution_errors(copy):
                report.compiled = compilation(report)
        result = checker.check(report, memory)
        title = symbol_name(copy.op) or copy.source.name
    return Check(result, title, str(Module(copy, ())), checked, topology)


def _module(caller: str, program: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Module:
    """The module of a program, which is lowered for the arguments if it is a function of `jax.jit`."""
    # Text has a method `lower`, too.
    is_text = isinstance(program, str | bytes)
    if hasattr(program, "lower") and not is_text and not isinstance(program, Module):
        return parse(_lowered(caller, program, arguments, keywords))
    if callable(program) and not hasattr(program, "as_text"):
        name = _name(program)
        raise TypeError(f"{name} is no function of jax.jit: write {_call(caller, f'jax.jit({name})')}")
    if arguments:
        raise TypeError(f"sdyopt.{caller} takes arguments for a function of jax.jit only, not for a program")
    if keywords:
        function = check if caller == check.__name__ else mesh_sweep
        parameters = signature(function).parameters.values()
        known = [parameter.name for parameter in parameters if parameter.kind is Parameter.KEYWORD_ONLY]
        wrong = next(iter(keywords))
        raise TypeError(f"sdyopt.{caller} has no argument {wrong!r}; {nearest_or_all(wrong, known)}")
    return program if isinstance(program, Module) else parse(program)


def _lowered(caller: str, function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """A function of `jax.jit`, lowered; for TPUs if its mesh has no devices."""
    name = _name(function)
    try:
        bind = signature(function).bind
    except (TypeError, ValueError):  # it has no signature
        bind = None
    try:
        if bind is not None:
            bind(*arguments, **keywords)
    except TypeError as error:
        help = f"write {_call(caller, name)}: {_ARGUMENTS}"
        raise TypeError(f"{name} takes other arguments: {error}; {help}") from None
    try:
        try:
            return function.lower(*arguments, **keywords)
        except ValueError as error:
            if "lowering_platforms" not in str(error):
                raise
            return function.trace(*arguments, **keywords).lower(lowering_platforms=("tpu",))
    except (ValueError, RuntimeError) as error:
        if _NO_MESH_SET.search(str(error)) is None:
            raise
        help = f"{_call(caller, name)}, or pass NamedSharding(mesh, P(…)) in place of P(…)"
        raise ValueError(
            f"{name} uses a PartitionSpec or shard_map without a mesh, and none is set: write `with "
            "jax.set_mesh(mesh):`, for an AbstractMesh `with jax.sharding.use_abstract_mesh(mesh):`, around "
            + help
        ) from error
    except TypeError as error:
        error.add_note(f"sdyopt.{caller} lowered {name} for these arguments: they are {_ARGUMENTS}")
        raise


# What JAX says of a PartitionSpec for which there is no mesh.
_NO_MESH_SET = constant_pattern(
    r"not under a mesh context|non-empty mesh in context|context mesh cannot be empty"
)
_ARGUMENTS = (
    "arrays, or jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(…))), in the structure "
    "that the function takes"
)


def _name(function: Any) -> str:
    name = str(getattr(function, "__name__", "function"))
    return name if name.isidentifier() else "function"


def _call(caller: str, name: str) -> str:
    sizes = ', "data=1..8"' if caller == "mesh_sweep" else ""
    return f"sdyopt.{caller}({name}{sizes}, *args)"
