"""The shell of RUN lines: its syntax and its results."""

from collections.abc import Mapping
from pathlib import Path
from typing import IO

import pytest

from sdyopt.tools.lit.directives import MalformedCaseError
from sdyopt.tools.lit.tools import Stage, parse, render, run_pipeline

STATUSES = {"pass": 0, "fail": 1, "traceback": 134, "killed": -9}


def play(
    words: tuple[str, ...],
    environment: Mapping[str, str],
    stdin: IO[bytes],
    stdout: IO[bytes],
    stderr: IO[bytes],
) -> int:
    """Writes its input in brackets after its name, and its name in capitals to stderr."""
    stdout.write(b"<%s %s>" % (words[0].encode(), stdin.read()))
    stdout.flush()
    stderr.write(words[0].upper().encode())
    stderr.flush()
    return STATUSES[words[0]]


def passes(command: str) -> bool:
    return all(run_pipeline(stages, play).passed for stages in parse(command))


def test_quotes_and_backslashes_keep_words_together() -> None:
    command = """opt -a=b '-p={x=1 y="2"}' "--q=\\"|\\" %0" a\\ b"""
    assert parse(command) == [[Stage(("opt", "-a=b", '-p={x=1 y="2"}', '--q="|" %0', "a b"))]]


def test_pipelines_and_redirections_are_parsed() -> None:
    assert parse("a <in 2>&1 | b > out && c 2>> err") == [
        [Stage(("a",), (("<", "in"), ("2>&1", ""))), Stage(("b",), ((">", "out"),))],
        [Stage(("c",), (("2>>", "err"),))],
    ]


def test_not_and_env_are_prefixes() -> None:
    assert parse("not env A=1 B=2 opt x=3") == [
        [Stage(("opt", "x=3"), environment={"A": "1", "B": "2"}, negated=True)]
    ]


@pytest.mark.parametrize("command", ["", "a |", "a && ", "not", "env A=1", "a > | b", "a {"])
def test_incomplete_command_is_an_error(command: str) -> None:
    with pytest.raises(MalformedCaseError):
        parse(command)


@pytest.mark.parametrize(
    ("command", "what", "help"),
    [
        ("a; b", "';'", "join them with &&"),
        ("a || b", r"'\|\|'", "prefix one that fails with `not`"),
        ("a &", "'&'", "2>&1"),
        ("a &> b", "'&'", "2>&1"),
        ("a >& b", "'>&'", "> FILE 2>&1"),
        ("a <<END", "'<<'", "split-file"),
        ("(a)", r"'\('", "a RUN line for each command"),
        ("$(a)", r"'\$'", "not expanded"),
        ("a $HOME", r"'\$'", "not expanded"),
        ("a ${HOME}", r"'\$'", "not expanded"),
        ("a `b`", "'`'", "> %t"),
        ("a # b", "'#'", "no comments"),
        ("a 'b", '"\'b"', "not closed"),
        ('a "b', "'\"b'", "not closed"),
        ("cd %S && a", "'cd'", "root folder"),
        ("export A=1", "'export'", "env NAME=VALUE"),
        ("not --crash a", "not --crash", "a crash fails"),
    ],
)
def test_unsupported_syntax_is_an_error(command: str, what: str, help: str) -> None:
    """It would mean something else in LLVM's lit or in a shell."""
    with pytest.raises(MalformedCaseError, match=what) as caught:
        parse(command)
    assert help in caught.value.help


def test_quoted_syntax_is_text() -> None:
    assert parse("""a 'x;y' "(z)" b\\#c '$d' e$ f#g""") == [
        [Stage(("a", "x;y", "(z)", "b#c", "$d", "e$", "f#g"))]
    ]


def test_substitutions_stay_one_word() -> None:
    [[stage]] = parse("a '-f=%s' > %s", lambda word: word.replace("%s", "b c"))
    assert stage == Stage(("a", "-f=b c"), ((">", "b c"),))


@pytest.mark.parametrize("command", ["pass", "not fail", "pass | not fail", "pass && pass", "not not pass"])
def test_passing_commands(command: str) -> None:
    assert passes(command)


@pytest.mark.parametrize(
    "command",
    [
        "fail",
        "fail | pass",
        "pass | fail",
        "not pass",
        "pass && fail",
        "not traceback",
        "not killed",
        "killed",
    ],
)
def test_failing_commands(command: str) -> None:
    assert not passes(command)


def test_a_stage_reads_the_output_of_the_previous_one() -> None:
    [stages] = parse("pass | fail")
    result = run_pipeline(stages, play)
    assert result.output == "<fail <pass >>"
    assert result.errors == "PASSFAIL"
    assert result.failures == "`fail` ended with exit status 1"


def test_standard_error_can_be_piped() -> None:
    [stages] = parse("pass 2>&1 | pass")
    assert run_pipeline(stages, play).output == "<pass <pass >PASS>"


def test_redirections_to_files(tmp_path: Path) -> None:
    [stages] = parse(f"pass > {tmp_path / 'out'} 2> {tmp_path / 'err'}")
    assert run_pipeline(stages, play).output == ""
    assert (tmp_path / "out").read_text() == "<pass >"
    assert (tmp_path / "err").read_text() == "PASS"


def test_redirections_are_relative_to_the_folder(tmp_path: Path) -> None:
    [stages] = parse("pass > out")
    run_pipeline(stages, play, tmp_path)
    assert (tmp_path / "out").read_text() == "<pass >"


def test_redirection_from_a_missing_file_is_an_error(tmp_path: Path) -> None:
    [stages] = parse("pass < missing")
    with pytest.raises(MalformedCaseError, match=r"cannot open '.*missing': No such file"):
        run_pipeline(stages, play, tmp_path)


def test_rendered_command_can_be_pasted() -> None:
    command = "not env A='b c' opt '-p={x=1}' 2>&1 | check f > g && opt"
    shown = {"opt": "python -m opt"}
    assert render(parse(command), lambda program: shown.get(program, program)) == (
        "(! A='b c' python -m opt '-p={x=1}' 2>&1) | check f > g && python -m opt"
    )
