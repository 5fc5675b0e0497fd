"""Random barriers of propagation, of which some have a rule by which shardings get over them all the same."""

from __future__ import annotations

from tests.random_modules.rules.tensors import attributes, tensor
from tests.random_modules.scopes import Maker, Scope


def barrier(scope: Scope) -> None:
    value = tensor(scope)
    direction = scope.random.choice(("NONE", "FORWARD", "BACKWARD"))
    held = attributes(scope, [value.type], [value.type])
    text = f"sdy.propagation_barrier {value.name} allowed_direction={direction}{held} : {value.type}"
    scope.result(value.type, text)


OPERATIONS: dict[Maker, int] = {barrier: 3}
