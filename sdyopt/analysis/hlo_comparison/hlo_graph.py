"""HLO text as a graph: the instructions of each computation, with those of fusions in place of the fusions.

    %f = f32[4] fusion(%all-reduce, %offset), calls=%fused     a dynamic-slice of %all-reduce at %offset

So the uses of a value are the operations that compute with it. Tuples and the ends of asynchronous operations
are looked through: the uses of an element are its own. What is fused with others, or runs beside others, is
where it starts, once:

    %s = (…) fusion(%x), calls=%start      %all-gather.1 = all-gather(%p), channel_id=4, AsyncCollectiveStart
    %t = (…) fusion(%s, %y), calls=%step   %all-gather.2, channel_id=4, beside a product: the same
    %f = f32[2] fusion(%x), kind=kCustom, calls=%all-reduce-scatter        a reduce-scatter
    %u = (…) custom-call-update(%v, %x), where %v starts %called           what %called does with %x
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import prod

from sdyopt.base.dataclasses import NamedTuple

_COMPUTATION = re.compile(r"(ENTRY\s+)?%?([\w.-]+)\s*\((?=.*\{\s*$).*?\)\s*->")
_INSTRUCTION = re.compile(r"\s*+(ROOT )?%?([\w.-]++) = ")
_OPCODE = re.compile(r" ?([\w-]+)\(")
_OPERAND = re.compile(r"([A-Za-z_][\w.-]*+)(?:#(\d{1,9}))?")
_DIMS = re.compile(r"\b\w++\[([\d,]*+)\]")
_PARENTHESES = re.compile(r"[()]")
_CALLED = re.compile(
    r"\b(body|condition|to_apply|calls|called_computations|true_computation|false_computation"
    r"|branch_computations)=(\{[^{}]*+\}|%?[\w.-]++)"
)
_INDEX = re.compile(r"\bindex=(\d{1,9})")
_CHANNEL = re.compile(r"\bchannel_id=(\d{1,18})")
COLLECTIVES = (
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "all-to-all",
    "ragged-all-to-all",
    "collective-permute",
)
_COLLECTIVE_STARTS = tuple(f"{name}-start" for name in COLLECTIVES)
# They keep each element; its position may be another one.
REARRANGE = ("bitcast", "reshape", "copy", "transpose")
_LOOKED_THROUGH = ("optimization-barrier", "copy-done")
# The callee of these is part of their caller, as is that of what starts asynchronously.
_INLINED = ("fusion", "call", "async-start")
_ROLES = ("calls", "to_apply", "called_computations")
# Calls with which TPU writes what is an operation elsewhere.
_CALLS = {'"ZeroCrop"': "pad", '"ConcatBitcast"': "concatenate"}
_TARGET = re.compile(r'\bcustom_call_target=("\w++")')
_ASYNC_START, _ASYNC_DONE = '"AsyncCollectiveStart"', '"AsyncCollectiveDone"'
# GPU has one computation for equal fusions, so that a computation is copied, but not as often as it could be.
_MAX_COPIED = 1 << 16
# HLO of XLA nests few fusions.
_MAX_DEPTH = 64
_MAX_USES = 1 << 22
# More elements than any memory has.
MAX_SIZE = 1 << 62


class Instruction:
    """An instruction: the text of its type, of its operands and of what follows them.

    `uses` has the users of each element of its result, by number; -1 for all of it. `parts` has the
    attributes of the instructions that take an element. A `return` uses the result of a computation.
    """

    __slots__ = ("arguments", "attributes", "name", "opcode", "operands", "parts", "type", "uses")

    def __init__(self, name: str, type: str, opcode: str, arguments: str, attributes: str) -> None:
        self.name = name
        self.type = type
        self.opcode = opcode
        self.arguments = arguments
        self.attributes = attributes
        self.operands: list[HloValue] = []
        self.uses: dict[int, list[tuple[Instruction, int]]] = {}
        self.parts: dict[int, str] = {}

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions; those of the first array of a tuple. One if they are too large."""
        match = _DIMS.search(self.type)
        try:
            return () if match is None else sizes_of(match[1])
        except OverflowError:
            return (MAX_SIZE,)

    @property
    def elements(self) -> int:
        """The number of elements; of the first array of a tuple."""
        return prod(self.shape)

    def identity(self) -> tuple[str, str, str]:
        """What copies of a collective in several fusions have in common: the channel, and what it does."""
        channel, shape = _CHANNEL.search(self.attributes), _DIMS.search(self.type)
        return self.opcode, "" if shape is None else shape[0], "" if channel is None else channel[1]

    def inlined_callee(self) -> str:
        """The computation that could take the place of an instruction; "" if none could."""
        is_start = self.opcode.endswith("-start") and self.opcode not in _COLLECTIVE_STARTS
        if self.opcode not in _INLINED and not is_start:
            return ""
        calleeses = (callees for role, callees in called_by(self) if role in _ROLES)
        return next((callees[0] for callees in calleeses if len(callees) == 1), "")


def sizes_of(text: str) -> tuple[int, ...]:
    """The sizes of dimensions, `8,16`. Raises OverflowError if no memory has as many elements."""
    sizes = tuple(int(name) if len(name) < 20 else MAX_SIZE for name in text.split(",") if name)
    total = 1
    for size in sizes:
        total *= size
        if total >= MAX_SIZE and 0 not in sizes:
            raise OverflowError(f"an array of {text[:40]} elements is too large")
    return sizes


class HloValue(NamedTuple):
    """The result of an instruction, or an element of it if that is a tuple; -1 for all of it."""

    op: Instruction
    part: int = -1

    @property
    def uses(self) -> list[tuple[Instruction, int]]:
        """The users, each with the number of its operand; those of all elements if it is all of a tuple."""
        uses = self.op.uses
        if self.part < 0 and any(part >= 0 for part in uses):
            return [pair for of_part in uses.values() for pair in of_part]
        return uses.get(self.part, [])


class Computation(NamedTuple):
    """A computation without those that are part of their caller."""

    name: str
    ops: list[Instruction]
    root: HloValue | None


class Call(NamedTuple):
    """An instruction that runs a computation; `role` is the name of the attribute that says so."""

    caller: str
    op: Instruction
    role: str
    callee: str


class _Text:
    """A computation as printed: its instructions and its root, which is the last without a mark."""

    __slots__ = ("has_collective", "has_loop", "ops", "root", "starts")

    def __init__(self, lines: Sequence[str]) -> None:
        self.ops: list[Instruction] = []
        root: Instruction | None = None
        for line in lines:
            if (parsed := _instruction(line)) is not None:
                op, is_root = parsed
                self.ops.append(op)
                root = op if is_root else root
        self.root = root or (self.ops[-1] if self.ops else None)
        self.has_collective = any(
            op.opcode in COLLECTIVES or op.opcode in _COLLECTIVE_STARTS for op in self.ops
        )
        self.has_loop = any(op.opcode in ("while", "conditional") for op in self.ops)
        self.starts = any(_ASYNC_START in op.attributes for op in self.ops)


class HloGraph:
    """The computations of a module by name, in the order of the text, and the calls between them.

    `is_complete`: the text has all of the entry.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.entry = ""
        self.is_complete = False
        text: dict[str, list[str]] = {}
        current: list[str] | None = None
        for line in lines:
            if not line.startswith((" ", "}")) and (match := _COMPUTATION.match(line)) is not None:
                current = text.setdefault(match[2], [])
                self.entry = match[2] if match[1] else self.entry
            elif line.startswith("}"):
                self.is_complete |= current is not None and current is text.get(self.entry)
                current = None
            elif current is not None:
                current.append(line)
        self._text = {name: _Text(lines) for name, lines in text.items()}
        self._started = {
            op.identity()
            for text in self._text.values()
            if text.starts
            for op in text.ops
            if op.opcode in COLLECTIVES
        }
        # What fusions and calls are replaced by, and the computations that are nowhere else.
        self._callees: dict[Instruction, str] = {}
        gone = self._plan()
        self._uses = 0
        self.computations = {name: self._flat(name) for name in self._text if name not in gone}
        self.calls = [
            Call(name, op, role, callee)
            for name, computation in self.computations.items()
            for op in computation.ops
            for role, callees in called_by(op)
            for callee in callees
            if callee in self.computations
        ]

    @property
    def printed(self) -> Iterator[Instruction]:
        """The instructions of the text, those of fusions among them."""
        return (op for text in self._text.values() for op in text.ops)

    def _plan(self) -> set[str]:
        """Chooses the callees that take the place of their calls; returns those that all calls do without."""
        order = {name: number for number, name in enumerate(self._text)}
        sites: dict[str, list[tuple[str, Instruction]]] = {}
        for name, text in self._text.items():
            for op in text.ops:
                callee = op.inlined_callee()
                # A computation is printed before those that call it.
                if order.get(callee, len(order)) < order[name]:
                    sites.setdefault(callee, []).append((name, op))
        sizes = {name: len(text.ops) for name, text in self._text.items()}
        depths = dict.fromkeys(self._text, 0)
        gone, copied = set[str](), 0
        # In the order of the text, so that the size of a callee is known.
        for callee, calls in sorted(sites.items(), key=lambda item: order[item[0]]):
            of_callee = self._text[callee]
            is_apart = of_callee.has_loop or (of_callee.has_collective and len(calls) > 1)
            copies = (len(calls) - 1) * sizes[callee]
            if is_apart or depths[callee] >= _MAX_DEPTH or copied + copies > _MAX_COPIED:
                continue
            copied += copies
            gone.add(callee)
            for caller, op in calls:
                self._callees[op] = callee
                sizes[caller] += sizes[callee]
                depths[caller] = max(depths[caller], depths[callee] + 1)
                self._text[caller].has_collective |= of_callee.has_collective
        return gone

    def _flat(self, name: str) -> Computation:
        expansion = _Expansion(self._text, self._callees, self._started)
        root = expansion.expand(name, None)
        ops = expansion.finished()
        ops_with_return = list(ops)
        if root is not None:
            end = Instruction("", "", "return", "", "")
            end.operands.append(root)
            ops_with_return.append(end)
        for op in ops_with_return:
            if op.opcode != "tuple":
                for number, value in enumerate(op.operands):
                    self._use(value, op, number)
        return Computation(name, ops, root)

    def _use(self, value: HloValue, user: Instruction, number: int) -> None:
        """Adds a use, also of the elements of a tuple."""
        pending, seen = [value], {value}
        for item in pending:
            item.op.uses.setdefault(item.part, []).append((user, number))
            if item.op.opcode != "tuple":
                continue
            self._uses += len(item.op.operands)
            if self._uses > _MAX_USES:
                raise OverflowError("its tuples have more elements than are compared")
            for operand in item.op.operands:
                if operand not in seen:
                    seen.add(operand)
                    pending.append(operand)


class _Expansion:
    """The instructions of one computation, with those of its callees in place of the calls."""

    def __init__(
        self, text: dict[str, _Text], callees: dict[Instruction, str], started: set[tuple[str, str, str]]
    ) -> None:
        self._text = text
        self._callees = callees
        # Collectives that one fusion starts, and others continue.
        self._started = started
        self._ops: list[Instruction] = []
        self._gone: set[Instruction] = set()
        self._starts: dict[tuple[str, str, str], HloValue] = {}
        # Calls that start before they have operands.
        self._waiting: dict[Instruction, str] = {}

    def expand(self, name: str, arguments: list[HloValue] | None) -> HloValue | None:
        """Appends the instructions of a computation, and returns its result."""
        known: dict[str, HloValue] = {}
        text = self._text[name]
        for op in text.ops:
            known[op.name] = self._value(text, op, known, arguments)
        return None if text.root is None else known[text.root.name]

    def finished(self) -> list[Instruction]:
        """The instructions, after what started without an end."""
        for callee in self._waiting.values():
            self.expand(callee, [])
        return [op for op in self._ops if op not in self._gone] if self._gone else self._ops

    def _value(
        self, text: _Text, parsed: Instruction, known: dict[str, HloValue], arguments: list[HloValue] | None
    ) -> HloValue:
        opcode = parsed.opcode
        if opcode == "parameter" and arguments is not None:
            number = (
                int(parsed.arguments) if parsed.arguments.isdecimal() and len(parsed.arguments) < 10 else -1
            )
            if 0 <= number < len(arguments):
                return arguments[number]
        names = [] if opcode in ("constant", "parameter") else _OPERAND.findall(parsed.arguments)
        operands = [
            element_of(known[item], int(part) if part else -1) for item, part in names if item in known
        ]
        if operands and operands[0].op in self._waiting:
            result = self.expand(self._waiting.pop(operands[0].op), operands[1:])
            if result is not None:
                return result
        if operands and (opcode in _LOOKED_THROUGH or opcode.endswith(("-done", "-update"))):
            return operands[0]
        if operands and opcode == "get-tuple-element" and (index := _INDEX.search(parsed.attributes)):
            element = element_of(operands[0], int(index[1]))
            is_placed = "metadata={" in parsed.attributes
            if element.op is operands[0].op and element.part >= 0 and is_placed:
                element.op.parts.setdefault(element.part, parsed.attributes)
            return element
        op = Instruction(parsed.name, parsed.type, opcode, parsed.arguments, parsed.attributes)
        op.operands = operands
        if (callee := self._callees.get(parsed)) is not None:
            if not operands and opcode.endswith("-start"):
                self._waiting[op] = callee
                self._ops.append(op)
                return HloValue(op)
            start = len(self._ops)
            result = self.expand(callee, operands)
            if result is not None:
                if self._text[callee].has_collective:
                    result = self._of_collective(parsed, result, start)
                return result
        elif opcode in COLLECTIVES and arguments is not None and op.identity() in self._started:
            return self._of_start(text, op)
        elif opcode == "custom-call" and (_ASYNC_START in op.attributes or _ASYNC_DONE in op.attributes):
            same = next((operand for operand in operands if operand.op.opcode in COLLECTIVES), None)
            if same is not None and _ASYNC_DONE in op.attributes:
                return same
            if same is not None and same.op.operands:
                # Its first elements are the operand and the result.
                op.opcode, op.operands = "tuple", [same.op.operands[0], same]
        elif opcode == "custom-call" and (target := _TARGET.search(op.attributes)) is not None:
            op.opcode = _CALLS.get(target[1], opcode)
        self._ops.append(op)
        return HloValue(op)

    def _of_start(self, text: _Text, op: Instruction) -> HloValue:
        """The collective of which an instruction of a fusion is a part: itself if it is the start."""
        identity, value = op.identity(), HloValue(op)
        if text.starts:
            self._starts[identity] = value
        elif identity in self._starts:
            return self._starts[identity]
        else:
            # It starts in another computation.
            op.opcode += "-step"
        self._ops.append(op)
        return value

    def _of_collective(self, fusion: Instruction, result: HloValue, start: int) -> HloValue:
        """The result of a fusion that has collectives; they have its place if they have none themselves."""
        for op in self._ops[start:]:
            if op.opcode in COLLECTIVES and "metadata={" not in op.attributes:
                _, name, metadata = fusion.attributes.partition(", metadata={")
                op.attributes += name + metadata
        if fusion.opcode != "fusion" or "kind=kCustom" not in fusion.attributes:
            return result
        slices = result.op.operands if result.op.opcode == "tuple" else [result]
        sums = [
            without_rearranging(value.op.operands[0])
            for value in slices
            if value.op.opcode == "dynamic-slice" and value.op.operands
        ]
        ops = {value.op for value in sums}
        if len(sums) != len(slices) or len(ops) != 1 or sums[0].op.opcode != "all-reduce":
            return result
        # Each device keeps its slices of one all-reduce.
        [op] = ops
        parts = {max(value.part, 0): slice.op for value, slice in zip(sums, slices, strict=True)}
        if sorted(parts) != list(range(len(op.operands))):
            return result
        is_tuple = op.type.startswith("(")
        types = ", ".join(parts[number].type for number in sorted(parts))
        op.opcode, op.type = "reduce-scatter", f"({types})" if is_tuple else types
        self._gone.update(slice.op for slice in slices)
        values = [HloValue(op, value.part) for value in sums]
        if result.op.opcode != "tuple":
            return values[0]
        result.op.operands = values
        return result


def called_by(op: Instruction) -> Iterator[tuple[str, list[str]]]:
    """The computations that an instruction calls, by the attribute that says so."""
    for role, callees in _CALLED.findall(op.attributes):
        yield role, re.findall(r"[\w.-]+", callees)


def without_rearranging(value: HloValue, also: tuple[str, ...] = ()) -> HloValue:
    """The value that a value has the elements of, in another order; looks through opcodes in `also`."""
    for _ in range(_MAX_DEPTH):
        if value.op.opcode not in REARRANGE and value.op.opcode not in also:
            break
        if not value.op.operands:
            break
        value = value.op.operands[0]
    return value


def uses_of(value: HloValue, also: tuple[str, ...] = ()) -> Iterator[tuple[Instruction, int]]:
    """The uses of a value and of what only rearranges it."""
    pending = [value]
    for item in pending:
        for user, number in item.uses:
            if not number and (user.opcode in REARRANGE or user.opcode in also):
                pending.append(HloValue(user))
            else:
                yield user, number


def element_of(value: HloValue, part: int) -> HloValue:
    """An element of a tuple; the value itself if `part` is -1."""
    if part < 0:
        return value
    if value.op.opcode == "tuple" and value.part < 0 and part < len(value.op.operands):
        return value.op.operands[part]
    # Tuples within tuples are not distinguished.
    return HloValue(value.op, part) if value.part < 0 else value


def _instruction(line: str) -> tuple[Instruction, bool] | None:
    """The instruction of a line, and whether it is the root."""
    match = _INSTRUCTION.match(line)
    if match is None:
        return None
    at = match.end()
    end = closing_offset(line, at) if line[at : at + 1] == "(" else line.find(" ", at)
    opcode = _OPCODE.match(line, end) if end >= 0 else None
    if opcode is None:
        return None
    closing = closing_offset(line, opcode.end() - 1)
    arguments = line[opcode.end() : closing - 1]
    return Instruction(match[2], line[at:end], opcode[1], arguments, line[closing:]), bool(match[1])


def closing_offset(line: str, start: int) -> int:
    """The offset after the parenthesis that closes that at `start`."""
    depth = 0
    for item in _PARENTHESES.finditer(line, start):
        depth += 1 if item[0] == "(" else -1
        if not depth:
            return item.end()
    return len(line)
