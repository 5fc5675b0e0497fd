"""Folders with many dumped programs."""

from pathlib import Path

import pytest

from sdyopt.tools.driver.xla_dump import DumpError, dumped_file, table_text


@pytest.fixture
def folder(tmp_path: Path) -> str:
    for number in range(300):
        program = tmp_path / "shardy" / f"module_{number:04}.jit_f{number % 100}"
        program.mkdir(parents=True)
        (program / "00.input_module.mlir").write_text("module {}\n")
    return str(tmp_path)


def test_table_has_all_programs(folder: str) -> None:
    lines = table_text(folder).splitlines()
    assert len(lines) == 300 + 3
    assert lines[-1].startswith(f"sdy-opt {folder}:0000 reads")


def test_mistyped_name_is_answered_with_the_nearest_one(folder: str) -> None:
    with pytest.raises(DumpError) as caught:
        dumped_file(f"{folder}:jit_g7")
    assert caught.value.help == "did you mean 'jit_f7'?"


def test_few_names_are_listed_if_none_is_similar(folder: str) -> None:
    with pytest.raises(DumpError) as caught:
        dumped_file(f"{folder}:zzzz")
    assert len(caught.value.help.split(",")) == 10


def test_newline_in_a_name_starts_no_line(tmp_path: Path) -> None:
    for name in ("module_1.f\nerror: forged", "module_2.g"):
        program = tmp_path / "shardy" / name
        program.mkdir(parents=True)
        (program / "00.input_module.mlir").write_text("module {}\n")
    assert "\nerror" not in table_text(str(tmp_path))
    with pytest.raises(DumpError) as caught:
        dumped_file(f"{tmp_path}:zzzz")
    assert "\n" not in caught.value.help
