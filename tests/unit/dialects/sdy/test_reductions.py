"""Shardings have a kind of reduction as long as they have unreduced axes."""

from sdyopt.mlir.dialects.sdy.axes import AxisRef, ManualAxes
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.sharding import (
    DimensionSharding,
    TensorSharding,
    sharding_text,
    without_manual_axes,
)
from sdyopt.mlir.ir.attribute import SymbolRef

X, Y = AxisRef("x"), AxisRef("y")
MAX = TensorSharding(SymbolRef("mesh"), (DimensionSharding(),), (), (X, Y), ReductionKind.MAX)


def test_the_kind_is_printed_before_the_axes() -> None:
    assert sharding_text(MAX) == '<@mesh, [{}], unreduced=max{"x", "y"}>'


def test_changes_of_other_fields_keep_the_kind() -> None:
    assert MAX.with_mesh(SymbolRef("other")).reduction is ReductionKind.MAX
    assert MAX.with_dims([DimensionSharding((), False)]).closed() is MAX
    assert MAX.with_replicated_axes(()) is MAX


def test_fewer_axes_keep_the_kind_and_no_axes_have_none() -> None:
    assert MAX.with_unreduced_axes((Y,)).reduction is ReductionKind.MAX
    assert MAX.with_unreduced_axes(()) is TensorSharding(SymbolRef("mesh"), (DimensionSharding(),))


def test_axes_may_get_another_kind() -> None:
    assert sharding_text(MAX.with_unreduced_axes((X,), ReductionKind.MIN)) == (
        '<@mesh, [{}], unreduced=min{"x"}>'
    )


def test_a_sharding_in_a_body_has_no_unreduced_manual_axes() -> None:
    assert sharding_text(without_manual_axes(MAX, ManualAxes(("x",)))) == '<@mesh, [{}], unreduced=max{"y"}>'
    assert sharding_text(without_manual_axes(MAX, ManualAxes(("x", "y")))) == "<@mesh, [{}]>"
