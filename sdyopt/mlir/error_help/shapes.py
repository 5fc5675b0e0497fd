"""Explanations of types and shapes that do not match, and of misplaced terminators and uses."""

from __future__ import annotations

from sdyopt.mlir.error_help.table import (
    Case,
    Explanation,
    attribute,
    explains,
    first_of,
    operand_type,
    result_type,
    trailing_types,
)


@explains(r"inferred type\(s\) (?P<inferred>'.*') are incompatible with return type\(s\) of operation")
def _inferred(case: Case) -> Explanation:
    types = case["inferred"].replace("'", "`")
    return Explanation([result_type()], f"write {types}")


@explains(r"failed to infer returned types")
def _not_inferred(_: Case) -> Explanation:
    return Explanation([result_type()])


@explains(r"(?P<word>operand|result) #(?P<index>\d+) must be (?P<what>.*), but got '")
def _constraint(case: Case) -> Explanation:
    step = operand_type if case["word"] == "operand" else result_type
    return Explanation([step(int(case["index"]))])


@explains(r"broadcast_dimensions ")
def _broadcast_dimensions(_: Case) -> Explanation:
    return Explanation(
        [first_of(attribute("dims"), attribute("broadcast_dimensions"))],
        "list, for each dimension of the operand, the dimension of the result, in ascending order",
    )


@explains(r"requires compatible (?:element )?types for all|failed to verify that all of \{.*\} have same ")
def _compatible(_: Case) -> Explanation:
    return Explanation([trailing_types])


@explains(
    r"inferred shape '\[(?P<sizes>[^']*)\]' is incompatible with return type of operation "
    r"'tensor<(?:[\d?*]+x)*(?P<element>[^']*)>'"
)
def _inferred_shape(case: Case) -> Explanation:
    sizes = "".join(f"{size}x" for size in case["sizes"].split(", ") if size)
    return Explanation([result_type()], f"write `tensor<{sizes}{case['element']}>`")


@explains(r"Dimension size mismatch for result axis \S+\. Exp")
def _result_size(_: Case) -> Explanation:
    return Explanation([result_type()])


@explains(r"requires the same element type for all operands")
def _same_element_type(_: Case) -> Explanation:
    return Explanation([trailing_types], "convert one of them with stablehlo.convert")


@explains(
    r"requires the same (?P<what>type|shape) for all operands|"
    r"all non-scalar operands/results must have the same"
)
def _same_type(case: Case) -> Explanation:
    fix = "broadcast one of them with stablehlo.broadcast_in_dim" if case["what"] == "shape" else ""
    return Explanation([trailing_types], fix or "convert or broadcast one of them first")


@explains(r"(?P<word>contracting|batching) dimension sizes must match for lhs/rhs")
def _dot_sizes(case: Case) -> Explanation:
    word = case["word"]
    return Explanation(
        [
            first_of(
                attribute(f"{word}_dims" if word == "contracting" else "batching_dims"),
                attribute("dot_dimension_numbers"),
            )
        ],
        f"pair dimensions of equal size: {word}_dims = [of the left operand] x [of the right operand]",
    )


@explains(
    r"number of output elements \((?P<got>\d+)\) doesn't match expected number of elements "
    r"\((?P<wanted>\d+)\)"
)
def _element_count(case: Case) -> Explanation:
    return Explanation([result_type()], f"write a type with {case['wanted']} elements")


@explains(
    r"type of return operand (?P<index>\d+) \('(?P<got>.*)'\) doesn't match function result type "
    r"\('(?P<wanted>.*)'\)"
)
def _return_type(case: Case) -> Explanation:
    return Explanation(
        [result_type(int(case["index"]))],
        f"return a value of type `{case['wanted']}`, or declare the result as `{case['got']}`",
    )


@explains(
    r"^'[^']*' op operand type mismatch: expected operand type '(?P<wanted>.*)', but provided '(?P<got>.*)' "
    r"for operand number (?P<index>\d+)"
)
def _call_operand(case: Case) -> Explanation:
    return Explanation([operand_type(int(case["index"]))], f"the function takes `{case['wanted']}` here")


@explains(
    r"result type mismatch: expected '(?P<wanted>.*)', but provided '(?P<got>.*)'|"
    r"incorrect number of (?P<what>operands|results) for callee"
)
def _call_signature(case: Case) -> Explanation:
    fix = (
        f"the function returns `{case['wanted']}`"
        if case["wanted"]
        else "compare with the signature of the callee"
    )
    return Explanation([trailing_types], fix)
