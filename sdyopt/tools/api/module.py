"""A parsed program, which never changes: running passes returns another one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Self

from sdyopt.analysis.advise import PARTITIONERS
from sdyopt.analysis.advise import Options as AdviceOptions
from sdyopt.analysis.interface.flag import STDOUT
from sdyopt.base.diagnostics.diagnostic import DiagnosticError, emit
from sdyopt.base.diagnostics.ids import VERIFY_ERROR, identified
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.edit_log import EditLog
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import symbol_name
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.tools.api.analyses import Advice, Comparable, Comparison, Findings, advice_on, findings_of
from sdyopt.tools.api.errors import (
    Diagnostic,
    ParseError,
    PassError,
    VerifyError,
    diagnostic_of,
    require_text,
)
from sdyopt.tools.api.execution import (
    HowToRun,
    Validation,
    check_count,
    compilation_of,
    execution_errors,
    results_of,
    validation_of,
)
from sdyopt.tools.api.module_html import module_html
from sdyopt.tools.api.operations import ProgramView
from sdyopt.tools.api.pipelines import Passes, combined_pipeline, create_pass
from sdyopt.tools.api.program import IrProgram, Pickled, discard, unpickled
from sdyopt.tools.api.reports import Explanation, Report, assumed_passes, explanation, report_of
from sdyopt.tools.api.rewriting import Rewriter
from sdyopt.tools.driver.chunk import resource_error

PARTITION_PIPELINE = "sdy-partition-pipeline"


class Module(ProgramView):
    """A program. `str` is its text. `diagnostics` are the warnings and remarks of the call that returned it.

    No method changes it, so views of its operations stay valid and cells of a notebook can run again.
    """

    diagnostics: tuple[Diagnostic, ...]

    def __init__(self, program: IrProgram, diagnostics: Sequence[Diagnostic]) -> None:
        self._program = program
        self.diagnostics = tuple(diagnostics)

    # --- Passes -------------------------------------------------------------------------------

    def run(self, *passes: Passes, verify_each: bool = True, **options: object) -> Module:
        """The program after these passes, as a new module.

        Passes are text (`sdy-close-shardings`, `cse,canonicalize{top-down=false}`, `builtin.module(cse)`, or
        flags as in `-cse -sdy-close-shardings`), what `create_pass` returns, or instances of pass classes.
        `options` are the options of a pass, whose name is then the only argument. With `verify_each`, an
        error is that of the first pass that makes the program invalid, else that after the last. Raises
        PipelineError or PassError; exceptions of other kinds in a pass are not caught, except RecursionError
        and MemoryError.
        """
        program = self._program.clone()
        program.is_written = False
        collector = program.collector()
        with program.session(collector.handle):
            pipeline = combined_pipeline(passes, options)
            try:
                if verify_each:
                    again = self._program.clone
                    succeeded = program.run_passes(pipeline, program.op, collector, lambda: again().op)
                else:
                    succeeded = run_pipeline(pipeline, program.op)
                    with identified(VERIFY_ERROR):
                        succeeded = succeeded and program.verifier.verify(program.op)
            except (RecursionError, MemoryError) as error:
                emit(resource_error(program.source, error))
                succeeded = False
        if not succeeded:
            raise PassError(collector.diagnostics)
        return Module(program, collector.diagnostics)

    def report(
        self,
        topology: str | PathLike[str] | None = None,
        device_memory: str | None = None,
        assume_trips: int | Mapping[int, int] | None = None,
        compiled: bool = False,
        python: str = "",
    ) -> Report:
        """What the program communicates, stores and computes on each device.

        The passes of `sdy-jax-pipeline` run before, as they do in JAX, on a program with shardings on which
        no pass has run. Raises PassError if one of them fails.

        A `topology`, of a machine such as "tpu-v5e" or in a file, adds estimated times. Raises ParseError if
        the file is malformed, ValueError for a malformed size. `device_memory`, such as "16GiB", adds whether
        the program fits; default: that of the topology. `assume_trips` is the trip count of loops that have
        none of their own: of all, or of the loops at lines.

        If it is to be `compiled`, the compiler of the topology's machine adds its figures, as with
        `--compiled`; it is in `python`, by default this one. Raises ExecutionError without it, or if it
        rejects the program.
        """
        compilation = compilation_of(self._program, topology, python) if compiled else None
        assumption, module = self._assumed(topology)
        with self._program.session(discard):
            title = symbol_name(module.ir) or self._program.source.name
            limits = topology, device_memory, assume_trips
            with execution_errors(self._program):
                source = self._program.op if assumption else None
                report = report_of(module.ir, title, str(module), *limits, compilation, source)
            report.ir.assumption = assumption
            return report

    def _assumed(self, topology: str | PathLike[str] | None = None) -> tuple[str, Module]:
        """The program after the pipeline that is assumed if no pass has run, and a sentence about that."""
        assumption, passes = assumed_passes(self._program, topology)
        return assumption, self.run(passes) if passes else self

    def advise(
        self,
        *,
        changes: int = 1,
        from_scratch: bool = False,
        memory: int | None = None,
        seconds: int = 0,
        partitioner: str = "xla",
        jobs: int = 0,
        verify: bool = False,
        python: str = "",
        topology: str | PathLike[str] | None = None,
    ) -> Advice[Module]:
        """Which changes of annotations make the program cheaper, each tried on it.

        The options are those of `--advise`: up to `changes` are made one after the other, `memory` limits the
        bytes of the peak, `partitioner` is "xla" or "sdy". To `verify`, XLA compiles the changed programs,
        run by `python`, by default this one. Raises ParseError if the topology is malformed, and
        ExecutionError without jax.
        """
        check_count("changes", changes)
        check_count("seconds", seconds, 0)
        check_count("jobs", jobs, 0)
        if memory is not None:
            check_count("memory", memory)
        if partitioner not in PARTITIONERS:
            names = " or ".join(map(repr, PARTITIONERS))
            raise ValueError(f"partitioner is {names}, not {partitioner!r}")
        options = AdviceOptions(
            advise=STDOUT,
            advise_changes=changes,
            advise_from_scratch=from_scratch,
            advise_seconds=seconds,
            advise_partitioner=partitioner,
            advise_jobs=jobs,
            advise_verify=verify,
            jax=(python, 300, 8),
            memory=memory,
            fills_memory=memory is not None,
            # Python may have threads, such as those of JAX.
            may_fork=False,
        )
        with self._program.session(discard):
            return advice_on(self._program, options, topology, self._with_op)

    def _with_op(self, op: Op) -> Module:
        """Another program with the resources of this one."""
        return Module(self._program.with_op(op), ())

    def explain(
        self,
        what: str,
        *passes: Passes,
        width: int = 100,
        topology: str | PathLike[str] | None = None,
    ) -> Explanation:
        """Why a value is sharded as it is after these passes, as `sdy-opt --explain` prints it.

        `what` is a value of the printed program (`%3`, `@main %arg0`, `@main result 0`) or of the one after
        the passes (`output %3`), a line (`train.py:12`) or a collective (`#3`). Without passes,
        `sdy-jax-pipeline` runs as for a report, and `sdy-propagation-pipeline` on any other program. The
        answer is a string that a notebook shows in colour; its figures are those for the `topology`. Raises
        ParseError if there is nothing of this name, and PassError.
        """
        _, assumed = assumed_passes(self._program, topology)
        is_assumed = bool(assumed) and not passes
        passes = passes or (assumed or "sdy-propagation-pipeline",)
        return explanation(self._program, what, passes, width, is_assumed, topology)

    def lint(
        self,
        *rules: str,
        config: str | PathLike[str] | None = None,
        topology: str | PathLike[str] | None = None,
    ) -> Findings:
        """What the shardings of the program waste, as `sdy-opt --lint` finds it.

        `rules` are ids, of which `-ID` leaves one out; without any, those of the `config` file, and without
        that, all. Figures are those for the `topology`. Raises ValueError for an unknown rule, and ParseError
        for a malformed file.
        """
        return findings_of(self._program, rules, config, topology)

    def compare_with(self, before: Module, *passes: Passes, **options: object) -> Comparison:
        """The differences between this module and another one.

        With passes, as in `run`, both are compared after these passes, and the annotations before them, too.
        Raises PipelineError or PassError.
        """
        _check_module("before", before)
        names = before._program.source.name, self._program.source.name
        old, new = Comparable(names[0], before.ir), Comparable(names[1], self.ir)
        if passes:
            runs = [module.run(*passes, **options) for module in (before, self)]  # type: ignore[arg-type]
            old = Comparable(names[0], runs[0].ir, before.ir)
            new = Comparable(names[1], runs[1].ir, self.ir)
        with self._program.session(discard):
            return new.compared_with(old)

    def snapshot(self, places: Sequence[str] = ()) -> str:
        """The shardings of arguments, results and located values, as JSON with a line for each.

        `places` limits the values to those whose name stack or file contains one of these texts.
        """
        if isinstance(places, str) or not isinstance(places, Iterable):
            raise TypeError(f"places are several texts, such as [{str(places)!r}], not {places!r}")
        for place in places:
            require_text("a place", place)
        with self._program.session(discard):
            return Comparable(self._program.source.name, self.ir).snapshot(places)

    def check_snapshot(self, path: str | PathLike[str]) -> tuple[Diagnostic, ...]:
        """An error for each difference from a snapshot. Raises ParseError for a file with mistakes."""
        with self._program.session(discard):
            return Comparable(self._program.source.name, self.ir).differences_from_snapshot(path)

    # --- Editing ------------------------------------------------------------------------------

    def edit(self) -> Edit:
        """Edits a copy of the program, in a `with` block, after which `edit.module` is the result.

        with module.edit() as edit:
            edit.set_sharding(module.functions["main"].arguments[0], None)
        module = edit.module
        """
        return Edit(self._program)

    # --- Execution ----------------------------------------------------------------------------

    def partition(self, **options: object) -> Module:
        """The program that each device runs: this one after `sdy-partition-pipeline` with these options.

        The shardings of its inputs and outputs stay, and its attributes have the number of devices.
        """
        return self.run(create_pass(PARTITION_PIPELINE, **options))

    def validate(
        self,
        after: Module | None = None,
        *,
        seeds: int = 1,
        mode: str = "replicas",
        python: str = "",
        timeout: int = 300,
        memory: int = 8,
    ) -> Validation:
        """Compares what this program and the one `after` some passes compute, on virtual devices.

        `after` is partitioned first if it is not yet; without it, this program is partitioned and compared.
        The options are those of `--validate`: `seeds` is the number of random inputs, and `python` has jax.
        Raises ExecutionError without jax.
        """
        _check_module("after", self if after is None else after)
        how = HowToRun(mode, python, timeout, memory)
        return validation_of(self._program, (self if after is None else after)._program, seeds, how)

    def execute(
        self,
        *arguments: Any,
        steps: int = 1,
        carry: Mapping[int, int] | None = None,
        mode: str = "replicas",
        python: str = "",
        timeout: int = 300,
        memory: int = 8,
    ) -> list[Any]:
        """Runs @main on virtual devices of the CPU, and returns its results as arrays of numpy.

        A partitioned program runs on all of its devices: arguments are cut into shards, and the shards of
        results are put together. Any other program runs on one device. With `steps`, it runs several times,
        and the list has the results of each step; `carry` maps the index of a result to that of the argument
        that it becomes in the next step. The other options are those of `validate`. Raises ExecutionError for
        a program that cannot be run.
        """
        how = HowToRun(mode, python, timeout, memory)
        results = results_of(self._program, arguments, steps, carry or {}, how)
        return results[0] if steps == 1 else results

    def verify(self) -> None:
        """Raises VerifyError if the program is invalid. Only edits of `ir` can make it so."""
        collector = self._program.collector()
        with self._program.session(collector.handle), identified(VERIFY_ERROR):
            if not self._program.verifier.verify(self._program.op):
                raise VerifyError(collector.diagnostics)

    def clone(self) -> Module:
        """A copy that shares no operation with this module."""
        return Module(self._program.clone(), self.diagnostics)

    def __reduce__(self) -> tuple[object, ...]:
        """Modules can be pickled, so they can be passed to other processes."""
        return _unpickled, (self._program.pickled(), self.diagnostics)

    @property
    def ir(self) -> ModuleOp:
        """The module in the IR, which is not covered by the stability of this interface."""
        return self._program.module

    # --- Text ---------------------------------------------------------------------------------

    def as_text(
        self,
        *,
        generic: bool = False,
        debug_info: bool = False,
        pretty_debug_info: bool = False,
        local_scope: bool = False,
        large_elements_limit: int | None = None,
        large_resource_limit: int | None = None,
        value_users: bool = False,
        skip_regions: bool = False,
    ) -> str:
        """The text of the program.

        `generic` prints the generic form, `debug_info` locations, `pretty_debug_info` locations in a form
        that cannot be parsed, `local_scope` no aliases, `value_users` comments that list users,
        `skip_regions` `{...}` for each region. Constants with more elements than `large_elements_limit` are
        elided, and so are resources whose text, with its quotes, has more characters than
        `large_resource_limit`.
        """
        options = PrintOptions(
            generic=generic,
            debuginfo=debug_info or pretty_debug_info,
            pretty_debuginfo=pretty_debug_info,
            local_scope=local_scope,
            elide_elements_larger_than=large_elements_limit,
            elide_resources_larger_than=large_resource_limit,
            value_users=value_users,
            skip_regions=skip_regions,
        )
        return self._program.text(options)

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        names = [f"@{name}" for name in self.functions]
        shown = ", ".join(names if len(names) <= 3 else [*names[:3], "…"])
        return f"<sdyopt.Module {shown}: {sum(1 for _ in self.ir.walk())} operations>"

    def _repr_html_(self) -> str:
        text = self.as_text(large_elements_limit=16, large_resource_limit=64)
        return module_html(text, list(self.meshes.values()), list(self.functions.values()))


def _unpickled(pickled: Pickled, diagnostics: tuple[Diagnostic, ...]) -> Module:
    try:
        return Module(unpickled(pickled), diagnostics)
    except DiagnosticError as error:
        raise ParseError([diagnostic_of(error.diagnostic, None)]) from None


class Edit(Rewriter):
    """The edits of a copy of a module, which also take values and operations of the module itself.

    At the end of the `with` block the program is verified, and `module` is the result. VerifyError is raised
    if it is invalid, and PassError for the `error` of an operation that the block raises.
    """

    def __init__(self, program: IrProgram) -> None:
        copy, operations, values = program.clone_with_copies()
        super().__init__(copy, EditLog(), operations, values)
        self._module: Module | None = None
        self._is_used = False
        self._collector = copy.collector()

    @property
    def module(self) -> Module:
        """The edited module, once the `with` block has ended. Raises ValueError before."""
        if self._module is None:
            raise ValueError("the edited module is there after the end of the `with` block")
        return self._module

    def __enter__(self) -> Self:
        if self._is_used:
            raise ValueError("an edit is used in one `with` block; edit its module in another one")
        self._is_used = True
        program = self._program
        program.editing = lambda: program.session(self._collector.handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        program, self._program.editing = self._program, None
        if isinstance(error, DiagnosticError):
            self._collector.handle(error.diagnostic)
            raise PassError(self._collector.diagnostics) from None
        if error is None:
            edited = Module(program, ())
            edited.verify()
            edited.diagnostics = tuple(self._collector.diagnostics)
            self._module = edited


def _check_module(name: str, value: object) -> None:
    if not isinstance(value, Module):
        raise TypeError(f"{name} is a module, not {value!r}")
