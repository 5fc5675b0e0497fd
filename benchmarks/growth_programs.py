"""Programs that grow along one dimension, and the flags that they are run with.

Each function returns the program of a size. A row of `DIMENSIONS` has the function, a size, of which
`growth.STEPS` are multiples, and the flags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle

PROPAGATE = ("-sdy-propagation-pipeline=enable-insert-explicit-collectives=true",)
PARTITION = ("-sdy-partition-pipeline",)
LINT = ("--lint", "--mlir-diagnostic-verbosity-level=errors")
ADVISE = ("--advise", "--advise-jobs=1")
UNREGISTERED = ("--allow-unregistered-dialect",)
_CLEAN = (*UNREGISTERED, "-cse", "-canonicalize")
# The pipelines by which the C++ passes do the same.
REFERENCE_PIPELINES: dict[tuple[str, ...], str] = {
    (): "",
    UNREGISTERED: "",
    PROPAGATE: "builtin.module(sdy-import-pipeline,sdy-user-priority-propagate,"
    "sdy-export-pipeline{enable-insert-explicit-collectives=true})",
    ("-sdy-reshard-to-collectives",): "builtin.module(func.func(sdy-reshard-to-collectives))",
    ("-inline",): "builtin.module(inline)",
    ("-canonicalize",): "builtin.module(canonicalize)",
    _CLEAN: "builtin.module(cse,canonicalize)",
}

_MESH = 'sdy.mesh @mesh = <["x"=2]>\n'
_T = "tensor<8xf32>"
_SHARDING = '#sdy.sharding<@mesh, [{"x"}]>'
_SHARDED = f"{_T} {{sdy.sharding = {_SHARDING}}}"


@dataclass(frozen=True)
class Dimension:
    """A family of programs, whose text grows linearly with the size.

    `hlo` writes the compiled program, for `--compare-hlo`, to the file HLO beside it. `status` is the exit
    status of sdy-opt.
    """

    write: Callable[[int], str]
    size: int
    flags: tuple[str, ...] = ()
    hlo: Callable[[int], str] | None = None
    status: int = 0

    @property
    def reference_pipeline(self) -> str | None:
        """The pipeline by which the C++ passes do the same; None if there is none."""
        return REFERENCE_PIPELINES.get(self.flags)


def _list(items: Iterable[str]) -> str:
    return ", ".join(items)


def _main(body: str, arguments: str = f"%a: {_SHARDED}", result: str = _T, value: str = "%a") -> str:
    return f"{_MESH}func.func @main({arguments}) -> ({result}) {{\n{body}  return {value} : {result}\n}}\n"


def operations(size: int) -> str:
    lines = [f"  %{n} = stablehlo.add {f'%{n - 1}' if n else '%a'}, %a : {_T}\n" for n in range(size)]
    return _main("".join(lines), value=f"%{size - 1}")


def independent_operations(size: int) -> str:
    return _main("".join(f"  %{n} = stablehlo.negate %a : {_T}\n" for n in range(size)))


def matmuls(size: int) -> str:
    matrix = "tensor<8x8xf32>"
    lines = [f"  %{n + 1} = stablehlo.dot %{n}, %0 : ({matrix}, {matrix}) -> {matrix}\n" for n in range(size)]
    first = f"  %0 = stablehlo.broadcast_in_dim %a, dims = [0] : ({_T}) -> {matrix}\n"
    return _main(first + "".join(lines))


def constants(size: int) -> str:
    lines = [
        f"  %c{n} = stablehlo.constant dense<{n}.0> : {_T}\n  %{n} = stablehlo.add %a, %c{n} : {_T}\n"
        for n in range(size)
    ]
    return _main("".join(lines))


def uses_of_a_constant(size: int) -> str:
    lines = [f"  %{n} = stablehlo.add %a, %c : {_T}\n" for n in range(size)]
    return _main(f"  %c = stablehlo.constant dense<1.0> : {_T}\n" + "".join(lines))


def constraints(size: int) -> str:
    lines = [
        f"  %{n} = sdy.sharding_constraint {f'%{n - 1}' if n else '%a'} <@mesh, [{{?}}]> : {_T}\n"
        for n in range(size)
    ]
    return _main("".join(lines), value=f"%{size - 1}")


def reshards(size: int) -> str:
    lines = [
        f"  %{n} = sdy.reshard {f'%{n - 1}' if n else '%a'} <@mesh, [{{{axes}}}]> : {_T}\n"
        for n, axes in zip(range(size), cycle(("", '"x"')), strict=False)
    ]
    return _main("".join(lines), value=f"%{size - 1}")


def arguments(size: int) -> str:
    results, values = _list([_T] * size), _list(f"%a{n}" for n in range(size))
    return _main("", _list(f"%a{n}: {_SHARDED}" for n in range(size)), results, values)


def donated_arguments(size: int) -> str:
    """A step whose state is all of one type."""
    arguments = _list(f"%a{n}: {_T} {{jax.buffer_donor = true}}" for n in range(size))
    lines = "".join(f'  %{n} = stablehlo.negate %a{n} : {_T} loc("m.py":1:1)\n' for n in range(size))
    return _main(lines, arguments, _list([_T] * size), _list(f"%{n}" for n in range(size)))


def sums_of_products(size: int) -> str:
    """Products, each of the one before, that are all summed up."""
    type = "tensor<8x8xf32>"
    products = [f"  %p{n + 1} = stablehlo.dot %p{n}, %p0 : ({type}, {type}) -> {type}\n" for n in range(size)]
    sums = [f"  %s{n + 1} = stablehlo.add %s{n}, %p{n + 1} : {type}\n" for n in range(size)]
    first = "".join(
        f"  %{name}0 = stablehlo.broadcast_in_dim %a, dims = [0] : ({_T}) -> {type}\n" for name in "ps"
    )
    return _main(first + "".join(products + sums), result=type, value=f"%s{size}")


def loop_values(size: int) -> str:
    types, values = _list([_T] * size), _list(f"%i{n}" for n in range(size))
    loop = (
        "  %c = stablehlo.constant dense<true> : tensor<i1>\n"
        f"  %0:{size} = stablehlo.while({_list(f'%i{n} = %a' for n in range(size))}) : {types}\n"
        "  cond { stablehlo.return %c : tensor<i1> } do {\n"
        f"    stablehlo.return {values} : {types}\n  }}\n"
    )
    return _main(loop)


def gathered_values(size: int) -> str:
    """Arguments that are gathered, pass through a loop and are multiplied; each has a role of its own."""
    matrix, values = "tensor<64x64xf32>", range(size)
    types, product = _list([matrix] * size), f"({matrix}, {matrix}) -> {matrix}"
    sharded = f'{matrix} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}'
    gathered = [f"  %g{n} = sdy.sharding_constraint %p{n} <@mesh, [{{}}, {{}}]> : {matrix}\n" for n in values]
    loop = (
        "  %c = stablehlo.constant dense<true> : tensor<i1>\n"
        f"  %r:{size + 1} = stablehlo.while({_list(f'%i{n} = %g{n}' for n in values)}, %i = %g0)"
        f" : {types}, {matrix}\n  cond {{ stablehlo.return %c : tensor<i1> }} do {{\n"
        f"    stablehlo.return {_list(f'%i{n}' for n in values)}, %i : {types}, {matrix}\n  }}\n"
    )
    products = [
        f"  %d{n} = stablehlo.dot_general %r#{n}, {f'%s{n - 1}' if n else '%p0'}, "
        f"contracting_dims = [1] x [0]"
        f" : {product}\n  %s{n} = stablehlo.tanh %d{n} : {matrix}\n"
        for n in values
    ]
    body = "".join((*gathered, loop, *products))
    return _main(body, _list(f"%p{n}: {sharded}" for n in values), matrix, f"%s{size - 1}")


def concatenated_operands(size: int) -> str:
    result = f"tensor<{8 * size}xf32>"
    types = _list([_T] * size)
    op = f"  %0 = stablehlo.concatenate {_list(['%a'] * size)}, dim = 0 : ({types}) -> {result}\n"
    return _main(op, result=result, value="%0")


def rank(size: int) -> str:
    # A tensor has at most 2**62 elements.
    type = f"tensor<{'2x' * min(size, 62)}{'1x' * (size - 62)}f32>"
    sharding = f'#sdy.sharding<@mesh, [{{"x"}}{", {?}" * (size - 1)}]>'
    return _main(
        f"  %0 = stablehlo.add %a, %a : {type}\n", f"%a: {type} {{sdy.sharding = {sharding}}}", type, "%0"
    )


def mesh_axes(size: int) -> str:
    axes = _list(f'"a{n}"=1' for n in range(size))
    sharding = _list(f'"a{n}"' for n in range(size))
    return (
        f"sdy.mesh @mesh = <[{axes}]>\n"
        f"func.func @main(%a: {_T} {{sdy.sharding = #sdy.sharding<@mesh, [{{{sharding}}}]>}}) -> {_T} {{\n"
        f"  %0 = stablehlo.add %a, %a : {_T}\n  return %0 : {_T}\n}}\n"
    )


def meshes(size: int) -> str:
    return "".join(f'sdy.mesh @mesh{n} = <["x"={n + 2}]>\n' for n in range(size)) + _main("")


def rule_factors(size: int) -> str:
    names = [*"ijklmnopqrstuvwxyz", *(f"z_{n + 1}" for n in range(size))][:size]
    dims, sizes = _list(names), _list(f"{name}=2" for name in names)
    type = f"tensor<{'2x' * size}f32>"
    rule = f"#sdy.op_sharding_rule<([{dims}])->([{dims}]) {{{sizes}}}, custom>"
    op = f"  %0 = stablehlo.custom_call @foo(%a) {{sdy.sharding_rule = {rule}}} : ({type}) -> {type}\n"
    return _main(op, f"%a: {type}", type, "%0")


def functions(size: int) -> str:
    body = f"(%a: {_SHARDED}) -> {_T} {{\n  %0 = stablehlo.negate %a : {_T}\n  return %0 : {_T}\n}}\n"
    return _main("") + "".join(f"func.func @f{n}{body}" for n in range(size))


def calls(size: int) -> str:
    lines = [f"  %{n} = call @f({f'%{n - 1}' if n else '%a'}) : ({_T}) -> {_T}\n" for n in range(size)]
    body = f"  %0 = stablehlo.negate %a : {_T}\n  return %0 : {_T}\n"
    callee = f"func.func private @f(%a: {_T}) -> {_T} {{\n{body}}}\n"
    return _main("".join(lines), value=f"%{size - 1}") + callee


def call_chain(size: int) -> str:
    links = [
        f"func.func private @f{n}(%a: {_T}) -> {_T} {{\n  %0 = call @f{n + 1}(%a) : ({_T}) -> {_T}\n"
        f"  return %0 : {_T}\n}}\n"
        for n in range(size)
    ]
    return _call_of_chain(links)


def call_chain_through_loops(size: int) -> str:
    links = [
        f"func.func private @f{n}(%a: {_T}) -> {_T} {{\n"
        "  %c = stablehlo.constant dense<true> : tensor<i1>\n"
        f"  %0 = stablehlo.while(%i = %a) : {_T} cond {{ stablehlo.return %c : tensor<i1> }} do {{\n"
        f"    %1 = func.call @f{n + 1}(%i) : ({_T}) -> {_T}\n"
        f"    stablehlo.return %1 : {_T}\n  }}\n  return %0 : {_T}\n}}\n"
        for n in range(size)
    ]
    return _call_of_chain(links)


def _call_of_chain(functions: Sequence[str]) -> str:
    """A program that calls @f0; each function calls the next, and the last returns its argument."""
    last = f"func.func private @f{len(functions)}(%a: {_T}) -> {_T} {{ return %a : {_T} }}\n"
    return _main(f"  %0 = call @f0(%a) : ({_T}) -> {_T}\n", value="%0") + "".join(functions) + last


def loops(size: int) -> str:
    lines = [
        f"  %{n} = stablehlo.while(%i = %a) : {_T} cond {{ stablehlo.return %c : tensor<i1> }} do {{\n"
        f"    stablehlo.return %i : {_T}\n  }}\n"
        for n in range(size)
    ]
    return _main("  %c = stablehlo.constant dense<true> : tensor<i1>\n" + "".join(lines))


def nested_loops(size: int) -> str:
    opening = [
        f"  %r{n} = stablehlo.while(%i{n} = {f'%i{n - 1}' if n else '%a'}) : {_T} "
        "cond { stablehlo.return %c : tensor<i1> } do {\n"
        for n in range(size)
    ]
    inner = [f"%r{n + 1}" if n + 1 < size else f"%i{n}" for n in range(size)]
    closing = [f"  stablehlo.return {inner[n]} : {_T}\n  }}\n" for n in reversed(range(size))]
    first = "  %c = stablehlo.constant dense<true> : tensor<i1>\n"
    return _main("".join([first, *opening, *closing]), value="%r0")


def manual_computations(size: int) -> str:
    lines = [
        f"  %{n} = {_manual('%a', f'%b{n}')}    sdy.return %b{n} : {_T}\n  }} : ({_T}) -> {_T}\n"
        for n in range(size)
    ]
    return _main("".join(lines))


def nested_manual_computations(size: int) -> str:
    opening = [f"  %r{n} = {_manual(f'%b{n - 1}' if n else '%a', f'%b{n}')}" for n in range(size)]
    inner = [f"%r{n + 1}" if n + 1 < size else f"%b{n}" for n in range(size)]
    closing = [f"  sdy.return {inner[n]} : {_T}\n  }} : ({_T}) -> {_T}\n" for n in reversed(range(size))]
    return _main("".join([*opening, *closing]), value="%r0")


def shifted_values(size: int) -> str:
    """A loop in a manual computation that passes each value on to the next, of which the first differs."""
    values, types = range(size), _list(["tensor<8x8xf32>"] * (size + 1))
    carried = _list(f"%c{n} = {'%b' if n else '%x'}" for n in values)
    sharding = '[<@mesh, [{"x"}, {}]>]'
    return (
        'sdy.mesh @mesh = <["x"=2]>\n'
        "func.func @main(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {\n"
        f"  %r = sdy.manual_computation(%a) in_shardings={sharding} out_shardings={sharding} "
        'manual_axes={"x"} (%x: tensor<8x8xf32>) {\n'
        "    %b = stablehlo.constant dense<0.0> : tensor<8x8xf32>\n"
        "    %p = stablehlo.constant dense<true> : tensor<i1>\n"
        f"    %0:{size + 1} = stablehlo.while({carried}, %d = %b) : {types} cond {{\n"
        "      stablehlo.return %p : tensor<i1>\n    } do {\n"
        f"      stablehlo.return %c0, {_list(f'%c{n}' for n in values)} : {types}\n    }}\n"
        f"    %1 = stablehlo.dot %0#{size}, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
        "    sdy.return %1 : tensor<8x8xf32>\n  } : (tensor<16x8xf32>) -> tensor<16x8xf32>\n"
        "  return %r : tensor<16x8xf32>\n}\n"
    )


def _manual(operand: str, argument: str) -> str:
    sharding = "[<@mesh, [{}]>]"
    return (
        f"sdy.manual_computation({operand}) in_shardings={sharding} out_shardings={sharding} "
        f"manual_axes={{}} ({argument}: {_T}) {{\n"
    )


def blocks(size: int) -> str:
    lines = [f"^b{n}:\n  cf.br ^b{n + 1}\n" for n in range(size)]
    return f"func.func @f() {{\n  cf.br ^b0\n{''.join(lines)}^b{size}:\n  return\n}}\n"


def ifs(size: int) -> str:
    """Ifs of one condition that become one with all results; each uses the result of the one before."""
    lines = [
        f"  %{n} = scf.if %c -> (i32) {{\n"
        + f'    %a = "a"({previous}) : (i32) -> i32\n    scf.yield %a : i32\n  }} else {{\n'
        + f'    %a = "b"({previous}) : (i32) -> i32\n    scf.yield %a : i32\n  }}\n'
        for n in range(size)
        for previous in (f"%{n - 1}" if n else "%x",)
    ]
    results, types = _list(f"%{n}" for n in range(size)), _list(["i32"] * size)
    uses = f'  "use"({results}) : ({types}) -> ()\n'
    return f"func.func @f(%c: i1, %x: i32) {{\n{''.join(lines)}{uses}  return\n}}\n"


def separate_ifs(size: int) -> str:
    """Ifs of one condition with an operation between them, so that they stay."""
    branches = [f'    %a = "{name}"(%x) : (i32) -> i32\n    scf.yield %a : i32\n  }}' for name in "ab"]
    body = " else {\n".join(branches)
    lines = [
        f"  %{n} = scf.if %c -> (i32) {{\n{body}\n" + f'  "use"(%{n}) : (i32) -> ()\n' for n in range(size)
    ]
    return f"func.func @f(%c: i1, %x: i32) {{\n{''.join(lines)}  return\n}}\n"


def rotated_values(size: int) -> str:
    """A loop that neither changes nor uses its values, but passes each one on to the next."""
    types = _list(["i32"] * size)
    rotated = [[*range(1, size), 0] for _ in range(2)]
    condition, yielded = (
        _list(f"%{name}{n}" for n in numbers) for name, numbers in zip("ab", rotated, strict=True)
    )
    return (
        f"func.func @f({_list(f'%x{n}: i32' for n in range(size))}) {{\n"
        f"  %0:{size} = scf.while ({_list(f'%a{n} = %x{n}' for n in range(size))}) : ({types})"
        f' -> ({types}) {{\n    %c = "c"() : () -> i1\n'
        f"    scf.condition(%c) {condition} : {types}\n  }} do {{\n"
        f"  ^bb0({_list(f'%b{n}: i32' for n in range(size))}):\n    scf.yield {yielded} : {types}\n  }}\n"
        "  return\n}\n"
    )


def switch_blocks(size: int) -> str:
    """A switch to blocks that are equal but for what they negate."""
    cases = "".join(f",\n    {n}: ^b{n}(%a : {_T})" for n in range(1, size))
    lines = [
        f"^b{n}(%v{n}: {_T}):\n  %r{n} = stablehlo.negate %v{n} : {_T}\n"
        f"  %s{n} = stablehlo.add %r{n}, %{'ab'[n % 2]} : {_T}\n  cf.br ^end(%s{n} : {_T})\n"
        for n in range(size)
    ]
    switch = f"  cf.switch %c : i32, [\n    default: ^b0(%a : {_T}){cases}\n  ]\n"
    body = f"{switch}{''.join(lines)}^end(%v: {_T}):\n"
    return _main(body, f"%c: i32, %a: {_SHARDED}, %b: {_T}", value="%v")


def uses_in_an_operation(size: int) -> str:
    return f'%0 = "a"() : () -> i32\n"b"({_list(["%0"] * size)}) : ({_list(["i32"] * size)}) -> ()\n'


def operands(size: int) -> str:
    lines = [f'%{n} = "a"() {{n = {n}}} : () -> i32\n' for n in range(size)]
    values = _list(f"%{n}" for n in range(size))
    return "".join(lines) + f'"b"({values}) : ({_list(["i32"] * size)}) -> ()\n'


def results(size: int) -> str:
    return f'%0:{size} = "a"() : () -> ({_list(["i32"] * size)})\n'


def equal_operations(size: int) -> str:
    return '%0 = "a"() : () -> f32\n' + "".join(
        f"%{n + 1} = stablehlo.constant dense<1.0> : {_T}\n" for n in range(size)
    )


def nested_regions(size: int) -> str:
    return '"a"() ({\n' * size + "}) : () -> ()\n" * size


def attributes(size: int) -> str:
    return f'"a"() {{{_list(f"a{n} = {n}" for n in range(size))}}} : () -> ()\n'


def array_elements(size: int) -> str:
    return f'"a"() {{a = [{_list(str(n) for n in range(size))}]}} : () -> ()\n'


def dense_elements(size: int) -> str:
    numbers = _list(f"{n}.5" for n in range(size))
    return f'"a"() {{a = dense<[{numbers}]> : tensor<{size}xf32>}} : () -> ()\n'


def aliases(size: int) -> str:
    definitions = "".join(f"#a{n} = [{f'#a{n - 1}' if n else ''}]\n" for n in range(min(size, 50)))
    uses = "".join(f'"a"() {{a = #a{n % 50}}} : () -> ()\n' for n in range(size))
    return definitions + uses


def locations(size: int) -> str:
    return "".join(f'"a"() : () -> () loc("file{n}":{n}:1)\n' for n in range(size))


def symbols(size: int) -> str:
    return "".join(f"func.func private @f{n}()\n" for n in range(size))


def errors(size: int) -> str:
    return "// -----\n".join(['"a"() : () -> ()\n'] * size)


def chunks(size: int) -> str:
    return "// -----\n".join(['"a"() : () -> ()\n'] * size)


def operations_on_a_line(size: int) -> str:
    return '"a"() : () -> () ' * size


def values_on_a_line(size: int) -> str:
    statements = " ".join(f"%{n} = stablehlo.add %a, %a : {_T}" for n in range(size))
    return f"func.func @main(%a: {_T}) {{ {statements} return }}\n"


def comments(size: int) -> str:
    return "// a comment\n" * size


def layers(size: int) -> str:
    """Layers of a network, whose products are summed along one axis or the other in turn."""
    matrix = "tensor<64x64xf32>"
    sharded = f'{matrix} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}}'
    types = f"({matrix}, {matrix}) -> {matrix}"
    lines = [
        f"  %d{n} = stablehlo.dot {f'%h{n - 1}' if n else '%a'}, %w : {types} {place}\n"
        f'  %h{n} = sdy.sharding_constraint %d{n} <@mesh, [{{"{axis}"}}, {{}}]> : {matrix} {place}\n'
        for n, axis, place in zip(range(size), cycle("xy"), map(_place, range(size)), strict=False)
    ]
    body = f"{''.join(lines)}  return %h{size - 1} : {matrix}\n"
    mesh = 'sdy.mesh @mesh = <["x"=4, "y"=2]>\n'
    return f"{mesh}func.func @main(%a: {sharded}, %w: {sharded}) -> {matrix} {{\n{body}}}\n"


def _place(layer: int) -> str:
    return f'loc("jit(f)/layer{layer}/dot"("train.py":{layer + 1}:4))'


def layers_in_hlo(size: int) -> str:
    """As many all-reduces, each of the result of the one before."""
    lines = [
        f"  %h{n + 1} = f32[64,64]{{1,0}} all-reduce(%h{n}), replica_groups=[4,2]<=[8], to_apply=%add, "
        f'metadata={{op_name="jit(f)/layer{n}/dot" source_file="train.py" source_line={n + 1}}}\n'
        for n in range(size)
    ]
    body = f"  %h0 = f32[64,64] parameter(0)\n{''.join(lines)}"
    return f"HloModule a, num_partitions=8\n\nENTRY %main (p: f32[64,64]) -> f32[64,64] {{\n{body}}}\n"


# The file of `Dimension.hlo`, in the working directory.
HLO = "compiled.hlo"

DIMENSIONS: dict[str, Dimension] = {
    "operations, propagated": Dimension(operations, 8000, PROPAGATE),
    "operations, partitioned": Dimension(operations, 4000, PARTITION),
    "independent operations, propagated": Dimension(independent_operations, 8000, PROPAGATE),
    "products, propagated": Dimension(matmuls, 2000, PROPAGATE),
    "products, partitioned": Dimension(matmuls, 1000, PARTITION),
    "constants, propagated": Dimension(constants, 4000, PROPAGATE),
    "uses of a constant, propagated": Dimension(uses_of_a_constant, 4000, PROPAGATE),
    "constraints, propagated": Dimension(constraints, 4000, PROPAGATE),
    "reshards, lowered": Dimension(reshards, 4000, ("-sdy-reshard-to-collectives",)),
    "arguments, propagated": Dimension(arguments, 1000, PROPAGATE),
    "values of a loop, propagated": Dimension(loop_values, 300, PROPAGATE),
    "values of a loop, partitioned": Dimension(loop_values, 300, PARTITION),
    "concatenated operands, propagated": Dimension(concatenated_operands, 500, PROPAGATE),
    "concatenated operands, partitioned": Dimension(concatenated_operands, 250, PARTITION),
    "rank, propagated": Dimension(rank, 100, PROPAGATE),
    "rank, partitioned": Dimension(rank, 100, PARTITION),
    "axes of a mesh, propagated": Dimension(mesh_axes, 1000, PROPAGATE),
    "meshes, propagated": Dimension(meshes, 1000, PROPAGATE),
    "factors of a rule, propagated": Dimension(rule_factors, 250, PROPAGATE),
    "functions, propagated": Dimension(functions, 500, PROPAGATE),
    "calls of a function, propagated": Dimension(calls, 250, PROPAGATE),
    "chain of calls, propagated": Dimension(call_chain, 200, PROPAGATE),
    "chain of calls, inlined": Dimension(call_chain, 200, ("-inline",)),
    "chain of calls in loops, propagated": Dimension(call_chain_through_loops, 30, PROPAGATE),
    "chain of calls in loops, inlined": Dimension(call_chain_through_loops, 100, ("-inline",)),
    "loops, propagated": Dimension(loops, 500, PROPAGATE),
    "nested loops, partitioned": Dimension(nested_loops, 100, PARTITION),
    "nested loops, merged": Dimension(nested_loops, 100, ("-cse",)),
    "nested loops, checked": Dimension(nested_loops, 100, ("--check",)),
    "manual computations, propagated": Dimension(manual_computations, 200, PROPAGATE),
    "values of a loop in a shard_map, reported": Dimension(shifted_values, 800, ("--report",)),
    "nested manual computations, propagated": Dimension(nested_manual_computations, 40, PROPAGATE),
    "blocks, parsed": Dimension(blocks, 3000),
    "blocks, canonicalized": Dimension(blocks, 3000, ("-canonicalize",)),
    "blocks of a switch, propagated": Dimension(switch_blocks, 1000, PROPAGATE),
    "separate ifs, canonicalized": Dimension(separate_ifs, 2400, (*UNREGISTERED, "-canonicalize")),
    "ifs of a condition, canonicalized": Dimension(ifs, 600, (*UNREGISTERED, "-canonicalize")),
    "values of an scf.while, canonicalized": Dimension(
        rotated_values, 2000, (*UNREGISTERED, "-canonicalize")
    ),
    "uses of a value in an operation": Dimension(uses_in_an_operation, 20000, _CLEAN),
    "operands of an operation": Dimension(operands, 4000, _CLEAN),
    "results of an operation": Dimension(results, 20000, _CLEAN),
    "equal operations, merged": Dimension(equal_operations, 4000, _CLEAN),
    "nested regions": Dimension(nested_regions, 50, UNREGISTERED),
    "attributes of an operation": Dimension(attributes, 10000, UNREGISTERED),
    "elements of an array": Dimension(array_elements, 20000, UNREGISTERED),
    "elements of a tensor": Dimension(dense_elements, 20000, UNREGISTERED),
    "uses of aliases": Dimension(aliases, 4000, UNREGISTERED),
    "locations, printed": Dimension(locations, 4000, (*UNREGISTERED, "--mlir-print-debuginfo")),
    "symbols": Dimension(symbols, 5000),
    "errors": Dimension(errors, 1000, ("--split-input-file",), status=1),
    "chunks": Dimension(chunks, 1000, (*UNREGISTERED, "--split-input-file")),
    "operations on a line": Dimension(operations_on_a_line, 10000, UNREGISTERED),
    "operations with values on a line": Dimension(values_on_a_line, 10000),
    "comments": Dimension(comments, 20000),
    "operations, linted": Dimension(operations, 4000, LINT),
    "operations, advised": Dimension(operations, 1000, ADVISE),
    "meshes, reported": Dimension(meshes, 4000, ("--report",)),
    "donated arguments, reported": Dimension(donated_arguments, 2000, ("--report",)),
    "sums of products, reported": Dimension(sums_of_products, 1000, ("--report",)),
    "reshards, reported": Dimension(reshards, 4000, ("--report",)),
    "reshards, linted": Dimension(reshards, 2000, LINT),
    "reshards, advised": Dimension(reshards, 500, ADVISE),
    "reshards, explained": Dimension(reshards, 4000, ("--explain=%0",)),
    "gathered values of a loop, linted": Dimension(gathered_values, 500, (*LINT, "--topology=tpu-v5e:2x2")),
    "axes of a mesh, linted": Dimension(mesh_axes, 4000, LINT),
    "rank, reported": Dimension(rank, 1000, ("--report",)),
    "rank, linted": Dimension(rank, 1000, LINT),
    "rank, advised": Dimension(rank, 500, ADVISE),
    "collectives, compared": Dimension(layers, 500, (f"--compare-hlo={HLO}",), layers_in_hlo),
}
