"""The table of properties, and how one is checked on the random module of a seed."""

from collections.abc import Callable
from functools import partial
from random import Random

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from tests.metamorphic.passes import (
    RENAMINGS,
    Run,
    chunks_are_separate,
    depends_on_order,
    does_not_depend_on_order,
    gives_the_same_twice,
    is_a_fixed_point_of_propagation,
    run_with_sdy_opt,
    treats_parts_of_axes_alike,
)
from tests.metamorphic.printing import (
    has_one_meaning_in_both_forms,
    is_parsed_without_cache,
    prints_what_it_parses,
)
from tests.random_modules.compare import KINDS

# The generators of modules, in turn.
_MAKERS = [KINDS[name].make for name in ("import", "rules", "programs", "sharded")]

# A property returns how a program violates it, or an empty text.
Property = Callable[[str, Random], str]

PROPERTIES: dict[str, Property] = {
    "printing": prints_what_it_parses,
    "generic form": has_one_meaning_in_both_forms,
    "statement cache": is_parsed_without_cache,
    "propagating twice": is_a_fixed_point_of_propagation,
    "splitting axes": treats_parts_of_axes_alike,
    "permuting operations": does_not_depend_on_order,
    "running twice": gives_the_same_twice,
    "splitting": partial(chunks_are_separate, _MAKERS[0]),
    **{f"renaming {name}": check for name, check in RENAMINGS.items()},
}


# Properties that do not hold on all modules, in C++ either; with the reference, they must hold on the same.
COMPARED: dict[str, Callable[[str, Random, Run], str]] = {
    "propagating twice": is_a_fixed_point_of_propagation,
    "permuting operations": depends_on_order,
}


def module_of(seed: int) -> str:
    """The random module of a seed."""
    return _MAKERS[seed % len(_MAKERS)](seed)


class ReferenceCrashError(Exception):
    """The reference gives no result."""


def check_both(name: str, seed: int, run_reference: Run) -> str:
    """How a random module violates a property in one of sdy-opt and the reference only; empty otherwise.

    Raises ReferenceCrashError.
    """
    text, violation = module_of(seed), COMPARED[name]
    here, there = (
        violation(text, Random(f"{name} {seed}"), run) for run in (run_with_sdy_opt, run_reference)
    )
    if bool(here) == bool(there):
        return ""
    return f"only in sdy-opt: {here}" if here else f"only in C++: {there}"


def check(name: str, seed: int) -> str:
    """How the random module of a seed violates a property; empty if it holds."""
    text = module_of(seed)
    try:
        return PROPERTIES[name](text, Random(f"{name} {seed}"))
    except DiagnosticError as error:
        return f"the program cannot be parsed: {error}"
