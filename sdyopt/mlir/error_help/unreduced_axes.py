"""Explanations of unreduced axes: partial results that are dropped, or combined by the wrong reduction."""

from __future__ import annotations

from sdyopt.mlir.error_help.culprit import attribute, first_of, text
from sdyopt.mlir.error_help.table import Case, Explanation, explains

_KIND = r"(?:sum|max|min)"
_NOUNS = {"sum": "sum", "max": "maximum", "min": "minimum"}


@explains(r"dropped unreduced axis '(?P<axis>[^']*)' without a blessed operation")
def _dropped(case: Case) -> Explanation:
    return Explanation(
        help=f"""an operand has partial results along "{case["axis"]}"; insert `sdy.reshard` before, which """
        f"""combines them, or add unreduced={{"{case["axis"]}"}} to the sharding of the result"""
    )


@explains(r"cannot add new unreduced axis '(?P<axis>[^']*)'")
def _added(case: Case) -> Explanation:
    return Explanation(
        [text(f'"{case["axis"]}"', nth=-1)],
        "the operand is not unreduced along this axis, and the operation makes no partial results; remove it",
    )


@explains(rf"cannot introduce '(?P<kind>{_KIND})' unreduced axes\. Expected '(?P<expected>{_KIND})'")
def _introduced(case: Case) -> Explanation:
    kind = "" if case["expected"] == "sum" else case["expected"]
    return Explanation(
        [attribute("unreduced")],
        f"the partial results are those of a {_NOUNS[case['expected']]}; write unreduced={kind}{{…}}",
    )


@explains(rf"cannot reduce '(?P<kind>{_KIND})' unreduced axes\. Expected '(?P<expected>{_KIND})'")
def _reduced(case: Case) -> Explanation:
    name, noun = "" if case.op is None else case.op.name, _NOUNS[case["kind"]]
    kind = "" if case["kind"] == "sum" else f" {case['kind']}"
    written = f"write `{name}{kind} …`" if name.startswith("sdy.") else f"make its body a {noun}"
    return Explanation(
        [first_of(text(case["expected"]), text(name))],
        f"the operand has partial results of a {noun}; {written}",
    )


@explains(
    rf"cannot change the reduction operator of kept unreduced axes from (?P<old>{_KIND}) to (?P<new>{_KIND})"
)
def _changed(case: Case) -> Explanation:
    kind = "" if case["old"] == "sum" else case["old"]
    return Explanation(
        [attribute("unreduced")],
        f"write unreduced={kind}{{…}}, or remove the axes, so that the partial results are combined",
    )


@explains(r"operand must be sharded\.")
def _unknown_operand(_: Case) -> Explanation:
    return Explanation(help="give the operand a sharding, with the axes that are reduced as unreduced axes")


@explains(r"cannot change reduction_op of existing unreduced axes")
def _changed_by_collective(_: Case) -> Explanation:
    return Explanation(
        [attribute("unreduced")], "write the kind of reduction that the sharding of the operand has"
    )


@explains(r"results introduce unreduced axes with conflicting reduction ops")
def _conflicting(_: Case) -> Explanation:
    return Explanation(
        [attribute("unreduced")], "give the unreduced axes of all results one kind of reduction"
    )


@explains(r"out_sharding reduction_op must be SUM")
def _not_a_sum(_: Case) -> Explanation:
    return Explanation(
        [attribute("unreduced")],
        "the other devices get zeros, which change no sum, but a maximum or minimum; write unreduced={…}",
    )
