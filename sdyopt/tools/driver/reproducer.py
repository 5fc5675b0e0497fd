"""Reproducers: programs whose external resources contain the pipeline to run:

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(cse)",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
"""

from __future__ import annotations

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.location import quoted
from sdyopt.mlir.asm.resources import Resources
from sdyopt.mlir.pipeline.tree import Pipeline

SECTION, GROUP = "external_resources", "mlir_reproducer"
END = "#-}\n"

# Group -> key -> text of the value.
Groups = dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class Reproducer:
    """The pipeline of a reproducer, and its option `verify_each`; None if absent."""

    pipeline: str | None = None
    verify_each: bool | None = None


def detach_reproducer(resources: Resources) -> Reproducer:
    """Removes the reproducer from the resources of a program and returns it."""
    entries = resources.external.pop(GROUP, {})
    pipeline, verify_each = entries.get("pipeline"), entries.get("verify_each")
    return Reproducer(
        None if pipeline is None else pipeline.strip().removeprefix('"').removesuffix('"'),
        None if verify_each is None else verify_each.strip() == "true",
    )


def reproducer_group(pipeline: Pipeline, verify_each: bool) -> Groups:
    """The resource group of a reproducer."""
    entries = {
        "pipeline": quoted(str(pipeline)),
        "disable_threading": "true",
        "verify_each": "true" if verify_each else "false",
    }
    return {GROUP: entries}


def with_external_resources(text: str, groups: Groups) -> str:
    """A printed program with external resource groups appended, after its dialect resources if any."""
    if not any(groups.values()):
        return text
    section = f"  {SECTION}: {{\n{_print_groups(groups)}\n  }}\n{END}"
    if text.endswith(END):
        return f"{text.removesuffix(END).rstrip()},\n{section}"
    return f"{text}\n{{-#\n{section}"


def _print_groups(groups: Groups) -> str:
    return ",\n".join(
        f"    {name}: {{\n" + ",\n".join(f"      {key}: {value}" for key, value in group.items()) + "\n    }"
        for name, group in groups.items()
        if group
    )
