"""Comments with the users of values, for `--mlir-print-value-users`."""

from __future__ import annotations

from sdyopt.asm.printer.ssa_names import SsaNames
from sdyopt.ir.block import Block
from sdyopt.ir.operation import Op
from sdyopt.ir.value import Value


def users_comment(op: Op, ssa_names: SsaNames) -> str:
    """The comment after an operation, with a space before it; empty if there is none."""
    if not op.results:
        return f" // id: {ssa_names.ids[op]}" if op.operand_uses and op in ssa_names.ids else ""
    if not any(result.has_uses for result in op.results):
        return " // unused"
    users = {user: None for result in op.results for user in result.users}
    is_single = len(op.results) == len(users) == 1 and sum(len(user.results) for user in users) <= 1
    texts = [_users(result, ssa_names) for result in op.results]
    if len(texts) > 1:
        texts = [f"({text})" for text in texts]
    return f" // {'user' if is_single else 'users'}: {', '.join(texts)}"


def argument_comments(block: Block, ssa_names: SsaNames) -> list[str]:
    """A comment for each argument of a block."""
    return [
        f"// {ssa_names.names[argument]} is "
        + (f"used by {_users(argument, ssa_names)}" if argument.has_uses else "unused")
        for argument in block.arguments
    ]


def _users(value: Value, ssa_names: SsaNames) -> str:
    """The users of a value, each once: the names of its results, or its ID if it has none."""
    if not value.has_uses:
        return "unused"
    names = []
    for user in dict.fromkeys(value.users):
        names += [ssa_names.names[result] for result in user.results] or [ssa_names.ids[user]]
    return ", ".join(names)
