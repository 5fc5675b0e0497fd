"""Random linear algebra, Fourier transforms and random bits."""

from __future__ import annotations

from tests.random_modules.rules.tensors import numbers, size, sizes, tensor, write_op, write_op_with_result
from tests.random_modules.scopes import OpGenerator, Scope, Tensor


def cholesky(scope: Scope) -> None:
    extent = size(scope)
    value = scope.one_of(Tensor((*sizes(scope, 0, 2), extent, extent)))
    write_op_with_result(scope, "stablehlo.cholesky", [value], value.type)


def triangular_solve(scope: Scope) -> None:
    batch, rows, columns = sizes(scope, 0, 2), size(scope), size(scope)
    is_left = scope.random.random() < 0.5
    right_side = scope.one_of(Tensor((*batch, *((rows, columns) if is_left else (columns, rows)))))
    matrix = scope.one_of(Tensor((*batch, rows, rows)))
    word = scope.random.choice(("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"))
    properties = (
        f"left_side = {str(is_left).lower()}, lower = true, unit_diagonal = false, "
        f"transpose_a = #stablehlo<transpose {word}>"
    )
    write_op_with_result(
        scope, "stablehlo.triangular_solve", [matrix, right_side], right_side.type, properties
    )


def fft(scope: Scope) -> None:
    """Transforms complex numbers, or between n real and n // 2 + 1 complex numbers."""
    shape = tensor(scope, min_rank=1).type.shape
    count = scope.random.randint(1, min(3, len(shape)))
    half = (*shape[:-1], shape[-1] // 2 + 1)
    kind = scope.random.choice(("FFT", "IFFT", "RFFT", "IRFFT"))
    before, after = {
        "RFFT": (Tensor(shape), Tensor(half, "complex<f32>")),
        "IRFFT": (Tensor(half, "complex<f32>"), Tensor(shape)),
    }.get(kind, (Tensor(shape, "complex<f32>"), Tensor(shape, "complex<f32>")))
    if 0 in shape:
        return
    lengths = numbers(shape[-count:])
    properties = f"fft_type = #stablehlo<fft_type {kind}>, fft_length = {lengths}"
    write_op_with_result(scope, "stablehlo.fft", [scope.one_of(before)], after, properties)


def random_bits(scope: Scope) -> None:
    length = scope.random.choice((2, 3))
    state = scope.one_of(Tensor((length,), "ui64"))
    word = "DEFAULT" if length == 2 else "PHILOX"
    bits = Tensor(tensor(scope).type.shape, "ui32")
    algorithm = f"rng_algorithm = #stablehlo<rng_algorithm {word}>"
    write_op(scope, "stablehlo.rng_bit_generator", [state], [state.type, bits], algorithm)


OPERATIONS: dict[OpGenerator, int] = {cholesky: 2, triangular_solve: 3, fft: 3, random_bits: 2}
