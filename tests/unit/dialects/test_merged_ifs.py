"""A row of `scf.if`s on one condition: merging it at once gives what merging one after another gives."""

import pytest

import sdyopt
from sdyopt.mlir.dialects.scf import if_patterns
from sdyopt.mlir.dialects.scf.conditional import IfOp
from sdyopt.mlir.ir.value import Value

# In each branch of the ifs of a row: its operations, and what it yields.
_BRANCHES = {
    "calls": ("%v = func.call @f() : () -> i32", "%v"),
    "nothing": ("", "%x"),
    "a dead operation": ("%d = arith.remui %x, %y : i32\n func.call @g(%x) : (i32) -> ()", "%y"),
    "what folds": ("%v = arith.muli %x, %zero : i32", "%v"),
    "what is canonicalized": ("%w = arith.addi %x, %one : i32\n %v = arith.addi %w, %one : i32", "%v"),
    "operands in another order": ("%v = arith.muli %one, %x : i32", "%v"),
    "a constant": ("%v = arith.constant 7 : i32", "%v"),
    "the condition": ("func.call @h(%c) : (i1) -> ()\n %v = func.call @f() : () -> i32", "%v"),
    "an if": ("%v = scf.if %c -> i32 { scf.yield %x : i32 } else { scf.yield %y : i32 }", "%v"),
    "the if before": ("func.call @g(BEFORE) : (i32) -> ()", "%x"),
}
# No pattern matches these, if a branch yields what it computes; a constant is moved before the ifs.
_INERT = {"calls", "nothing", "a constant", "the if before"}
_COUNT = 4


def _row(then: str, otherwise: str) -> str:
    """A row of ifs with these branches."""
    lines, before = [], "%x"
    for number in range(_COUNT):
        branches = []
        for name in (then, otherwise):
            ops, value = _BRANCHES[name]
            branches.append(f"{{\n{ops}\nscf.yield {value} : i32\n}}".replace("BEFORE", before))
        before = f"%r{number}"
        lines.append(f"{before} = scf.if %c -> i32 {' else '.join(branches)}")
    results = ", ".join(f"%r{number}" for number in range(_COUNT))
    types = ", ".join(["i32"] * _COUNT)
    return f"""
    func.func private @f() -> i32
    func.func private @g(i32)
    func.func private @h(i1)
    func.func @main(%c: i1, %x: i32, %y: i32) -> ({types}) {{
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      {chr(10).join(lines)}
      return {results} : {types}
    }}
    """


@pytest.mark.parametrize(
    ("then", "otherwise"),
    [pair for name in _BRANCHES for pair in dict.fromkeys([(name, name), ("calls", name), (name, "calls")])],
)
def test_a_row_of_ifs_merges_at_once_as_one_after_another(
    then: str, otherwise: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = _row(then, otherwise)
    merged: list[int] = []
    following = if_patterns._following

    def counted(op: IfOp, condition: Value) -> list[IfOp]:
        found = list(following(op, condition))
        merged.append(len(found))
        return found

    monkeypatch.setattr(if_patterns, "_following", counted)
    at_once = str(sdyopt.parse(text).run("canonicalize"))
    # What no pattern matches is merged in one step.
    is_inert = "calls" in (then, otherwise) and {then, otherwise} <= _INERT
    assert (merged == [_COUNT - 2]) == is_inert
    monkeypatch.setattr(if_patterns, "_following", lambda op, condition: ())
    assert at_once == str(sdyopt.parse(text).run("canonicalize"))
