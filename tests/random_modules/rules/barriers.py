"""Random propagation barriers, some of them with a user-defined sharding rule."""

from __future__ import annotations

from tests.random_modules.rules.tensors import attributes, tensor
from tests.random_modules.scopes import OpGenerator, Scope


def barrier(scope: Scope) -> None:
    value = tensor(scope)
    direction = scope.random.choice(("NONE", "FORWARD", "BACKWARD"))
    attribute_text = attributes(scope, [value.type], [value.type])
    text = (
        f"sdy.propagation_barrier {value.name} allowed_direction={direction}{attribute_text} : {value.type}"
    )
    scope.result(value.type, text)


OPERATIONS: dict[OpGenerator, int] = {barrier: 3}
