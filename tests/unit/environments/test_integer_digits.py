"""Python's limit on the digits of integers does not affect programs."""

from pathlib import Path

from tests.harness.process import environment_with, sdy_opt

PROGRAM = """\
func.func @f() -> i20000 {
  %0 = arith.constant FACTOR : i20000
  %1 = arith.muli %0, %0 : i20000
  return %1 : i20000
}
""".replace("FACTOR", "1" + "0" * 2500)


def test_a_product_with_more_digits_than_python_prints(tmp_path: Path) -> None:
    (tmp_path / "program.mlir").write_text(PROGRAM, encoding="utf-8")
    for digits in ("4300", "640", "0"):
        environment = environment_with(PYTHONINTMAXSTRDIGITS=digits)
        printed = sdy_opt("program.mlir", "-canonicalize", folder=tmp_path, environment=environment)
        assert (printed.status, printed.errors) == (0, b"")
        assert f"arith.constant 1{'0' * 5000} : i20000\n" in printed.output.decode()
