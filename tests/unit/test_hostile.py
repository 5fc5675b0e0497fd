"""Hostile inputs: rejected with a location, or parsed, within limits of time and memory."""

import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECONDS = 10
BYTES = 1 << 30

DEEP = 10_000
DIGITS = "9" * 100_000
LOCATED = re.compile(r"\A(?:loc\([^\n]*\): |[^\n]*:\d+:\d+: )error: ")


def nested(before: str, inside: str, after: str, around: str = "{}") -> str:
    return around.replace("{}", before * DEEP + inside + after * DEEP)


def attribute(text: str) -> str:
    return '"a"() {a = ' + text + "} : () -> ()\n"


# Inputs that are rejected, by name.
REFUSED: dict[str, str | bytes] = {
    "truncated in a name": '"test.op',
    "truncated in a list of operands": '"test.op"(%a',
    "truncated in a function": "func.func @f(%a: i32) {\n  return",
    "truncated in an attribute": '"a"() {a = dense<[1, 2',
    "truncated in a location": '"a"() : () -> () loc("f":1',
    "truncated in resources": '{-# dialect_resources: { builtin: { b: "0x04',
    "truncated after an alias": "#a =",
    "unknown operation": "unknown.op\n",
    "unknown operation of a known dialect": "func.unknown\n",
    "unregistered operation in generic form": '"unknown.op"() : () -> ()\n',
    "type of another": "func.func @f(%a: i32) -> f32 { return %a : i32 }",
    "value of another type": "func.func @f(%a: i32) -> f32 { return %a : f32 }",
    "undefined value": "func.func @f() -> i32 { return %a : i32 }",
    "undefined block": 'func.func @f() { "func.return"()[^b] : () -> () }',
    "undefined alias": attribute("#undefined"),
    "alias of itself": "#a = [#a]\n",
    "duplicate symbol": "func.func private @f()\nfunc.func private @f()\n",
    "duplicate value": "func.func @f(%a: i32, %a: i32) { return }",
    "words": "this is not a program\n",
    "binary": bytes(range(1, 256)),
    "no UTF-8": b'"a\xff"() : () -> ()\n',
    "half a character": 'module attributes {a.b = "é'.encode()[:-1],
    "a zero": b'"a"() : () -> ()\0\n',
    "bytecode": b"ML\xefR\x01MLIR\x00\x00\x00\x00",
    "deep modules": nested("module {", "", "}"),
    "deep regions": nested('"a"() ({', "", "}) : () -> ()"),
    "deep regions without an end": '"a"() ({' * DEEP,
    "deep arrays": nested("[", "", "]", attribute("{}")),
    "deep arrays without an end": attribute("[" * DEEP),
    "deep dictionaries": nested("{a = ", "1", "}", attribute("{}")),
    "deep types": nested("tuple<", "i32", ">", attribute("{}")),
    "deep functions": nested("(", "i32", ") -> i32", attribute("{}")),
    "deep lists of numbers": nested("[", "1", "]", attribute("dense<{}> : tensor<1xi32>")),
    "very deep lists of numbers": attribute(f"dense<{'[' * 100_000}1{']' * 100_000}> : tensor<1xi32>"),
    "deep complex numbers": nested("(", "1", ", 1)", attribute("dense<{}> : tensor<complex<i32>>")),
    "deep affine expressions": nested("(", "d0", ")", attribute("affine_map<(d0) -> ({})>")),
    "deep locations": nested('loc("a"(', "unknown", "))", '"a"() : () -> () {}'),
    "deep call sites": nested("callsite(unknown at ", "unknown", ")", '"a"() : () -> () loc({})'),
    "deep brackets of a dialect": nested("(", "", ")", attribute("#stablehlo<{}>")),
    "deep brackets without an end": attribute("!a.b<" + "[(" * DEEP),
    "digits of an integer": attribute(DIGITS),
    "digits of a hexadecimal number": attribute("0x" + "F" * len(DIGITS)),
    "digits of a width": attribute(f"i{DIGITS}"),
    "digits of a size": attribute(f"tensor<{DIGITS}xi32>"),
    "digits of an element": attribute(f"dense<[{DIGITS}]> : tensor<1xi32>"),
    "digits in an array": attribute(f"array<i32: {DIGITS}>"),
    "digits of a line": f'"a"() : () -> () loc("f":{DIGITS}:1)',
    "digits of a result": f'"a"(%a#{DIGITS}) : (i32) -> ()',
    "digits of a number of results": f'%a:{DIGITS} = "a"() : () -> i32',
    "digits of an affine expression": attribute(f"affine_map<(d0) -> (d0 + {DIGITS})>"),
    "digits of an axis": f'sdy.mesh @m = <["x"={DIGITS}]>\n',
    "more elements than there are": attribute("dense<[1, 2]> : tensor<4611686018427387904xi32>"),
    "elements of a type that has more": (
        "func.func @f(%a: f32) { %0 = tensor.from_elements %a : tensor<4611686018427387904xf32> return }"
    ),
    "elements of a type that has more, in generic form": (
        'func.func @f(%a: f32) { %0 = "tensor.from_elements"(%a) : (f32) -> tensor<1000000000xf32> return }'
    ),
    "wide elements": attribute(f"dense<[{', '.join(map(str, range(3000)))}]> : tensor<3000xi16777215>"),
    "wide elements with types": attribute(
        f"dense<tensor<3000xi16777215> : [{', '.join(f'{n} : i16777215' for n in range(3000))}]>"
    ),
    "wide cases": "func.func @f(%x: i16777215) { cf.switch %x : i16777215, [ default: ^b, "
    + ", ".join(f"{n}: ^b" for n in range(3000))
    + "]\n^b: return }",
    "blob of another size": attribute('dense<"0x0102"> : tensor<4611686018427387904xi8>'),
    "odd escape": attribute('"\\q"'),
    "string over two lines": attribute('"a\nb"'),
}

# Inputs that are valid, by name.
READ: dict[str, str | bytes] = {
    "wide numbers": attribute(f"[{', '.join(f'{n - 3000} : i16777215' for n in range(6000))}]"),
    "nothing": "",
    "blanks": " \n\t\r\n",
    "a comment": "// nothing",
    "a long comment": "//" + "x" * 5_000_000,
    "a large splat": attribute("dense<1> : tensor<4611686018427387904xi32>"),
    "an empty tensor": attribute("dense<> : tensor<0x4611686018427387904xi32>"),
    "deep signs": nested("-", "d0", "", attribute("affine_map<(d0) -> ({})>")),
    "deep dialect attributes": nested("#a.b<", "", ">", attribute("{}")),
    "digits of a fraction": attribute(f"1.{DIGITS}"),
    "digits of an exponent": attribute(f"1.0e{DIGITS}"),
    "digits of a name": f'%{DIGITS} = "a"() : () -> i32\n',
    "many blanks": attribute(" " * 1_000_000 + "1"),
    "many operations on a line": '"a"() : () -> () ' * 20_000,
    "many values used before they are defined": "".join(
        f'%a{n} = "a"(%a{n + 1}) : (i32) -> i32\n' for n in range(5_000)
    )
    + '%a5000 = "a"() : () -> i32\n',
    "many attributes": attribute("{" + ", ".join(f"a{n} = {n}" for n in range(20_000)) + "}"),
    "many brackets": attribute("[" + "[], " * 50_000 + "[]]"),
}

_CASES = 500
# Inputs that are canonicalized, by name.
CANONICALIZED: dict[str, str] = {
    "deep ifs": f'func.func @f(%c: i1) {{\n{"scf.if %c {" * 500} "a"() : () -> () {"}" * 500} return }}',
    "deep ifs that are taken": "func.func @f() { %c = arith.constant true "
    f'{"scf.if %c {" * 500} "a"() : () -> () {"}" * 500} return }}',
    "many cases": "func.func @f(%x: i32) { cf.switch %x : i32, [ default: ^c, "
    + ", ".join(f"{n}: ^b" for n in range(5000))
    + ']\n^b: return\n^c: "a"() : () -> () return }',
    "cases into a chain of blocks": "func.func @f(%x: i32) { cf.switch %x : i32, [ default: ^b0, "
    + ", ".join(f"{n}: ^b{n}" for n in range(_CASES))
    + "]\n"
    + "".join(f"^b{n}: cf.br ^b{n + 1}\n" for n in range(_CASES))
    + f"^b{_CASES}: return }}",
    "many elements of a large constant": "func.func @f() {\n"
    f'  %t = arith.constant dense<"0x{"00010203" * 7500}"> : tensor<30000xi8>\n'
    "  %c = arith.constant 7 : index\n"
    + "".join(
        f'  %x{n} = tensor.extract %t[%c] : tensor<30000xi8> "a"(%x{n}) : (i8) -> ()\n' for n in range(400)
    )
    + "  return\n}",
}

LENGTH = 40
AFFINE_CHAIN = [
    "func.func @f(%a: index) -> index {",
    "  %0 = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%a)[%a]",
    *(f"  %{n + 1} = affine.apply affine_map<(d0)[s0] -> (d0 * s0)>(%{n})[%{n}]" for n in range(LENGTH)),
    f"  return %{LENGTH} : index\n}}",
]
CALL_SITE_CHAIN = [
    '#loc0 = loc("a":1:1)',
    *(f"#loc{n + 1} = loc(callsite(#loc{n} at #loc{n}))" for n in range(LENGTH)),
    f'%0 = "a"() : () -> i32 loc(#loc{LENGTH})',
]

# Inputs that double in size with each line when the flags are given, by name.
DOUBLING: dict[str, tuple[list[str], str]] = {
    "a composed affine map": (AFFINE_CHAIN, "-canonicalize"),
    "a location that names come from": (CALL_SITE_CHAIN, "--mlir-use-nameloc-as-prefix"),
}


def run(folder: Path, text: str | bytes, *flags: str) -> subprocess.CompletedProcess[str]:
    """Runs the command on a text with limits of time and memory."""
    source = folder / "in.mlir"
    source.write_bytes(text if isinstance(text, bytes) else text.encode())
    return subprocess.run(
        [sys.executable, "-m", "sdyopt", "in.mlir", "-o", "out.mlir", *flags],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        timeout=SECONDS,
        capture_output=True,
        encoding="utf-8",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES)),
        check=False,
    )


@pytest.mark.parametrize("name", REFUSED)
def test_rejected_with_a_location(name: str, tmp_path: Path) -> None:
    is_about_registering = "unregistered" in name
    flags = [] if is_about_registering else ["--allow-unregistered-dialect"]
    done = run(tmp_path, REFUSED[name], *flags)
    assert done.returncode == 1, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    assert LOCATED.match(done.stderr), done.stderr[:500]
    assert len(done.stderr) < 1_000_000
    assert done.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["in.mlir"]


@pytest.mark.parametrize("name", READ)
def test_parsed_in_time(name: str, tmp_path: Path) -> None:
    done = run(tmp_path, READ[name], "--allow-unregistered-dialect")
    assert (done.returncode, done.stderr) == (0, "")
    assert "module {\n" in (tmp_path / "out.mlir").read_text()


@pytest.mark.parametrize("name", CANONICALIZED)
def test_canonicalized_in_time(name: str, tmp_path: Path) -> None:
    done = run(tmp_path, CANONICALIZED[name], "--allow-unregistered-dialect", "-canonicalize")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", DOUBLING)
def test_doubling_is_bounded(name: str, tmp_path: Path) -> None:
    lines, flag = DOUBLING[name]
    text = "\n".join(lines)
    done = run(tmp_path, text, "--allow-unregistered-dialect", flag)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out.mlir").stat().st_size < 100 * len(text)


def test_a_failed_run_keeps_the_existing_output(tmp_path: Path) -> None:
    (tmp_path / "out.mlir").write_text("precious")
    assert run(tmp_path, "module {").returncode == 1
    assert (tmp_path / "out.mlir").read_text() == "precious"
