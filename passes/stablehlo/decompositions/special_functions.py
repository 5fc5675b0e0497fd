"""Error, Bessel, gamma and zeta functions of real numbers, by approximations with tables of coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log, nan, pi

from sdyopt.mlir.ir.types import F64

from .numbers import (
    Number,
    cos,
    exp,
    floor,
    log1p,
    polynomial,
    power,
    remainder,
    sign,
    sin,
    sqrt,
    wide,
)
from .numbers import log as logarithm

# --- Bessel function ----------------------------------------------------------------------


@wide
def bessel_i1e(x: Number) -> Number:
    """exp(-|x|) times the modified Bessel function of order 1, by Chebyshev series on both sides of 8."""
    is_double = x.tensor_type.element is F64
    small_series = _BESSEL_SMALL_F64 if is_double else _BESSEL_SMALL_F32
    large_series = _BESSEL_LARGE_F64 if is_double else _BESSEL_LARGE_F32
    size = abs(x)
    half, two, thirty_two, eight = (x.like(number) for number in (0.5, 2.0, 32.0, 8.0))
    small = size * _chebyshev(half * size - two, small_series)
    large = _chebyshev(thirty_two / size - two, large_series) / sqrt(size)
    result = (size <= eight).select(small, large)
    return sign(x) * result


def _chebyshev(x: Number, coefficients: Sequence[float]) -> Number:
    """The series of Chebyshev polynomials with these coefficients, by Clenshaw's recurrence."""
    latest, previous, before = x.like(0.0), x.like(0.0), x.like(0.0)
    for coefficient in coefficients:
        before, previous = previous, latest
        latest = x * previous - before + x.like(coefficient)
    return (latest - before) * x.like(0.5)


# --- Error functions ----------------------------------------------------------------------


@wide
def erf(x: Number) -> Number:
    """The error function: a quotient of polynomials; in f64 for |x| < 1, and 1 - erfc(x) elsewhere."""
    if x.tensor_type.element is not F64:
        x = x.clamp(-4.0, 4.0)
        square = x * x
        numerator, denominator = polynomial(square, _ERF_P_F32), polynomial(square, _ERF_Q_F32)
        return (x * numerator / denominator).clamp(-1.0, 1.0, like=x)
    small = _small_erf(x)
    one = x.like(1.0)
    large = one - _large_erfc(x)
    return (abs(x) < one).select(small, large)


@wide
def erfc(x: Number) -> Number:
    """1 - erf(x), computed directly for |x| >= 1."""
    large = _large_erfc(x)
    one = x.like(1.0)
    small = one - _small_erf(x)
    return (abs(x) < one).select(small, large)


def _small_erf(x: Number) -> Number:
    square = x * x
    if x.tensor_type.element is not F64:
        return x * polynomial(square, _ERF_T_F32)
    product = x * polynomial(square, _ERF_P_F64)
    return product / polynomial(square, _ERF_Q_F64)


def _large_erfc(x: Number) -> Number:
    """exp(-x²) times a quotient of polynomials, mirrored for negative numbers."""
    is_double = x.tensor_type.element is F64
    square = x * x
    exponent = -square
    if is_double:
        exponential, size = exp(exponent), abs(x)
        first = exponential * polynomial(size, _ERFC_P_F64) / polynomial(size, _ERFC_Q_F64)
        second = exponential * polynomial(size, _ERFC_R_F64) / polynomial(size, _ERFC_S_F64)
        positive = (size < x.like(8.0)).select(first, second)
        underflow = exponent < x.like(-709.78271289338397)
    else:
        size, one = abs(x), x.like(1.0)
        inverse, exponential = one / square, exp(exponent)
        factor = exponential * (one / size)
        two = x.like(2.0)
        is_small = size < two
        first, second = polynomial(inverse, _ERFC_P_F32), polynomial(inverse, _ERFC_R_F32)
        positive = factor * is_small.select(first, second)
        underflow = exponent < x.like(-88.7228394)
    zero = x.like(0.0)
    positive = underflow.select(zero, positive)
    is_negative = x < zero
    mirrored = (x.like(2.0) if is_double else two) - positive
    return is_negative.select(mirrored, positive)


@wide
def erf_inv(x: Number) -> Number:
    """The inverse of erf: x times a polynomial of w = -log(1 - x²), with coefficients by the range of w."""
    w = -log1p(x * -x)
    result = (_erf_inv_f64 if x.tensor_type.element is F64 else _erf_inv_f32)(w, x) * x
    is_one = abs(x).equals(x.like(1.0))
    return is_one.select(x * x.like(inf), result)


def _erf_inv_f32(w: Number, like: Number) -> Number:
    is_small = w < like.like(5.0)
    shifted = w - like.like(2.5)
    root = sqrt(w) - like.like(3.0)
    x = is_small.select(shifted, root)
    rows = zip(_ERF_INV_SMALL_F32, _ERF_INV_LARGE_F32, strict=True)
    small, large = next(rows)
    sum = is_small.select(like.like(small), like.like(large))
    for small, large in rows:
        coefficient = is_small.select(like.like(small), like.like(large))
        sum = coefficient + sum * x
    return sum


def _erf_inv_f64(w: Number, like: Number) -> Number:
    is_small, is_medium = w < like.like(6.25), w < like.like(16.0)
    root = sqrt(w)
    shifted = w - like.like(3.125)
    offset = is_medium.select(w.like(3.25), w.like(5.0))
    x = is_small.select(shifted, root - offset)
    sum = None
    for small, medium, large in zip(_ERF_INV_A_F64, _ERF_INV_B_F64, _ERF_INV_C_F64, strict=False):
        coefficient = is_small.select(like.like(small), like.like(medium))
        coefficient = is_medium.select(coefficient, like.like(large))
        sum = coefficient if sum is None else coefficient + sum * x
    assert sum is not None
    last = len(_ERF_INV_C_F64)
    for small, medium in zip(_ERF_INV_A_F64[last:], _ERF_INV_B_F64[last:], strict=False):
        coefficient = is_small.select(like.like(small), like.like(medium))
        sum = is_medium.select(coefficient + sum * x, sum)
    for small in _ERF_INV_A_F64[len(_ERF_INV_B_F64) :]:
        coefficient = like.like(small)
        sum = is_small.select(coefficient + sum * x, sum)
    return sum


# --- Gamma functions ----------------------------------------------------------------------

# Lanczos' approximation of the gamma function, with g = 7 and 8 coefficients after the first.
_LANCZOS_GAMMA = 7.0
_LANCZOS_BASE = 0.99999999999980993
_LANCZOS = (
    676.520368121885098567009190444019,
    -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,
    -176.61502916214059906584551354,
    12.507343278686904814458936853,
    -0.13857109526572011689554707,
    9.984369578019570859563e-6,
    1.50563273514931155834e-7,
)


@wide
def lgamma(x: Number) -> Number:
    """The logarithm of |gamma(x)|, by Lanczos' approximation, and by reflection for x < 1/2."""
    half = x.like(0.5)
    is_reflected = x < half
    one, z = _lanczos_argument(x, is_reflected)
    sum = x.like(_LANCZOS_BASE)
    for index, coefficient in enumerate(_LANCZOS):
        numerator = x.like(coefficient)
        sum = sum + numerator / (z + x.like(index + 1))
    shift = x.like(_LANCZOS_GAMMA + 0.5)
    t = shift + z
    log_shift = x.like(log(_LANCZOS_GAMMA + 0.5))
    log_t = log_shift + log1p(z / shift)
    quotient = t / log_t
    product = (z + half - quotient) * log_t
    log_sum = logarithm(sum)
    log_gamma = x.like((log(2) + log(pi)) / 2) + product + log_sum
    size = abs(x)
    fraction = size - floor(size)
    is_past_half = half < fraction
    fraction = is_past_half.select(one - fraction, fraction)
    log_sine = logarithm(sin(x.like(pi) * fraction))
    reflected = x.like(log(pi)) - log_sine - log_gamma
    reflected = log_sine.is_finite().select(reflected, -log_sine)
    result = is_reflected.select(reflected, log_gamma)
    is_infinite = abs(x).equals(inf)
    return is_infinite.select(x.like(inf), result)


def _lanczos_argument(x: Number, is_reflected: Number) -> tuple[Number, Number]:
    """The constant 1, and -x or x - 1."""
    negated = -x
    one = x.like(1.0)
    return one, is_reflected.select(negated, x - one)


@wide
def digamma(x: Number) -> Number:
    """The derivative of lgamma: that of Lanczos' approximation, and by reflection for x < 1/2."""
    half = x.like(0.5)
    is_reflected = x < half
    _, z = _lanczos_argument(x, is_reflected)
    zero = x.like(0.0)
    derivative, sum = zero, x.like(_LANCZOS_BASE)
    for index, coefficient in enumerate(_LANCZOS):
        numerator = x.like(coefficient)
        shifted = z + x.like(index + 1)
        derivative = derivative - numerator / (shifted * shifted)
        sum = sum + numerator / shifted
    shift = x.like(_LANCZOS_GAMMA + 0.5)
    t = shift + z
    log_shift = x.like(log(_LANCZOS_GAMMA + 0.5))
    log_t = log_shift + log1p(z / shift)
    quotient = derivative / sum
    gamma_over_t = x.like(_LANCZOS_GAMMA) / t
    result = log_t + quotient - gamma_over_t
    # The cotangent is of x reduced to [-1/2, 1/2], where it is exact.
    reduced = x + abs(floor(x + x.like(0.5)))
    pi_constant = x.like(pi)
    angle = pi_constant * reduced
    cosine, sine = cos(angle), sin(angle)
    reflected = result - pi_constant * cosine / sine
    result = is_reflected.select(reflected, result)
    is_zero = x.equals(zero)
    is_pole = (x < zero) & x.equals(floor(x))
    result = is_pole.select(x.like(nan), result)
    return is_zero.select(x.like(-inf), result)


# --- Zeta functions -----------------------------------------------------------------------

# The numbers (2k)! / B_2k of the Euler-Maclaurin formula, for k = 12, 11, …, 2, 1.
_ZETA = (
    -7.1661652561756670113e18,
    1.8152105401943546773e17,
    -4.5979787224074726105e15,
    1.1646782814350067249e14,
    -2.950130727918164224e12,
    7.47242496e10,
    -1.8924375803183791606e9,
    4.79001600e7,
    -1209600.0,
    30240.0,
    -720.0,
)
_ZETA_TERMS = 9


@wide
def zeta(x: Number, q: Number) -> Number:
    """Hurwitz' zeta function, by the Euler-Maclaurin formula after ten terms of the sum."""
    zero, one = q.like(0.0), q.like(1.0)
    exponent = -x
    sum = power(q, exponent)
    a = q
    for _ in range(_ZETA_TERMS):
        a = a + one
        sum = sum + power(a, exponent)
    a = a + one
    term = power(a, exponent)
    x_one = x.like(1.0)
    integral = term * a / (x - x_one)
    inverse_square = one / (a * a)
    series = zero
    for index, denominator in enumerate(_ZETA):
        factor = 2 * (len(_ZETA) - index)
        product = (x + x.like(factor)) * (x + x.like(factor - 1))
        series = product * (inverse_square * (series + a.like(1.0 / denominator)))
    half = term.like(0.5)
    correction = term * (half + x / a * (a.like(1.0 / 12.0) + series))
    result = sum + integral + correction
    is_negligible = abs(term) < abs(sum) * a.smallest()
    result = is_negligible.select(sum, result)
    not_a_number = x.like(nan)
    result = (x < x_one).select(not_a_number, result)
    is_negative = q <= zero
    is_undefined = is_negative & x.differs(floor(x))
    result = is_undefined.select(not_a_number, result)
    infinity = x.like(inf)
    is_pole = is_negative & q.equals(floor(q))
    two = x.like(2.0)
    is_even = x.equals(floor(x)) & remainder(x, two).equals(zero)
    result = is_pole.select(is_even.select(infinity, not_a_number), result)
    return x.equals(one).select(infinity, result)


@wide
def polygamma(n: Number, x: Number) -> Number:
    """The derivative of digamma of order n: n! times zeta(n + 1, x), with the sign of (-1)ⁿ⁺¹."""
    one, two = x.like(1.0), x.like(2.0)
    sign = two * remainder(n, two) - one
    next = n + one
    factorial = exp(lgamma(next))
    series = zeta(next, x)
    result = sign * factorial * series
    zero = x.like(0.0)
    is_digamma = n.equals(zero)
    result = is_digamma.select(digamma(x), result)
    is_undefined = n.differs(floor(n)) | (n < zero)
    return is_undefined.select(x.like(nan), result)


# --- Coefficients -------------------------------------------------------------------------

# Those of Chebyshev polynomials, and of powers, highest degree first.


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.split()))


_BESSEL_SMALL_F32 = _numbers("""
    9.38153732e-09 -4.44505908e-08 2.00329481e-07 -8.56872e-07 3.47025139e-06 -1.32731639e-05 4.78156508e-05
    -0.000161760821 0.000512286 -0.00151357241 0.0041564228 -0.0105640851 0.0247264486 -0.0529459827
    0.102643661 -0.176416516 0.252587199
""")
_BESSEL_LARGE_F32 = _numbers("""
    -3.83538046e-09 -2.63146891e-08 -2.51223611e-07 -3.88256467e-06 -0.000110588939 -0.00976109784
    0.778576254
""")
_BESSEL_SMALL_F64 = _numbers("""
    2.7779141127610464e-18 -2.111421214358166e-17 1.5536319577362005e-16 -1.1055969477353862e-15
    7.600684294735408e-15 -5.042185504727912e-14 3.223793365945575e-13 -1.9839743977649436e-12
    1.1736186298890901e-11 -6.663489723502027e-11 3.625590281552117e-10 -1.8872497517228294e-09
    9.381537386495773e-09 -4.445059128796328e-08 2.0032947535521353e-07 -8.568720264695455e-07
    3.4702513081376785e-06 -1.3273163656039436e-05 4.781565107550054e-05 -0.00016176081582589674
    0.0005122859561685758 -0.0015135724506312532 0.004156422944312888 -0.010564084894626197
    0.024726449030626516 -0.05294598120809499 0.1026436586898471 -0.17641651835783406 0.25258718644363365
""")
_BESSEL_LARGE_F64 = _numbers("""
    7.517296310842105e-18 4.414348323071708e-18 -4.6503053684893586e-17 -3.209525921993424e-17
    2.96262899764595e-16 3.3082023109209285e-16 -1.8803547755107825e-15 -3.8144030724370075e-15
    1.0420276984128802e-14 4.272440016711951e-14 -2.1015418427726643e-14 -4.0835511110921974e-13
    -7.198551776245908e-13 2.0356285441470896e-12 1.4125807436613782e-11 3.2526035830154884e-11
    -1.8974958123505413e-11 -5.589743462196584e-10 -3.835380385964237e-09 -2.6314688468895196e-08
    -2.512236237870209e-07 -3.882564808877691e-06 -0.00011058893876262371 -0.009761097491361469
    0.7785762350182801
""")
_ERF_P_F32 = _numbers("""
    -2.72614237e-10 2.77068146e-08 -2.10102394e-06 -5.69250624e-05 -0.000734990637 -0.0029546 -0.0160960332
""")
_ERF_Q_F32 = _numbers("""
    -1.45660715e-05 -0.000213374049 -0.00168282702 -0.00737332925 -0.0142647391
""")
_ERF_P_F64 = _numbers("""
    9.604973739870516 90.02601972038427 2232.005345946843 7003.325141128051 55592.30130103949
""")
_ERF_Q_F64 = _numbers("""
    1.0 33.56171416475031 521.3579497801527 4594.323829709801 22629.000061389095 49267.39426086359
""")
_ERFC_P_F64 = _numbers("""
    2.461969814735305e-10 0.5641895648310689 7.463210564422699 48.63719709856814 196.5208329560771
    526.4451949954773 934.5285271719576 1027.5518868951572 557.5353353693994
""")
_ERFC_Q_F64 = _numbers("""
    1.0 13.228195115474499 86.70721408859897 354.9377788878199 975.7085017432055 1823.9091668790973
    2246.3376081871097 1656.6630919416134 557.5353408177277
""")
_ERFC_R_F64 = _numbers("""
    0.5641895835477551 1.275366707599781 5.019050422511805 6.160210979930536 7.4097426995044895
    2.9788666537210022
""")
_ERFC_S_F64 = _numbers("""
    1.0 2.2605286322011726 9.396035249380015 12.048953980809666 17.08144507475659 9.608968090632859
    3.369076451000815
""")
_ERFC_P_F32 = _numbers("""
    0.0232682 -0.138703942 0.368742466 -0.582473278 0.621000468 -0.494451523 0.340488 -0.274112701
    0.563825965
""")
_ERFC_R_F32 = _numbers("""
    -10.477664 12.9772 -7.49551868 2.92101908 -1.01526523 0.42184633 -0.282076746 0.564189494
""")
_ERF_T_F32 = _numbers("""
    7.85386146e-05 -0.00080101937 0.00518832775 -0.0268538129 0.112835854 -0.37612626 1.12837911
""")
_ERF_INV_SMALL_F32 = _numbers("""
    2.81022636e-08 3.43273939e-07 -3.5233877e-06 -4.39150654e-06 0.00021858087 -0.00125372503 -0.00417768164
    0.246640727 1.50140941
""")
_ERF_INV_LARGE_F32 = _numbers("""
    -0.000200214257 0.000100950558 0.00134934322 -0.00367342844 0.00573950773 -0.0076224613 0.00943887047
    1.00167406 2.83297682
""")
_ERF_INV_A_F64 = _numbers("""
    -3.64441206401782e-21 -1.6850591381820166e-19 1.28584807152564e-18 1.1157877678025181e-17
    -1.333171662854621e-16 2.0972767875968562e-17 6.637638134358324e-15 -4.054566272975207e-14
    -8.151934197605472e-14 2.6335093153082323e-12 -1.2975133253453532e-11 -5.415412054294628e-11
    1.0512122733215323e-09 -4.112633980346984e-09 -2.9070369957882005e-08 4.2347877827932404e-07
    -1.3654692000834679e-06 -1.3882523362786469e-05 1.8673420803405714e-4 -7.4070253416626698e-4
    -0.0060336708714301491 0.24015818242558962 1.6536545626831027
""")
_ERF_INV_B_F64 = _numbers("""
    2.2137376921775787e-09 9.075656193888539e-08 -2.7517406297064545e-07 1.8239629214389228e-08
    1.5027403968909828e-06 -4.013867526981546e-06 2.9234449089955446e-06 1.2475304481671779e-05
    -4.7318229009055734e-05 6.828485145957318e-05 2.4031110387097894e-05 -0.0003550375203628475
    0.0009532893797373805 -0.0016882755560235047 0.002491442096107851 -0.003751208507569241
    0.005370914553590064 1.0052589676941592 3.0838856104922208
""")
_ERF_INV_C_F64 = _numbers("""
    -2.7109920616438573e-11 -2.555641816996525e-10 1.5076572693500548e-09 -3.789465440126737e-09
    7.61570120807834e-09 -1.496002662714924e-08 2.914795345090108e-08 -6.771199775845234e-08
    2.2900482228026655e-07 -9.9298272942317e-07 4.526062597223154e-06 -1.968177810553167e-05
    7.599527703001776e-05 -0.00021503011930044477 -0.00013871931833623122 1.0103004648645344
    4.849906401408584
""")
