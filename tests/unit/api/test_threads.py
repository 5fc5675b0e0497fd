"""Several modules at once: calls from threads wait for each other, and diagnostics stay with their call."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

import sdyopt
from sdyopt.mlir.pipeline import Pass
from tests.unit.api.programs import COLLECTIVES, REDUCED

COUNT = 8


class Name(Pass):
    """Remarks with the name of every function."""

    def run(self, op: Any) -> bool:
        for function in op.functions:
            function.remark(function.sym_name)
        return False


class ParseInside(Pass):
    """Parses and runs another program, and fails to parse a third."""

    def run(self, op: Any) -> bool:
        op.remark("before")
        assert [
            each.message for each in sdyopt.parse("func.func private @inner()").run(Name()).diagnostics
        ] == ["inner"]
        with pytest.raises(sdyopt.ParseError):
            sdyopt.parse("foo")
        op.remark("after")
        return False


def test_threads_get_the_result_of_their_program() -> None:
    expected = str(sdyopt.parse(REDUCED).run(COLLECTIVES))
    start = Barrier(COUNT)

    def work(number: int) -> tuple[str, list[str], str]:
        start.wait()
        text = str(sdyopt.parse(REDUCED).run(COLLECTIVES))
        module = sdyopt.parse(f"func.func private @f{number}()\nfunc.func private @g{number}()")
        messages = [each.message for each in module.run(Name()).diagnostics]
        with pytest.raises(sdyopt.ParseError) as caught:
            sdyopt.parse(f"foo{number}")
        return text, messages, caught.value.message

    with ThreadPoolExecutor(COUNT) as pool:
        results = list(pool.map(work, range(COUNT)))
    assert results == [
        (
            expected,
            [f"f{number}", f"g{number}"],
            f"custom op 'foo{number}' is unknown (tried 'builtin.foo{number}' as well)",
        )
        for number in range(COUNT)
    ]


def test_a_pass_may_run_another_program() -> None:
    assert [each.message for each in sdyopt.parse("").run(ParseInside()).diagnostics] == ["before", "after"]
