"""Named fragments with arguments, and loops of them, as Shardy's MPMD dialect has."""

from __future__ import annotations

from sdyopt import plugin

DIALECT = fragments = plugin.Dialect("fragments")


@plugin.dialect_attribute(fragments, "origin")
class Origin(plugin.Attribute):
    """`#fragments.origin<"f"(2)>`: where a fragment comes from, and how often it was transposed."""

    name: str
    transposes: int = 0
    assembly = plugin.attribute_format(
        "<",
        plugin.string("name"),
        plugin.OptionalParameters("(", plugin.integer("transposes"), ")", default=0),
        ">",
    )


@fragments.op("fragment", plugin.RECURSIVE_EFFECTS, plugin.ISOLATED, plugin.ends_with("fragments.return"))
class FragmentOp(plugin.Op):
    """A part of the program, whose block arguments and results own the shardings."""

    origin = plugin.attr(plugin.of_class(Origin, "origin"))
    inputs = plugin.operands(plugin.TENSOR)
    in_shardings = plugin.optional_attr(plugin.SHARDINGS_ATTR)
    outputs = plugin.results(plugin.TENSOR)
    body = plugin.region(plugin.ONE_BLOCK)

    assembly = plugin.assembly(
        "$origin `(` $inputs `)` attr-dict-with-keyword $body `:` functional-type($inputs, $outputs)"
    )
    data_flow = plugin.SINGLE_BODY


@fragments.op("for", plugin.RECURSIVE_EFFECTS, plugin.ends_with("fragments.return"))
class ForOp(plugin.Op):
    """A loop, whose last block argument is the number of the iteration."""

    inputs = plugin.operands(plugin.TENSOR)
    iterations = plugin.attr(plugin.positive(plugin.I32_ATTR))
    outputs = plugin.results(plugin.TENSOR)
    body = plugin.region(plugin.ONE_BLOCK)

    assembly = plugin.assembly(
        "`(` $inputs `)` `iterations` `=` $iterations attr-dict-with-keyword $body "
        "`:` functional-type($inputs, $outputs)"
    )
    data_flow = plugin.LOOP

    @staticmethod
    def trip_count(signature: plugin.OpSignature) -> int:
        return signature[ForOp.iterations]


@fragments.op("return", plugin.PURE, plugin.TERMINATOR)
class ReturnOp(plugin.Op):
    values = plugin.operands(plugin.TENSOR)
    assembly = plugin.assembly("attr-dict $values `:` type($values)")
