"""Groups values that play one role, and dimensions that one axis may shard together, such as the batch.

First, values that elementwise operations of equal shape, loops and branches tie together are one class: a
parameter with its gradient and moments, or the activations along the residual connections of all layers. So
are values that one statement of Python constrains, such as an activation and its gradient.
Then classes that are used alike have one role, such as the same weight of each layer. They are found by
colour refinement on the graph of uses: a class starts with the colour of its shape and annotations, and in
each round gets a colour that depends on the operations around it and the colours of their other values.

The factors of sharding rules relate dimensions of operands and results, and so do loops and branches. The
dimensions of the values of one role belong together, too, so that all layers have one group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from math import prod

from sdyopt.analysis.changes.axes import Axes, axes_of_sharding
from sdyopt.analysis.figures.boundary import carried_results
from sdyopt.analysis.figures.execution_counts import ExecutionCounts, entry_functions, functions_in
from sdyopt.analysis.figures.flops import FLOPS
from sdyopt.analysis.figures.source_locations import UserLines, source_location
from sdyopt.base.dataclasses import NamedTuple, dataclass, field
from sdyopt.base.diagnostics.diagnostic import handling
from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicUpdateSliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import DYNAMIC, RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.value_names import name_of, pattern_of
from sdyopt.shardy.record import FunctionResult, Subject
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of

_ROUNDS = 3


class Place(NamedTuple):
    """The place of a sharding: an argument or result of the program, a constraint, or another value."""

    subject: Subject
    shape: tuple[int, ...]
    sharding: TensorSharding | None

    @property
    def axes(self) -> Axes | None:
        """The axes, none without an annotation. None if a PartitionSpec cannot say them."""
        return axes_of_sharding(self.sharding, len(self.shape))

    def is_gathered(self, own: Axes | None) -> bool:
        """Whether a constraint of an input has some of its axes, maybe in other dimensions, and no others."""
        op = self.subject.op if isinstance(self.subject, OpResult) else None
        if not isinstance(op, ShardingConstraintOp) or own is None or self.axes is None:
            return False
        of_input, left = ({name for names in axes for name in names} for axes in (own, self.axes))
        return left < of_input


@dataclass(eq=False)
class ValueClass:
    """Values that are sharded alike. `places` have annotations or may have; other values only `first`."""

    shape: tuple[int, ...]
    first: OpResult | BlockArgument
    arguments: list[Place] = field(default_factory=list)
    results: list[Place] = field(default_factory=list)
    constraints: list[Place] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    colour: int = 0

    @property
    def places(self) -> list[Place]:
        # A result without an annotation gets what propagation finds, unless it is kept as an input.
        results = [result for result in self.results if self.arguments or result.sharding is not None]
        return [*self.arguments, *self.constraints, *results]

    def name_of(self) -> object:
        """The key that classes of one role share: the name without its index, or else the colour."""
        shardings = tuple(dict.fromkeys(place.sharding for place in self.places))
        for place in self.arguments:
            name = name_of(place.subject) if isinstance(place.subject, BlockArgument) else ""
            if pattern_of(name) != name:
                return pattern_of(name), self.shape, shardings
        return self.colour


ClassOf = Callable[[Value], ValueClass | None]


class RoleGroup(NamedTuple):
    """Classes of values that play one role, in the order of the program."""

    classes: tuple[ValueClass, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.classes[0].shape

    @property
    def is_input(self) -> bool:
        """Whether arguments of the program play the role."""
        return bool(self.classes[0].arguments)

    @property
    def is_kept(self) -> bool:
        """Whether the program returns what it was given, such as parameters: both are to be sharded alike."""
        return self.is_input and bool(self.classes[0].results)

    @property
    def places(self) -> list[Place]:
        """The places of its annotations, written or possible; the first values, if it has neither."""
        places = [place for value_class in self.classes for place in value_class.places]
        return places or [Place(value_class.first, value_class.shape, None) for value_class in self.classes]

    def beside(self, subject: Subject | None = None) -> list[Place]:
        """The places that are changed with one of them, or with the inputs.

        Where an input is gathered on purpose, as parameters are for a layer, is not changed with it.
        """
        own = next((place.axes for value_class in self.classes for place in value_class.arguments), None)
        gathered = {place.subject for place in self.places if place.is_gathered(own)}
        chosen = subject in gathered
        return [place for place in self.places if (place.subject in gathered) == chosen]


def roles_of(module: Op) -> list[RoleGroup]:
    """The roles of the values of rank 1 and more of the entry functions, in the order of the program."""
    classes = _Classes(UserLines.of_module(module))
    for function in entry_functions(functions_in(module)):
        classes.add(function)
    result = classes.by_value()
    _colour(result, classes.edges, classes.class_of)
    roles: dict[int, list[ValueClass]] = {}
    colours: dict[object, int] = {}
    for value_class in result:
        # The same weight of each layer has one role, even if the first layer is used otherwise than the last.
        roles.setdefault(colours.setdefault(value_class.name_of(), value_class.colour), []).append(
            value_class
        )
    return [RoleGroup(tuple(role)) for role in roles.values()]


class _Classes:
    """A union-find structure of values. `edges` are the operations between classes, with their values."""

    def __init__(self, lines: UserLines) -> None:
        self._lines = lines
        self._parents: dict[Value, Value] = {}
        self._functions: list[FuncOp] = []
        self._statements: dict[object, Value] = {}
        self.edges: list[Op] = []

    def add(self, function: FuncOp) -> None:
        self._functions.append(function)
        returned = function.entry.terminator
        if isinstance(returned, ReturnOp):
            # A donated argument is what the next step gets.
            for index, number in carried_results(function).items():
                self._unite(function.entry.arguments[index], returned.operand_at(number))
        for op in function.walk():
            for first, second in _ties(op):
                self._unite(first, second)
            statement = statement_of(op, self._lines) if isinstance(op, ShardingConstraintOp) else None
            if isinstance(op, ShardingConstraintOp) and statement is not None:
                # A statement also constrains the gradient, and what it computes in each layer.
                self._unite(self._statements.setdefault(statement, op.output), op.output)
            if op is not function and not op.is_terminator and not is_elementwise(op.signature):
                self.edges.append(op)

    def _find(self, value: Value) -> Value:
        root = value
        while (parent := self._parents.get(root, root)) is not root:
            root = parent
        while value is not root:
            self._parents[value], value = root, self._parents.get(value, root)
        return root

    def _unite(self, first: Value, second: Value) -> None:
        # The representative is the value that comes first.
        one, other = self._find(first), self._find(second)
        if one is not other and _shape(one) == _shape(other):
            self._parents[other] = one

    def by_value(self) -> list[ValueClass]:
        """The classes in the order of the program; `class_of` finds them afterwards."""
        self._classes: dict[Value, ValueClass] = {}
        for function in self._functions:
            self._add_boundary(function)
            for op in function.walk():
                for value in _defined(op):
                    if (value_class := self._class_for(value)) is not None and isinstance(value, OpResult):
                        value_class.ops.append(op)
                        if isinstance(op, ShardingConstraintOp):
                            value_class.constraints.append(Place(value, value_class.shape, op.sharding))
        return list(dict.fromkeys(self._classes.values()))

    def _add_boundary(self, function: FuncOp) -> None:
        for argument, attributes in zip(function.entry.arguments, function.argument_attributes, strict=True):
            if (value_class := self._class_for(argument)) is not None:
                value_class.arguments.append(
                    Place(argument, value_class.shape, _sharding(attributes.get(SHARDING)))
                )
        returned = function.entry.terminator
        if not isinstance(returned, ReturnOp):
            return
        for index, value in enumerate(returned.operands):
            if (value_class := self._class_for(value)) is not None:
                sharding = _sharding(function.result_attributes[index].get(SHARDING))
                value_class.results.append(
                    Place(FunctionResult(function, index), value_class.shape, sharding)
                )

    def _class_for(self, value: Value) -> ValueClass | None:
        if not isinstance(value.type, RankedTensor) or not value.type.shape or DYNAMIC in value.type.shape:
            return None
        root = self._find(value)
        if root not in self._classes:
            assert isinstance(value, OpResult | BlockArgument)
            self._classes[root] = ValueClass(tuple(value.type.shape), value)
        return self._classes[root]

    def class_of(self, value: Value) -> ValueClass | None:
        return self._classes.get(self._find(value))


def statement_of(op: ShardingConstraintOp, lines: UserLines) -> object:
    """The key that constraints of one statement of Python share: JAX cannot change one of them alone.

    What calls the statement does not count: a value that is recomputed has other callers.
    """
    location = source_location(op.location)
    if not location.frames:
        return None
    chosen = lines.chosen(location)
    inner = takewhile(lambda frame: location.at(frame) != chosen, location.frames)
    return (*inner, chosen.file, chosen.line, chosen.column), op.sharding, op.output.type


def _sharding(attribute: object) -> TensorSharding | None:
    return attribute if isinstance(attribute, TensorSharding) else None


def _defined(op: Op) -> Iterator[Value]:
    yield from op.results
    if not isinstance(op, FuncOp):
        yield from (
            argument for region in op.regions for block in region.blocks for argument in block.arguments
        )


def _ties(op: Op) -> Iterator[tuple[Value, Value]]:
    """Pairs of values of an operation that are sharded alike."""
    if is_elementwise(op.signature):
        for operand in op.operands:
            if op.results and _shape(operand) == _shape(op.results[0]) and not is_uniform(operand):
                yield operand, op.results[0]
    elif isinstance(op, DynamicUpdateSliceOp):
        # The cache of a decoder.
        yield op.operands[0], op.results[0]
    elif op.data_flow is not None and not isinstance(op, FuncOp):
        for owner in op.data_flow.owners(op):
            for source in op.data_flow.sources(op, owner):
                yield source.value, owner
            for target in op.data_flow.other_targets(op, owner):
                yield target, owner


def is_uniform(value: Value) -> bool:
    """Whether a value has no tensor of rank 1 or more to be computed from: equal constants are one value."""
    op = value.defining_op
    return op is not None and all(
        not operand_type.shape for operand_type in op.operand_types if isinstance(operand_type, RankedTensor)
    )


def _shape(value: Value) -> object:
    return value.type.shape if isinstance(value.type, RankedTensor) else value.type


def _colour(classes: Sequence[ValueClass], edges: Sequence[Op], class_of: ClassOf) -> None:
    """Gives each class its colour. Equal colours: what is used alike, up to the number of uses."""
    colours: dict[object, int] = {}
    for value_class in classes:
        counts = bool(value_class.arguments), bool(value_class.results), bool(value_class.constraints)
        shardings = tuple(dict.fromkeys(place.sharding for place in value_class.places))
        value_class.colour = colours.setdefault((value_class.shape, counts, shardings), len(colours))
    around: list[tuple[str, list[tuple[int, ValueClass]]]] = []
    for op in edges:
        pairs = ((index, class_of(value)) for index, value in enumerate((*op.operands, *op.results)))
        # JAX numbers the copies of a function.
        name = op.callee.rstrip("0123456789_") if isinstance(op, CallOp) else op.signature.name
        around.append(
            (name, [(index, value_class) for index, value_class in pairs if value_class is not None])
        )
    for _ in range(_ROUNDS):
        seen: dict[ValueClass, set[object]] = {value_class: set() for value_class in classes}
        for name, result in around:
            signature = tuple((index, value_class.colour) for index, value_class in result)
            for index, value_class in result:
                seen[value_class].add((name, index, signature))
        refined: dict[object, int] = {}
        new = [
            refined.setdefault((value_class.colour, frozenset(seen[value_class])), len(refined))
            for value_class in classes
        ]
        for value_class, colour in zip(classes, new, strict=True):
            value_class.colour = colour


_Dim = tuple[Value, int]


@dataclass(eq=False)
class DimensionGroup:
    """Dimensions of values. `work` are the multiplications of the products that have one of them."""

    first: _Dim
    work: int = 0


class Dimensions:
    """The groups of the dimensions of a program. `operands` are those of the operands of all products."""

    def __init__(self, module: Op, roles: Sequence[RoleGroup]) -> None:
        self._parents: dict[_Dim, _Dim] = {}
        self._groups: dict[_Dim, DimensionGroup] = {}
        products: list[tuple[Op, OpShardingRule]] = []
        counts = ExecutionCounts(module)
        with handling(lambda _: None):  # operations without a rule relate nothing
            for function in entry_functions(functions_in(module)):
                for op in function.walk():
                    self._add(op)
                    if type(op) in FLOPS and (rule := sharding_rule_of(op)) is not None:
                        products.append((op, rule))
        for role in roles:
            for value_class in role.classes:
                for place in value_class.arguments:
                    assert not isinstance(place.subject, FunctionResult)
                    self._unite_values(role.classes[0].first, place.subject)
                self._unite_values(role.classes[0].first, value_class.first)
        self.operands: list[list[DimensionGroup]] = []
        for op, rule in products:
            times = counts.times(op)
            size = prod(rule.factor_sizes) * (1 if times is None else times.high)
            dimension_groups = [self._of_value(operand) for operand in op.operands]
            self.operands += dimension_groups
            for group in dict.fromkeys(group for groups in dimension_groups for group in groups):
                group.work += size

    def of(self, role: RoleGroup) -> list[DimensionGroup]:
        """The group of each dimension of the values of a role."""
        return self._of_value(role.classes[0].first)

    def _of_value(self, value: Value) -> list[DimensionGroup]:
        rank = value.type.rank if isinstance(value.type, RankedTensor) else 0
        return [self._group((value, dim)) for dim in range(rank)]

    def _group(self, dim: _Dim) -> DimensionGroup:
        root = self._find(dim)
        return self._groups.setdefault(root, DimensionGroup(root))

    def _find(self, dim: _Dim) -> _Dim:
        root = dim
        while (parent := self._parents.get(root, root)) is not root:
            root = parent
        while dim is not root:
            self._parents[dim], dim = root, self._parents.get(dim, root)
        return root

    def _unite(self, first: _Dim, second: _Dim) -> None:
        one, other = self._find(first), self._find(second)
        if one != other:
            self._parents[other] = one

    def _unite_values(self, first: Value, second: Value) -> None:
        if isinstance(first.type, RankedTensor) and isinstance(second.type, RankedTensor):
            for dim in range(min(first.type.rank, second.type.rank)):
                self._unite((first, dim), (second, dim))

    def _add(self, op: Op) -> None:
        """Unites the dimensions that an operation relates."""
        if op.data_flow is not None and not isinstance(op, FuncOp):
            for owner in op.data_flow.owners(op):
                for source in op.data_flow.sources(op, owner):
                    self._unite_values(source.value, owner)
                for target in op.data_flow.other_targets(op, owner):
                    self._unite_values(target, owner)
        elif op.results and (rule := sharding_rule_of(op)) is not None:
            special = {*rule.need_replication, *rule.permutation}
            for first, *rest in _related(op, rule, lambda factor: factor not in special):
                for dim in rest:
                    self._unite(first, dim)


def _related(op: Op, rule: OpShardingRule, is_used: Callable[[int], bool]) -> Iterator[list[_Dim]]:
    """The dimensions of each factor, where it is the major-most one; not those of constants."""
    pairs_by_number: dict[int, list[_Dim]] = {}
    for value, mapping in zip((*op.operands, *op.results), rule.tensors, strict=True):
        if is_uniform(value):
            continue
        for number, dim in enumerate(mapping.dims):
            factor = next((factor for factor in dim.factors if rule.factor_sizes[factor] > 1), None)
            if factor is not None and is_used(factor):
                pairs_by_number.setdefault(factor, []).append((value, number))
    yield from pairs_by_number.values()
