"""Random operations without regions, and reductions."""

from __future__ import annotations

from tests.random_modules.scopes import INDEX, TENSORS, OpGenerator, Scope, Tensor, Type, Value, names, types

UNARY = ("negate", "exponential", "tanh", "abs")
BINARY = ("add", "multiply", "maximum", "subtract")


def unary(scope: Scope) -> None:
    value = scope.any_tensor()
    word = scope.random.choice(UNARY)
    scope.result(value.type, f"stablehlo.{word} {value.name}{scope.attributes([value.type])} : {value.type}")


def binary(scope: Scope) -> None:
    left = scope.any_tensor()
    right = scope.one_of(left.type)
    word = scope.random.choice(BINARY)
    attributes = scope.attributes([left.type])
    scope.result(left.type, f"stablehlo.{word} {left.name}, {right.name}{attributes} : {left.type}")


def select(scope: Scope) -> None:
    left = scope.any_tensor()
    right = scope.one_of(left.type)
    truth = scope.result(
        Tensor(left.type.shape, "i1"),
        f"stablehlo.compare LT, {left.name}, {right.name} : ({left.type}, {left.type}) -> "
        f"{Tensor(left.type.shape, 'i1')}",
    )
    scope.result(
        left.type,
        f"stablehlo.select {truth.name}, {left.name}, {right.name} : {truth.type}, {left.type}",
    )


def constant(scope: Scope) -> None:
    scope.constant(scope.random.choice(TENSORS))


def iota(scope: Scope) -> None:
    type = scope.random.choice([type for type in TENSORS if type.shape])
    dim = scope.random.randrange(len(type.shape))
    scope.result(type, f"stablehlo.iota dim = {dim}{scope.attributes([type])} : {type}")


def broadcast(scope: Scope) -> None:
    source = scope.any_tensor()
    rank = len(source.type.shape)
    fitting = [type for type in TENSORS if type.shape[len(type.shape) - rank :] == source.type.shape]
    if not fitting:
        return
    type = scope.random.choice(fitting)
    dims = list(range(len(type.shape) - rank, len(type.shape)))
    attributes = scope.attributes([type])
    text = f"stablehlo.broadcast_in_dim {source.name}, dims = {dims}{attributes} : ({source.type}) -> {type}"
    scope.result(type, text)


def reshape(scope: Scope) -> None:
    source = scope.any_tensor(min_rank=1)
    shape = source.type.shape
    type = Tensor(
        (shape[0] * shape[1], *shape[2:]) if len(shape) > 1 else (2, shape[0] // 2) if shape[0] > 1 else ()
    )
    scope.result(
        type, f"stablehlo.reshape {source.name}{scope.attributes([type])} : ({source.type}) -> {type}"
    )


def slice_(scope: Scope) -> None:
    source = scope.any_tensor(min_rank=1)
    shape = tuple(scope.random.choice((size, max(size // 2, 1))) for size in source.type.shape)
    type = Tensor(shape)
    limits = ", ".join(f"0:{size}" for size in shape)
    scope.result(type, f"stablehlo.slice {source.name} [{limits}] : ({source.type}) -> {type}")


def transpose(scope: Scope) -> None:
    source = scope.any_tensor(min_rank=2)
    shape = source.type.shape
    dims = [1, 0, *range(2, len(shape))]
    type = Tensor(tuple(shape[dim] for dim in dims))
    attributes = scope.attributes([type])
    text = f"stablehlo.transpose {source.name}, dims = {dims}{attributes} : ({source.type}) -> {type}"
    scope.result(type, text)


def custom_call(scope: Scope) -> None:
    """Has up to three results, of which one may be a token."""
    inputs = scope.some(3)
    outputs: list[Type] = [value.type for value in scope.some(2)]
    tail = f"({types(inputs)}) -> {_result_types(outputs)}"
    attributes = scope.attributes(outputs)
    scope.write(scope.results(outputs, f"stablehlo.custom_call @foo({names(inputs)}){attributes} : {tail}"))


def _result_types(outputs: list[Type]) -> str:
    return str(outputs[0]) if len(outputs) == 1 else f"({', '.join(map(str, outputs))})"


def reduce(scope: Scope) -> None:
    """Reduces one dimension; half of the bodies also use a value from outside, or a constant."""
    source = scope.any_tensor(min_rank=1)
    shape = source.type.shape
    dim = scope.random.randrange(len(shape))
    type, start = Tensor(shape[:dim] + shape[dim + 1 :]), scope.one_of(Tensor(()))
    value = Value(scope.writer.fresh(), type)
    attributes = scope.attributes([type])
    head = f"{value.name} = stablehlo.reduce({source.name} init: {start.name})"
    tail = f"({source.type}, {start.type}) -> {type}"
    if scope.random.random() < 0.5:
        scope.write(f"{head} applies stablehlo.add across dimensions = [{dim}]{attributes} : {tail}")
    else:
        left, right = scope.arguments([start.type, start.type])
        scope.write(f"{head} across dimensions = [{dim}]{attributes} : {tail}")
        scope.write(f" reducer({left.name}: {left.type}, {right.name}: {right.type}) {{")
        body = scope.nested([left, right], is_isolated=False)
        total = body.result(start.type, f"stablehlo.add {left.name}, {right.name} : {start.type}")
        other = body.one_of(start.type)
        total = body.result(start.type, f"stablehlo.maximum {total.name}, {other.name} : {start.type}")
        body.write(f"stablehlo.return {total.name} : {start.type}")
        scope.write("}")
    scope.values.append(value)


# --- Operations of sdy ----------------------------------------------------------------------------


def constraint(scope: Scope) -> None:
    _constrain(scope, scope.any_tensor())


def chain(scope: Scope) -> None:
    """Constrains the result of a constraint, sometimes with other uses in between."""
    value = scope.any_tensor()
    if scope.random.random() < 0.5:
        value = scope.result(value.type, f"stablehlo.negate {value.name} : {value.type}")
    for _ in range(scope.random.randint(2, 4)):
        value = _constrain(scope, value)
        if scope.random.random() < 0.1:
            unary(scope)


def _constrain(scope: Scope, value: Value) -> Value:
    word = "reshard" if scope.random.random() < 0.1 else "sharding_constraint"
    closed = True if scope.random.random() < 0.5 else None
    sharding = scope.sharding(value.type, is_closed=closed)
    return scope.result(value.type, f"sdy.{word} {value.name} {sharding} : {value.type}")


def barrier(scope: Scope) -> None:
    value = scope.any_tensor()
    direction = scope.random.choice(("NONE", "FORWARD", "BACKWARD"))
    text = f"sdy.propagation_barrier {value.name} allowed_direction={direction} : {value.type}"
    scope.result(value.type, text)


def group(scope: Scope) -> None:
    """Adds a value to a group of values of its type in the same manual computation, rarely to any group."""
    value = scope.any_tensor()
    key = None if scope.random.random() < 0.02 else (value.type, scope.manual_computation)
    group_ids = scope.writer.groups.setdefault(key, [])
    if not group_ids or scope.random.random() < 0.5:
        group_ids.append(scope.random.randrange(1000))
        if key is not None:
            scope.writer.groups.setdefault(None, []).append(group_ids[-1])
    number = scope.random.choice(group_ids)
    scope.write(f"sdy.sharding_group {value.name} group_id={number} : {value.type}")


# --- Calls ----------------------------------------------------------------------------------------


def call(scope: Scope) -> None:
    if not scope.writer.functions:
        return
    function = scope.random.choice(scope.writer.functions)
    inputs = [scope.one_of(type) for type in function.inputs]
    attributes = scope.attributes(function.outputs)
    tail = f"({types(inputs)}) -> {_result_types(function.outputs)}"
    scope.write(
        scope.results(function.outputs, f"func.call @{function.name}({names(inputs)}){attributes} : {tail}")
    )


def counter(scope: Scope) -> None:
    value = scope.one_of(INDEX)
    scope.result(INDEX, f"stablehlo.add {value.name}, {scope.constant(INDEX).name} : {INDEX}")


# The weight with which each is chosen.
OPERATIONS: dict[OpGenerator, int] = {
    unary: 4,
    binary: 6,
    select: 1,
    constant: 4,
    iota: 2,
    broadcast: 3,
    reshape: 2,
    slice_: 2,
    transpose: 1,
    custom_call: 2,
    reduce: 1,
    constraint: 4,
    chain: 3,
    barrier: 1,
    group: 3,
    call: 3,
    counter: 1,
}
