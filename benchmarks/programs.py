"""Generates training steps of GPT-like models of any size, without JAX and always with the same output.

The mix of operations, the shardings and the length of the signature are those of programs that JAX lowers
from such models: elementwise arithmetic of layer norms and of the optimizer, broadcasts, scalar constants,
and the matrix products of attention and hidden layers.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.tape import Tape, Tensor

BATCH, LENGTH, WIDTH, HEADS, HIDDEN, VOCABULARY = 64, 1024, 768, 12, 3072, 50304
HEAD = WIDTH // HEADS

# The shardings of activations: of the residual stream, with sharded heads, and with sharded features.
ACTIVATION = '{"data", "fsdp"}, {}, {}'
SHARDED_HEADS = '{"data", "fsdp"}, {}, {"tensor"}, {}'
SHARDED_FEATURES = '{"data", "fsdp"}, {}, {"tensor"}'

# The parameters of one layer: shape and sharding.
LAYER = {
    "norm1_scale": ((WIDTH,), "{}"),
    "norm1_bias": ((WIDTH,), "{}"),
    "qkv": ((WIDTH, 3, HEADS, HEAD), '{"fsdp"}, {}, {"tensor"}, {}'),
    "qkv_bias": ((3, HEADS, HEAD), '{}, {"tensor"}, {}'),
    "project": ((HEADS, HEAD, WIDTH), '{"tensor"}, {}, {"fsdp"}'),
    "project_bias": ((WIDTH,), "{}"),
    "norm2_scale": ((WIDTH,), "{}"),
    "norm2_bias": ((WIDTH,), "{}"),
    "up": ((WIDTH, HIDDEN), '{"fsdp"}, {"tensor"}'),
    "up_bias": ((HIDDEN,), '{"tensor"}'),
    "down": ((HIDDEN, WIDTH), '{"tensor"}, {"fsdp"}'),
    "down_bias": ((WIDTH,), "{}"),
}
EMBEDDING = ((VOCABULARY, WIDTH), '{"tensor"}, {"fsdp"}')
TOKENS = ((BATCH, LENGTH), '{"data", "fsdp"}, {}')


@dataclass(frozen=True)
class Parameter:
    """A weight with its first and second moments, which have the same type and sharding as the weight."""

    weight: Tensor
    first: Tensor
    second: Tensor
    sharding: str


def training_step(layers: int) -> str:
    """The text of a module: forward pass, backward pass and AdamW of a model with `layers` layers."""
    declared = [EMBEDDING, *(shape for _ in range(layers) for shape in LAYER.values())]
    count = len(declared)
    parameters = []
    for index, (shape, sharding) in enumerate(declared):
        weight, first, second = (Tensor(f"%arg{part * count + index}", shape) for part in range(3))
        parameters.append(Parameter(weight, first, second, sharding))
    tokens, targets = (Tensor(f"%arg{3 * count + index}", TOKENS[0], "i32") for index in range(2))

    tape = Tape()
    loss = _loss(tape, [parameter.weight for parameter in parameters], tokens, targets)
    gradients = tape.gradients(loss)
    updated = [_adamw(tape, each, gradients[each.weight]) for each in parameters]
    results = [new[part] for part in range(3) for new in updated]
    return _module(parameters, (tokens, targets), results, loss, tape.lines)


def _loss(tape: Tape, weights: list[Tensor], tokens: Tensor, targets: Tensor) -> Tensor:
    embedding = weights[0]
    x = tape.constrain(tape.dot(_one_hot(tape, tokens), embedding, [], [2], [0]), ACTIVATION)
    for start in range(1, len(weights), len(LAYER)):
        layer = dict(zip(LAYER, weights[start : start + len(LAYER)], strict=True))
        x = _block(tape, x, layer)
    logits = tape.constrain(tape.dot(x, embedding, [], [2], [1]), SHARDED_FEATURES)
    shifted = tape.subtract(logits, _broadcast_back(tape, tape.reduce("maximum", logits, [2]), logits.shape))
    total = tape.log(tape.reduce("add", tape.exponential(shifted), [2]))
    scores = tape.subtract(shifted, _broadcast_back(tape, total, shifted.shape))
    picked = tape.multiply(scores, _one_hot(tape, targets))
    summed = tape.reduce("add", picked, [0, 1, 2])
    return tape.divide(summed, tape.constant("-6.553600e+04"))


def _block(tape: Tape, x: Tensor, layer: dict[str, Tensor]) -> Tensor:
    normalized = _layer_norm(tape, x, layer["norm1_scale"], layer["norm1_bias"])
    x = tape.constrain(tape.add(x, _attention(tape, normalized, layer)), ACTIVATION)
    normalized = _layer_norm(tape, x, layer["norm2_scale"], layer["norm2_bias"])
    hidden = _add_bias(tape, tape.dot(normalized, layer["up"], [], [2], [0]), layer["up_bias"])
    hidden = tape.constrain(_gelu(tape, hidden), SHARDED_FEATURES)
    down = _add_bias(tape, tape.dot(hidden, layer["down"], [], [2], [0]), layer["down_bias"])
    return tape.constrain(tape.add(x, down), ACTIVATION)


def _attention(tape: Tape, x: Tensor, layer: dict[str, Tensor]) -> Tensor:
    qkv = tape.transpose(tape.dot(layer["qkv"], x, [], [0], [2]), [0, 3, 4, 1, 2])
    bias = tape.broadcast(layer["qkv_bias"], qkv.shape, [0, 3, 4])
    qkv = tape.add(qkv, bias)
    query, key, value = (
        tape.constrain(tape.reshape(tape.slice(qkv, part), qkv.shape[1:]), SHARDED_HEADS) for part in range(3)
    )
    query, key, value = (tape.transpose(each, [0, 2, 1, 3]) for each in (query, key, value))
    scores = tape.dot(query, key, [0, 1], [3], [3])
    scores = tape.divide(scores, tape.filled("8.000000e+00", scores))
    rows, columns = (tape.iota((LENGTH, LENGTH), dimension) for dimension in (0, 1))
    is_past = tape.broadcast(tape.compare("GE", rows, columns), scores.shape, [2, 3])
    scores = tape.where(is_past, scores, tape.filled("-3.40282347E+38", scores))
    stable = tape.subtract(scores, _broadcast_back(tape, tape.reduce("maximum", scores, [3]), scores.shape))
    weights = tape.exponential(stable)
    weights = tape.divide(weights, _broadcast_back(tape, tape.reduce("add", weights, [3]), weights.shape))
    mixed = tape.transpose(tape.dot(weights, value, [0, 1], [3], [2]), [0, 2, 1, 3])
    return _add_bias(tape, tape.dot(mixed, layer["project"], [], [2, 3], [0, 1]), layer["project_bias"])


def _layer_norm(tape: Tape, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    centered = tape.subtract(x, _broadcast_back(tape, _mean(tape, x), x.shape))
    variance = _mean(tape, tape.multiply(centered, centered))
    inverse = tape.rsqrt(tape.add(variance, tape.filled("9.99999974E-6", variance)))
    normalized = tape.multiply(centered, _broadcast_back(tape, inverse, x.shape))
    return _add_bias(tape, tape.multiply(normalized, tape.broadcast(scale, x.shape, [2])), bias)


def _gelu(tape: Tape, x: Tensor) -> Tensor:
    cubed = tape.multiply(tape.multiply(x, x), x)
    inner = tape.add(x, tape.multiply(tape.filled("4.471500e-02", x), cubed))
    curve = tape.tanh(tape.multiply(tape.filled("0.797884583", x), inner))
    half = tape.multiply(tape.filled("5.000000e-01", x), tape.add(tape.filled("1.000000e+00", x), curve))
    return tape.multiply(x, half)


def _adamw(tape: Tape, parameter: Parameter, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    def scaled(value: str, tensor: Tensor) -> Tensor:
        return tape.multiply(tape.filled(value, tensor), tensor)

    weight = parameter.weight
    first = tape.add(scaled("0.899999976", parameter.first), scaled("1.000000e-01", gradient))
    squared = tape.multiply(gradient, gradient)
    second = tape.add(scaled("0.949999988", parameter.second), scaled("5.000000e-02", squared))
    root = tape.add(tape.sqrt(second), tape.filled("9.99999993E-9", second))
    decayed = tape.add(tape.divide(first, root), scaled("1.000000e-01", weight))
    return tape.subtract(weight, scaled("3.000000e-04", decayed)), first, second


def _one_hot(tape: Tape, tokens: Tensor) -> Tensor:
    shape = (*tokens.shape, VOCABULARY)
    classes = tape.iota(shape, 2)
    return tape.convert(tape.compare("EQ", tape.broadcast(tokens, shape, [0, 1]), classes), "f32")


def _mean(tape: Tape, x: Tensor) -> Tensor:
    total = tape.reduce("add", x, [2])
    return tape.divide(total, tape.filled("7.680000e+02", total))


def _broadcast_back(tape: Tape, reduced: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Broadcasts a reduced value along the last dimension, via a dimension of size 1."""
    leading = list(range(len(shape) - 1))
    single = tape.broadcast(reduced, (*reduced.shape, 1), leading)
    return tape.broadcast(single, shape, [*leading, len(leading)])


def _add_bias(tape: Tape, x: Tensor, bias: Tensor) -> Tensor:
    single = tape.broadcast(bias, (1, 1, *bias.shape), [2])
    return tape.add(x, tape.broadcast(single, x.shape, [0, 1, 2]))


def _module(
    parameters: list[Parameter],
    inputs: tuple[Tensor, ...],
    results: list[Tensor],
    loss: Tensor,
    body: list[str],
) -> str:
    parameters_with_shardings = [(each.weight, each.sharding) for each in parameters]
    parameters_with_shardings += [(each.first, each.sharding) for each in parameters]
    parameters_with_shardings += [(each.second, each.sharding) for each in parameters]
    arguments = [
        f"{tensor.name}: {tensor.type} {{sdy.sharding = #sdy.sharding<@mesh, [{sharding}]>, "
        f"tf.aliasing_output = {index} : i32}}"
        for index, (tensor, sharding) in enumerate(parameters_with_shardings)
    ]
    arguments += [
        f"{each.name}: {each.type} {{sdy.sharding = #sdy.sharding<@mesh, [{TOKENS[1]}]>}}" for each in inputs
    ]
    types = [
        f'{tensor.type} {{jax.result_info = "result[{index}]", '
        f"sdy.sharding = #sdy.sharding<@mesh, [{sharding}]>}}"
        for index, (tensor, sharding) in enumerate(parameters_with_shardings)
    ]
    types.append(f'{loss.type} {{jax.result_info = "result[{len(parameters_with_shardings)}]"}}')
    returned = [*results, loss]
    return "".join(
        [
            "module @jit_train_step attributes "
            "{mhlo.num_partitions = 64 : i32, mhlo.num_replicas = 1 : i32} {\n",
            '  sdy.mesh @mesh = <["data"=2, "fsdp"=8, "tensor"=4]>\n',
            f"  func.func public @main({', '.join(arguments)}) -> ({', '.join(types)}) {{\n",
            *body,
            f"    return {', '.join(each.name for each in returned)} : "
            f"{', '.join(each.type for each in returned)}\n",
            "  }\n}\n",
        ]
    )


# --- Constants --------------------------------------------------------------------------------------------


def constants(numbers: int = 200_000) -> str:
    """A program of big constants, in the ways in which they are written."""
    random = Random(1)
    data = random.randbytes(8 * numbers).hex().upper()
    floats = ", ".join(f"{random.uniform(-1, 1):.6e}" for _ in range(numbers))
    rows = [", ".join(str(random.randrange(-999, 999)) for _ in range(100)) for _ in range(numbers // 100)]
    integers = "], [".join(rows)
    literals = {
        f"tensor<{2 * numbers}xf32>": f'"0x{data}"',
        f"tensor<{numbers}xf32>": f"[{floats}]",
        f"tensor<{numbers // 100}x100xi32>": f"[[{integers}]]",
    }
    types = ", ".join(literals)
    names = ", ".join(f"%{index}" for index in range(len(literals)))
    lines = [
        f"    %{index} = stablehlo.constant dense<{literal}> : {type}\n"
        for index, (type, literal) in enumerate(literals.items())
    ]
    return (
        f"module {{\n  func.func @main() -> ({types}) {{\n{''.join(lines)}"
        f"    return {names} : {types}\n  }}\n}}\n"
    )


if __name__ == "__main__":
    what, output = sys.argv[1:]
    text = constants() if what == "constants" else training_step(int(what))
    Path(output).write_text(text, encoding="utf-8")
