"""Explanations of shardings, meshes and unreduced axes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.asm.lexical import symbol_text
from sdyopt.mlir.dialects.sdy.axes import ManualAxes
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.error_help.names import symbol_help
from sdyopt.mlir.error_help.table import (
    Case,
    Explanation,
    Narrowing,
    argument,
    attribute,
    brackets,
    did_you_mean,
    explains,
    first_of,
    item,
    item_of,
    list_after,
    listed,
    result,
    sentences,
    text,
    within,
)
from sdyopt.mlir.ir.attribute import nested_attributes
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import FUNCTION

# How a message about one of several shardings says which value it is about.
_VALUE = re.compile(
    r"(?P<word>arg|result|operand|in_shardings|out_shardings) (?:(?P<index>\d+) )?- "
    r"|(?P<group>operand|result) (?:shape|sharding)[^.]{0,80} at index (?P<at>\d+)"
)
_PER_VALUE = "#sdy.sharding_per_value"
_LISTS = {"operand": "in_shardings", "in_shardings": "in_shardings", "out_shardings": "out_shardings"}


def _value(case: Case) -> list[Narrowing]:
    """The steps to the sharding of the value that the message names; none if it names no value."""
    match = _VALUE.search(case.match.string)
    if match is None:
        return []
    word, index = match["word"] or match["group"], int(match["index"] or match["at"] or 0)
    if case.op is not None and FUNCTION in case.op.traits:
        return [within(argument(index) if word == "arg" else result(index), attribute("sdy.sharding"))]
    lists = [item_of(_LISTS.get(word, "out_shardings"), index), item_of(_PER_VALUE, index)]
    return [first_of(*lists)]


def _in_value(case: Case, *steps: Narrowing) -> list[Narrowing]:
    """Steps within the sharding of the value that the message names, or within the whole statement."""
    value = _value(case)
    return [first_of(within(*value, *steps), *value)]


# The list of dimension shardings: the first list in square brackets; in a collective, which lists axes first,
# that after `out_sharding`.
_DIMENSIONS = first_of(list_after("out_sharding"), brackets("["))


def _dimension(case: Case, index: str) -> list[Narrowing]:
    return _in_value(case, _DIMENSIONS, item(int(index)))


# --- Axes -------------------------------------------------------------------------------------


@explains(r'unknown (?:manual )?axis(?: name)?: "(?P<axis>[^"]*)"')
def _unknown_axis(case: Case) -> Explanation:
    axis = case["axis"]
    return Explanation([*_value(case), text(f'"{axis}"')], _axis_help(case, axis))


def _axis_help(case: Case, axis: str) -> str:
    sharding = next((s for s in _shardings(case.op) if any(a.name == axis for a in s.axis_refs)), None)
    sharding = sharding or next(_shardings(case.op), None)
    mesh = None if sharding is None or case.op is None else mesh_of(sharding, case.op)
    if mesh is None or sharding is None:
        return ""
    names = [axis.name for axis in mesh.axes]
    return sentences(
        did_you_mean(axis, names, lambda name: f'"{name}"'), f"{_mesh_name(sharding)} has {_axes(mesh)}"
    )


def _shardings(op: Op | None) -> Iterator[TensorSharding]:
    """The shardings in the attributes of an operation."""
    if op is not None:
        for dictionary in (op.inherent_attributes(), op.attributes):
            for nested_attribute in nested_attributes(dictionary):
                if isinstance(nested_attribute, TensorSharding):
                    yield nested_attribute


def _mesh_name(sharding: TensorSharding) -> str:
    return "the mesh" if sharding.mesh_name is None else symbol_text(sharding.mesh_name)


def _axes(mesh: Mesh) -> str:
    if not mesh.axes:
        return "no axes"
    axes = listed(f'"{axis.name}"={axis.size}' for axis in mesh.axes)
    return f"the axes {axes}"


@explains(r'duplicate axis ref: (?P<axis>"[^"]*"(?::\(\d+\)\d+)?)')
def _duplicate_axis(case: Case) -> Explanation:
    return Explanation(
        _in_value(case, _second(case["axis"])), "an axis shards at most one dimension; remove one of the two"
    )


def _second(wanted: str) -> Narrowing:
    """The second occurrence of a text; the first if there is no second."""
    return first_of(text(wanted, 1), text(wanted))


@explains(r'duplicate axis name: (?P<axis>"[^"]*")')
def _duplicate_mesh_axis(case: Case) -> Explanation:
    return Explanation([_second(case["axis"])], f"give one of the two axes another name than {case['axis']}")


@explains(r"sub-axis [^:]*: (?P<axis>\"[^\"]*\":\(\d+\)\d+)")
def _sub_axis(case: Case) -> Explanation:
    return Explanation(
        [*_value(case), text(case["axis"])],
        '`"axis":(P)S` is the sub-axis of size S after sub-axes of total size P; '
        "P times S divides the size of the axis",
    )


@explains(r'both sub-axis and full-axis are used for axis name: (?P<axis>"[^"]*")')
def _sub_and_full(case: Case) -> Explanation:
    return Explanation([*_value(case), text(case["axis"])], "use the whole axis once, or only sub-axes of it")


@explains(r"(?P<word>replicated|unreduced) axes are not ordered w\.r\.t\. mesh")
def _not_in_mesh_order(case: Case) -> Explanation:
    sharding = next(_shardings(case.op), None)
    mesh = None if sharding is None or case.op is None else mesh_of(sharding, case.op)
    order = f": {_axes(mesh).removeprefix('the axes ')}" if mesh is not None else ""
    return Explanation(
        _in_value(case, attribute(case["word"])), f"write the axes in the order of the mesh{order}"
    )


@explains(r'operates on axis (?P<axis>"[^"]*") which is already bound by a parent')
def _bound_axis(case: Case) -> Explanation:
    return Explanation(
        [*_value(case), text(case["axis"])],
        f"inside of the computation that is manual along {case['axis']}, tensors are shards along it; "
        "remove the axis",
    )


# --- Meshes -----------------------------------------------------------------------------------


@explains(r"unknown mesh: (?P<mesh>@\S+)")
def _unknown_mesh(case: Case) -> Explanation:
    name = case["mesh"]
    help = symbol_help(case, name[1:].strip('"'), "sdy.mesh")
    if help.startswith("the module has no"):
        help = f'define the mesh at the start of the module: `sdy.mesh {name} = <["x"=2, "y"=4]>`'
    return Explanation([*_value(case), text(name)], help)


@explains(
    r"total product of axis sizes must match total number of device ids, got: (?P<size>\d+) != (?P<ids>\d+)"
)
def _device_count(case: Case) -> Explanation:
    return Explanation(
        [attribute("device_ids")],
        f"list {case['size']} device ids, or none: the default is 0 to {int(case['size']) - 1}",
    )


@explains(r"sorted device ids must be iota")
def _device_ids(_: Case) -> Explanation:
    return Explanation([attribute("device_ids")], "each device id from 0 up occurs once")


@explains(r"axis size must be at least 1, got")
def _axis_size(_: Case) -> Explanation:
    return Explanation(help="an axis has one device or more")


# --- Ranks, dimensions, values ----------------------------------------------------------------


@explains(r"sharding doesn't match tensor rank: (?P<got>\d+) != (?P<rank>\d+)")
def _wrong_rank(case: Case) -> Explanation:
    rank = int(case["rank"])
    return Explanation(
        _in_value(case, _DIMENSIONS),
        f"the tensor has {counted(rank, 'dimension')}: write {counted(rank, 'dimension sharding')}, "
        "`{}` for one that is not sharded",
    )


@explains(r"shardings don't match number of values: (?P<got>\d+) shardings vs (?P<values>\d+) values")
def _sharding_count(case: Case) -> Explanation:
    word = re.search(r"(operand|result|in_shardings|out_shardings) shardings don't", case.match.string)
    name = "" if word is None else _LISTS.get(word[1], "out_shardings")
    return Explanation(
        [first_of(list_after(_PER_VALUE), list_after(name), list_after("out_shardings"))],
        f"write one sharding for each value: {case['values']}",
    )


@explains(r"dim (?P<dim>\d+) is empty and closed but has a priority")
def _priority_of_empty(case: Case) -> Explanation:
    return Explanation(
        _dimension(case, case["dim"]),
        "remove the priority, or open the dimension: `{?}`",
    )


@explains(r"dim (?P<dim>\d+) with size (?P<size>\d+) is not divisible by its sharded size (?P<divisor>\d+)")
def _not_divisible(case: Case) -> Explanation:
    return Explanation(
        _dimension(case, case["dim"]),
        f"shard the dimension along axes whose sizes divide {case['size']}, or pad it to a multiple of "
        f"{case['divisor']}",
    )


@explains(r"should have a sharding attribute of type (?P<type>TensorSharding\w*)")
def _wrong_sharding_attribute(case: Case) -> Explanation:
    is_list = case["type"] == "TensorShardingPerValueAttr"
    form = "#sdy.sharding_per_value<[<@mesh, […]>]>" if is_list else "#sdy.sharding<@mesh, […]>"
    where = "an operation" if is_list else "an argument or result of a function"
    return Explanation(
        _value(case) or [attribute("sdy.sharding")], f"on {where} write `sdy.sharding = {form}`"
    )


# --- Manual computations and collectives ------------------------------------------------------


@explains(
    r"region (?P<word>operand|result) shape at index \d+ must match\. Expected local shape '(?P<type>[^']*)'"
)
def _local_shape(case: Case) -> Explanation:
    # The verifier checks the shapes before the names of the axes.
    if (axis := _undefined_manual_axis(case.op)) is not None:
        return Explanation([text(f'"{axis}"')], _axis_help(case, axis))
    return Explanation(
        _value(case),
        f"inside of the body, values have the shape of a shard along the manual axes: `{case['type']}`",
    )


def _undefined_manual_axis(op: Op | None) -> str | None:
    """The first manual axis that the mesh lacks."""
    sharding = next(_shardings(op), None)
    mesh = None if sharding is None or op is None else mesh_of(sharding, op)
    if op is None or mesh is None:
        return None
    manual = (
        nested_attribute
        for nested_attribute in nested_attributes(op.inherent_attributes())
        if isinstance(nested_attribute, ManualAxes)
    )
    known = {axis.name for axis in mesh.axes}
    return next((name for axes in manual for name in axes.names if name not in known), None)


@explains(r"must have all manual axes come before free axes in its dimension sharding at index (?P<dim>\d+)")
def _manual_first(case: Case) -> Explanation:
    return Explanation(_dimension(case, case["dim"]), "write the manual axes first in the dimension")


@explains(r"result sharding doesn't match expected sharding (?P<axes>\[.*\]) on dimension (?P<dim>\d+)")
def _collective_result(case: Case) -> Explanation:
    axes = case["axes"][1:-1]
    return Explanation(
        _dimension(case, case["dim"]),
        f"the collective produces `{{{axes}}}` here; write it, or change the axes of the collective",
    )


@explains(r"can't apply (?P<word>\S+) axis (?P<axis>\S+) to operand sharding on dimension (?P<dim>\d+)")
def _collective_axis(case: Case) -> Explanation:
    return Explanation(
        [within(brackets("["), item(int(case["dim"])))],
        f"the axes of the operand's dimension {case['dim']} do not end with this axis",
    )


_KIND = r"(?:sum|max|min)"
_NOUNS = {"sum": "sum", "max": "maximum", "min": "minimum"}


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
