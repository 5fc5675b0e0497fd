"""`sdy-opt-mcp`: an MCP server on stdin and stdout, so that agents check programs without a shell.

It needs the extra `mcp`, the official SDK. Its tools read programs that `as_text(debug_info=True)` has
written, and write no files.
"""

from __future__ import annotations

import json
from functools import wraps
from pathlib import Path
from typing import Any

from sdyopt import __version__
from sdyopt.analysis.report.check.analysis import check_json
from sdyopt.tools.api.checks import check as check_of
from sdyopt.tools.api.errors import Error
from sdyopt.tools.api.parsing import parse

# Of a program that an agent names.
_MOST_BYTES = 1 << 28
_INSTRUCTIONS = """\
Checks the shardings of lowered JAX programs. Lower one, without devices, for arguments that are
jax.ShapeDtypeStructs with a sharding, and write it to a file:
`lowered = jax.jit(step).trace(*arguments).lower(lowering_platforms=("tpu",))`,
`open(file, "w").write(lowered.as_text(debug_info=True))`.
Then call `check`, write what it proposes, lower again and compare the figures. `file` is the path of the
program, `topology` a machine such as "tpu-v5e:4x4" or "h100"; figures without one are those of both."""


def check(file: str, topology: str = "") -> dict[str, Any]:
    """What the program sends, stores and computes, and the lines that send most, with the change to write.

    Each place has the file and line, the reason, and `change`: what stands there (`now`), what to write
    (`write`, `annotations`), and pairs of figures before and after it.
    """
    data: dict[str, Any] = json.loads(check_json(check_of(_path(file), topology=_machine(topology)).ir))
    return data


def lint(file: str, topology: str = "") -> list[dict[str, Any]]:
    """What the shardings waste, the most expensive first: rule, place, message, and what to write instead."""
    return [
        {
            "rule": finding.id,
            "file": finding.location.file,
            "line": finding.location.line,
            "message": finding.message,
            "help": finding.help,
        }
        for finding in parse(_path(file)).lint(topology=_machine(topology))
    ]


def explain(file: str, what: str, topology: str = "") -> str:
    """Why something is sharded as it is, or why a collective is there.

    `what` is an argument ("params['w']"), a line ("model.py:80"), or a collective of the report ("#3").
    """
    return str(parse(_path(file)).explain(what, topology=_machine(topology)))


def report(file: str, topology: str = "") -> str:
    """All figures as text: collectives with their numbers by line, memory by value, and FLOPs."""
    return str(parse(_path(file)).report(topology=_machine(topology)))


def advise(file: str, topology: str = "", changes: int = 1) -> str:
    """The best changes of annotations as JSON, each tried on the program; or `changes` of them together."""
    advice = parse(_path(file)).advise(changes=changes, topology=_machine(topology))
    return advice.as_text(".json")


def _machine(topology: str) -> str | None:
    """The name of a machine or the path of a file that describes one; None if neither is given."""
    return str(_path(topology)) if topology else None


def _path(name: str) -> Path:
    """The path of a file that is read whole. Raises ValueError for one that has no end, or is too long.

    The standard input is the connection to the client, and reading a pipe would wait for its writer.
    """
    path = Path(name)
    if path.exists() and not path.is_dir():
        if not path.is_file():
            raise ValueError(f"'{name}' is no regular file")
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError(f"'{name}' has more than {_MOST_BYTES >> 20} MiB: run sdy-opt on it")
    return path


def server() -> Any:
    """The server with its tools. Raises ImportError without the SDK."""
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError

    def as_tool(function: Any) -> Any:
        """A mistake in the program or in an argument is the answer of the tool, with its help."""

        @wraps(function)
        def tool(**arguments: Any) -> Any:
            try:
                return function(**arguments)
            except (Error, ValueError, OSError) as error:
                raise ToolError(str(error)) from error

        return tool

    result = MCPServer("sdy-opt", instructions=_INSTRUCTIONS, version=__version__)
    for function in (check, lint, explain, report, advise):
        result.add_tool(as_tool(function))
    return result


def main() -> None:
    """Runs the server until stdin ends."""
    server().run()
