"""Random custom calls, of targets with and without rules."""

from __future__ import annotations

from collections.abc import Sequence

from tests.random_modules.rules.tensors import size, sizes, tensor, write_op
from tests.random_modules.scopes import OpGenerator, Scope, Tensor, Value

# Targets whose operands and results have equal shardings.
ALIKE = (
    *("annotate_device_placement", "Cholesky", "CompactWyHelper", "InspectSharding"),
    *("InvertDiagBlocksLowerTriangular", "InvertDiagBlocksUpperTriangular", "LayoutConstraint"),
    *("mhlo.erf", "MoveToDevice", "MoveToHost", "X64SplitHigh", "X64SplitLow", "X64Combine"),
    *("xla.megascale.provide_metadata", "_SPMDInternalOp_MultiPad", "_SPMDInternalOp_RotateRight"),
    *("_SPMDInternalOp_MultiRotate", "_SPMDInternalOp_MultiSlice", "_SPMDInternalOp_Wrap"),
)
# Targets without a rule, known ones and some that cause a warning.
OPAQUE = (
    *("sdy_testonly", "tpu_custom_call", "xla_python_cpu_callback", "xla_python_gpu_callback"),
    *("xla_ffi_python_cpu_callback", "xla_ffi_python_gpu_callback", "foo", "Sharding"),
)


def _call(scope: Scope, target: str, operands: Sequence[Value], results: Sequence[Tensor]) -> list[Value]:
    return write_op(scope, "stablehlo.custom_call", operands, results, f'call_target_name = "{target}"')


def alike(scope: Scope) -> None:
    """All tensors have one shape, or the operands have another shape of the same rank."""
    shape = tensor(scope, max_rank=4).type.shape
    other = tuple(size(scope) for _ in shape) if scope.random.random() < 0.2 else shape
    operands = [scope.one_of(Tensor(other)) for _ in range(scope.random.randint(1, 3))]
    _call(scope, scope.random.choice(ALIKE), operands, [Tensor(shape)] * scope.random.randint(1, 3))


def opaque(scope: Scope) -> None:
    value = tensor(scope)
    _call(scope, scope.random.choice(OPAQUE), [value], [Tensor(value.type.shape)])


def random_state(scope: Scope) -> None:
    """Combines two integers, and sometimes generates random bits from the result."""
    half = Tensor((2,), "ui32")
    (state,) = _call(scope, "X64Combine", [scope.one_of(half), scope.one_of(half)], [Tensor((2,), "ui64")])
    if scope.random.random() < 0.6:
        algorithm = "rng_algorithm = #stablehlo<rng_algorithm DEFAULT>"
        results = [state.type, Tensor(tensor(scope).type.shape, "ui32")]
        write_op(scope, "stablehlo.rng_bit_generator", [state], results, algorithm)


def eigenvalues(scope: Scope) -> None:
    value = tensor(scope, min_rank=2)
    shape = value.type.shape
    results = [Tensor(shape), Tensor((*shape[:-2], shape[-1]))]
    _call(scope, "Eigh", [value], results)


def orthogonal(scope: Scope) -> None:
    """A QR decomposition, or the product of Householder reflectors."""
    value = tensor(scope, min_rank=2)
    shape = value.type.shape
    scales = Tensor((*shape[:-2], min(shape[-2:])))
    if scope.random.random() < 0.5:
        _call(scope, scope.random.choice(("Qr", "QrDecompositionBlock")), [value], [Tensor(shape), scales])
    else:
        target = "ProductOfElementaryHouseholderReflectors"
        _call(scope, target, [value, scope.one_of(scales)], [Tensor(shape)])


def largest(scope: Scope) -> None:
    """The largest elements along some dimensions, exact or approximate."""
    value = tensor(scope, min_rank=1)
    shape = value.type.shape
    kept = tuple(dim if scope.random.random() < 0.6 else scope.random.randint(0, dim) for dim in shape)
    results = [Tensor(kept), Tensor(kept, "i32")]
    if scope.random.random() < 0.5:
        _call(scope, "mhlo.topk", [value], results)
        return
    others = [Tensor(shape, "i32"), Tensor(()), Tensor((), "i32")]
    operands = [value, *(scope.one_of(type) for type in others)]
    _call(scope, scope.random.choice(("ApproxTopK", "PartialReduce")), operands, results)


def matrix(scope: Scope) -> None:
    """Adds an argument of rank 2 or 3, which some of the other operations need."""
    scope.new(Tensor(sizes(scope, 2, 3)))


OPERATIONS: dict[OpGenerator, int] = {
    alike: 3,
    opaque: 1,
    random_state: 1,
    eigenvalues: 1,
    orthogonal: 1,
    largest: 2,
    matrix: 1,
}
