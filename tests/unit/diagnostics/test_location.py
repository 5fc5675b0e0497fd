"""Locations: interning, MLIR's walk order, resolution to file locations, text."""

from sdyopt.base.diagnostics import (
    CallSite,
    FileLoc,
    FileRange,
    FusedLoc,
    Location,
    NameLoc,
    UnknownLoc,
    call_stack,
    resolve_file_location,
)
from sdyopt.base.diagnostics.location import LazyLocation, Source, fused, lazily_fused, without_offset

A, B, C = FileLoc("a.py", 1, 2), FileLoc("b.py", 3, 4), FileLoc("c.py", 5, 6)


def test_equal_locations_are_one_object() -> None:
    assert FileLoc("a.py", 1, 2) is A
    assert NameLoc("n") is NameLoc("n", UnknownLoc())


def test_the_first_file_location_in_walk_order_is_shown() -> None:
    assert resolve_file_location(FusedLoc((UnknownLoc(), NameLoc("n", CallSite(B, A)), C))) is B
    assert resolve_file_location(FusedLoc((NameLoc("n"), C))) is C
    assert resolve_file_location(NameLoc("n")) is None


def test_call_stack_is_innermost_first() -> None:
    assert call_stack(FusedLoc((A, CallSite(A, NameLoc("n", CallSite(B, C)))))) == [
        NameLoc("n", CallSite(B, C)),
        C,
    ]
    assert call_stack(NameLoc("n", A)) == []


def test_call_stack_is_limited() -> None:
    location: Location = A
    for _ in range(100):
        location = CallSite(A, location)
    assert len(call_stack(location)) == 10


def test_text_of_locations() -> None:
    spelled = {
        UnknownLoc(): "loc(unknown)",
        A: 'loc("a.py":1:2)',
        FileRange("a.py", 1, 2, 1, 4): 'loc("a.py":1:2 to :4)',
        FileRange("a.py", 1, 2, 3, 4): 'loc("a.py":1:2 to 3:4)',
        NameLoc("n"): 'loc("n")',
        NameLoc("n", A): 'loc("n"("a.py":1:2))',
        CallSite(A, B): 'loc(callsite("a.py":1:2 at "b.py":3:4))',
        FusedLoc((A, B)): 'loc(fused["a.py":1:2, "b.py":3:4])',
        NameLoc('é\t"\\'): 'loc("\\C3\\A9\\09\\22\\\\")',
    }
    assert {location: str(location) for location in spelled} == spelled


def test_locations_that_are_fused_when_read_are_as_if_fused_at_once() -> None:
    parts = [FileLoc("a.py", line, 1) for line in range(1, 4000)]
    source = Source("s.mlir", "a\nb\n")
    chain: LazyLocation = (source, 2)
    expected = fused([FileLoc("s.mlir", 2, 1)])
    for part in parts:
        chain = lazily_fused(part, chain)
    expected = fused([*reversed(parts), expected])
    assert without_offset(chain) is expected
    assert without_offset(lazily_fused(A, B, lazily_fused(A, UnknownLoc()))) is FusedLoc((A, B))
    assert without_offset((source, 2)) is None
