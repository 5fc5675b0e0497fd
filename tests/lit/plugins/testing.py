"""Operations as in MLIR's test dialect: regions with arguments, lists of regions, successors, symbols."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt import plugin

DIALECT = testing = plugin.Dialect("testing")


@testing.op("region_if", plugin.RECURSIVE_EFFECTS)
class RegionIfOp(plugin.Op):
    """Two regions whose blocks get the inputs, and a third one that gets what they return."""

    inputs = plugin.operands(plugin.ANY_TYPE)
    then = plugin.region(plugin.ONE_BLOCK)
    otherwise = plugin.region(plugin.ONE_BLOCK)
    join = plugin.region(plugin.ONE_BLOCK)
    outputs = plugin.results(plugin.ANY_TYPE)

    assembly = plugin.assembly(
        "`(` operands `)` attr-dict-with-keyword `:` functional-type(operands, results) "
        "`then` $then `else` $otherwise `join` $join"
    )

    def verify_regions(self) -> None:
        for region in (self.then, self.otherwise):
            if [argument.type for argument in region.blocks[0].arguments] != list(self.operand_types):
                raise self.op_error("requires the types of its operands as those of its block arguments")


class _RegionIfFlow(plugin.DataFlow):
    """Inputs flow to the first two regions, what these return to the third, and its values to results."""

    def owners(self, op: plugin.Op) -> Sequence[plugin.Value]:
        then, _, join = op.regions
        return (*then.blocks[0].arguments, *join.blocks[0].arguments, *op.results)

    def owner_of_target(self, op: plugin.Op, target: plugin.Value) -> plugin.Value | None:
        if isinstance(target, plugin.BlockArgument) and target.block.parent is op.regions[1]:
            return op.regions[0].blocks[0].arguments[target.index]
        return target

    def sources(self, op: plugin.Op, owner: plugin.Value) -> list[plugin.OpOperand]:
        assert isinstance(owner, plugin.BlockArgument | plugin.OpResult)
        then, otherwise, join = op.regions
        if isinstance(owner, plugin.OpResult):
            return [plugin.terminator_of(join).operand_uses[owner.index]]
        if owner.block.parent is join:
            return [plugin.terminator_of(region).operand_uses[owner.index] for region in (then, otherwise)]
        return [op.operand_uses[owner.index]]

    def other_targets(self, op: plugin.Op, owner: plugin.Value) -> list[plugin.Value]:
        if isinstance(owner, plugin.BlockArgument) and owner.block.parent is op.regions[0]:
            return [op.regions[1].blocks[0].arguments[owner.index]]
        return []


RegionIfOp.data_flow = _RegionIfFlow()


@testing.op("yield", plugin.PURE, plugin.TERMINATOR)
class YieldOp(plugin.Op):
    values = plugin.operands(plugin.ANY_TYPE)
    assembly = plugin.assembly("attr-dict ($values^ `:` type($values))?")


@testing.op("many_regions")
class ManyRegionsOp(plugin.Op):
    """A first region, and any number of others."""

    first = plugin.region()
    others = plugin.regions()
    assembly = plugin.assembly("attr-dict-with-keyword $first (`also` $others^)?")


@testing.op("switch", plugin.TERMINATOR)
class SwitchOp(plugin.Op):
    """Branches to a default block, with an operand, or to one of any number of cases."""

    flag = plugin.operand(plugin.INDEX_VALUE)
    value = plugin.operand(plugin.ANY_TYPE)
    otherwise = plugin.successor(value)
    cases = plugin.successors()
    assembly = plugin.assembly(
        "$flag `default` $otherwise `(` $value `:` type($value) `)` (`cases` $cases^)? attr-dict"
    )


@testing.op("scope", plugin.SYMBOL, plugin.SYMBOL_TABLE, plugin.NO_TERMINATOR, plugin.ISOLATED)
class ScopeOp(plugin.Op):
    """A table of symbols that has a name."""

    sym_name = plugin.attr(plugin.STRING_ATTR)
    sym_visibility = plugin.optional_attr(plugin.STRING_ATTR)
    is_open = plugin.optional_attr(plugin.UNIT_ATTR, name="open")
    body = plugin.region(plugin.ONE_BLOCK)
    assembly = plugin.assembly(
        "custom<SymbolName>($sym_name) custom<UnitKeyword>($is_open) attr-dict-with-keyword $body"
    )


@testing.op("window", plugin.PURE)
class WindowOp(plugin.Op):
    """Lists of static and dynamic sizes, and attributes that are not printed if they have their defaults."""

    input = plugin.operand(plugin.TENSOR)
    sizes = plugin.operands(plugin.INDEX_VALUE)
    static_sizes = plugin.attr(plugin.I64_ARRAY)
    stride = plugin.default_valued_optional_attr(plugin.I32_ATTR, plugin.integer_attr(1, plugin.I32))
    out = plugin.result(plugin.TENSOR)
    assembly = plugin.assembly(
        "$input `sizes` `=` custom<DynamicIndexList>($sizes, $static_sizes) (`stride` $stride^)? attr-dict "
        "`:` type($input) `->` type(results)"
    )


@plugin.crosses_shards(WindowOp)
def window(op: WindowOp, types: object) -> Iterator[plugin.Dim]:
    yield from (plugin.Dim(0, dim) for dim in range(2))


@testing.op("scan", plugin.RECURSIVE_EFFECTS)
class ScanOp(plugin.Op):
    """Goes over the rows of a tensor and returns rows, which no data-flow edge connects."""

    initial = plugin.operand(plugin.TENSOR)
    rows = plugin.operand(plugin.TENSOR)
    body = plugin.region(plugin.ONE_BLOCK)
    last = plugin.result(plugin.TENSOR)
    outputs = plugin.result(plugin.TENSOR)
    assembly = plugin.assembly(
        "`(` $initial `)` `over` $rows attr-dict-with-keyword $body `:` functional-type(operands, results)"
    )


class _ScanFlow(plugin.DataFlow):
    """The first operand, block argument, returned value and result."""

    def owners(self, op: plugin.Op) -> Sequence[plugin.Value]:
        return op.results[:1]

    def owner_of_target(self, op: plugin.Op, target: plugin.Value) -> plugin.Value | None:
        assert isinstance(target, plugin.BlockArgument | plugin.OpResult)
        return op.results[0] if target.index == 0 else None

    def sources(self, op: plugin.Op, owner: plugin.Value) -> list[plugin.OpOperand]:
        return [op.operand_uses[0], plugin.terminator_of(op.regions[0]).operand_uses[0]]

    def other_targets(self, op: plugin.Op, owner: plugin.Value) -> list[plugin.Value]:
        return [op.regions[0].blocks[0].arguments[0]]


ScanOp.data_flow = _ScanFlow()


@testing.op("sort_columns", plugin.PURE)
class SortColumnsOp(plugin.Op):
    input = plugin.operand(plugin.TENSOR)
    out = plugin.result(plugin.TENSOR)
    assembly = plugin.assembly("$input attr-dict `:` type($out, $input)")


@plugin.sharding_rule(SortColumnsOp)
def sort_columns(signature: plugin.OpSignature, builder: plugin.OpShardingRuleBuilder) -> None:
    rows, columns = signature[SortColumnsOp.input].shape
    builder.add_factor(rows, [0], [0], plugin.FactorType.NEED_REPLICATION)
    builder.add_factor(columns, [1], [1])


@testing.op("opaque", plugin.PURE)
class OpaqueOp(plugin.Op):
    """An operation without a sharding rule."""

    input = plugin.operand(plugin.TENSOR)
    out = plugin.result(plugin.TENSOR)
    assembly = plugin.assembly("$input attr-dict `:` type($out, $input)")


@testing.op("block", plugin.ends_with("yield", is_implied=True))
class BlockOp(plugin.Op):
    """An operation whose region needs no terminator in the text."""

    body = plugin.region(plugin.ONE_BLOCK)
    assembly = plugin.assembly("$body attr-dict")
