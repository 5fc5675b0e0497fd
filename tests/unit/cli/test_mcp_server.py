"""The tools of the MCP server, called by a client of the official SDK in this process."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from sdyopt.tools.cli import mcp_server

EXAMPLE = str(Path(__file__).parents[3] / "examples" / "mlp.mlir")


def call(tool: str, **arguments: object) -> Any:
    mcp = pytest.importorskip("mcp", reason="needs the extra `mcp`")

    async def result() -> Any:
        async with mcp.Client(mcp_server.server()) as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(result())


def test_a_check_is_small_and_says_what_to_write() -> None:
    data = mcp_server.check(EXAMPLE)
    assert len(json.dumps(data)) < 4096
    assert data["places"][0]["change"]["write"]


def test_the_server_has_the_tools() -> None:
    assert json.loads(call("check", file=EXAMPLE).content[0].text) == mcp_server.check(EXAMPLE)
    assert "mlp.py:31" in call("report", file=EXAMPLE).content[0].text
    assert "sharded P(None, 'model')" in call("explain", file=EXAMPLE, what="weights[0]").content[0].text
    assert json.loads(call("advise", file=EXAMPLE).content[0].text)["schema"] == "sdy-opt-advice"
    assert call("lint", file=EXAMPLE).is_error is False


def test_a_mistake_is_the_answer_of_the_tool() -> None:
    result = call("explain", file=EXAMPLE, what="weight")
    assert result.is_error
    assert "weights" in result.content[0].text
    assert call("check", file="nothing.mlir").is_error


def test_only_files_with_an_end_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The standard input is the connection to the client, and a pipe without a writer never ends."""
    pipe = tmp_path / "pipe.mlir"
    os.mkfifo(pipe)
    for tool in (mcp_server.check, mcp_server.lint, mcp_server.report, mcp_server.advise):
        with pytest.raises(ValueError, match=r"pipe.mlir' is no regular file"):
            tool(str(pipe))
        with pytest.raises(ValueError, match=r"pipe.mlir' is no regular file"):
            tool(EXAMPLE, str(pipe))
    for special in ("/dev/stdin", "/dev/zero"):
        with pytest.raises(ValueError, match="is no regular file"):
            mcp_server.explain(special, "#0")
    monkeypatch.setattr(mcp_server, "_MOST_BYTES", 1 << 10)
    with pytest.raises(ValueError, match="has more than 0 MiB: run sdy-opt on it"):
        mcp_server.check(EXAMPLE)
