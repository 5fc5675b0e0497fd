"""Affine expressions, maps and integer sets, simplified as they are built."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sdyopt.facts import Fact
from sdyopt.ir.attribute import Attribute


class AffineOperator(Enum):
    """The operators of affine expressions; the value is how each is written."""

    ADD = "+"
    MULTIPLY = "*"
    MODULO = "mod"
    FLOOR_DIVIDE = "floordiv"
    CEIL_DIVIDE = "ceildiv"


class AffineExpr(Fact):
    """Base of affine expressions."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class AffineDim(AffineExpr):
    """`d0`: a dimension."""

    position: int


@dataclass(frozen=True, slots=True, eq=False)
class AffineSymbol(AffineExpr):
    """`s0`: a symbol, unknown but fixed."""

    position: int


@dataclass(frozen=True, slots=True, eq=False)
class AffineConstant(AffineExpr):
    """`42`."""

    value: int


@dataclass(frozen=True, slots=True, eq=False)
class AffineBinary(AffineExpr):
    """`lhs operator rhs`. Built with `affine_binary`, which simplifies."""

    operator: AffineOperator
    lhs: AffineExpr
    rhs: AffineExpr


@dataclass(frozen=True, slots=True, eq=False)
class AffineMapAttr(Attribute):
    """`affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>`."""

    num_dims: int
    num_symbols: int
    results: tuple[AffineExpr, ...]

    @property
    def is_identity(self) -> bool:
        return self.num_dims == len(self.results) and all(
            isinstance(result, AffineDim) and result.position == position
            for position, result in enumerate(self.results)
        )


@dataclass(frozen=True, slots=True, eq=False)
class IntegerSetAttr(Attribute):
    """`affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 == 0)>`; each constraint with whether it is `==`."""

    num_dims: int
    num_symbols: int
    constraints: tuple[tuple[AffineExpr, bool], ...]
