"""Programs as bytecode: round trips, the order of uses, and files that are invalid."""

import contextlib
import struct
from pathlib import Path
from random import Random

import pytest

import sdyopt
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import FileLoc, Source
from sdyopt.base.releases import NEWEST, RELEASES, following
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.mlir.asm.resources import resource_section
from sdyopt.mlir.bytecode.attribute_table import encodings_of
from sdyopt.mlir.bytecode.properties import layouts_of
from sdyopt.mlir.bytecode.reader import read_bytecode
from sdyopt.mlir.bytecode.stream import NEWEST_VERSION, exported_program
from sdyopt.mlir.bytecode.writer import BytecodeOptions, artifact, write_bytecode
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.registry import all_dialects, dialect_table, find_dialect
from sdyopt.tools.driver.job import interpreter_settings

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").rglob("*.mlir"))
OPTIONS = ParseOptions(allow_unregistered_dialects=True)
SMALL = """
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def parse(text: str) -> Op:
    return parse_module(Source("f.mlir", text), dialect_table(), OPTIONS)[0]


def read(data: bytes) -> Op:
    return read_bytecode("f.bc", data, dialect_table(), OPTIONS)[0]


def encoded(text: str, version: int = NEWEST_VERSION) -> bytes:
    op, resources = parse_module(Source("f.mlir", text), dialect_table(), OPTIONS)
    return write_bytecode(op, resources, BytecodeOptions(version))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_the_same_after_bytecode(path: Path) -> None:
    with interpreter_settings():
        text = path.read_text()
        op, resources = parse_module(Source("f.mlir", text), dialect_table(), OPTIONS)
        expected = print_op(op, PrintOptions(debuginfo=True)) + resource_section(op, resources)
        for version in (0, NEWEST_VERSION):
            data = write_bytecode(op, resources, BytecodeOptions(version))
            again, found = read_bytecode("f.bc", data, dialect_table(), OPTIONS)
            printed = print_op(again, PrintOptions(debuginfo=True)) + resource_section(again, found)
            assert printed == expected
            assert write_bytecode(again, found, BytecodeOptions(version)) == data


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
def test_properties_are_those_of_the_release_that_is_followed(release: object) -> None:
    text = """
        func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
          %0 = stablehlo.custom_call @g(%a) : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }
    """
    with following(release.name):  # type: ignore[attr-defined]
        data = encoded(text)
        assert print_op(read(data)) == print_op(parse(text))
    with following(NEWEST.name):
        assert print_op(read(data)) == print_op(parse(text))


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ("func.func @f() { return }", "08 17 05 05 01 01 0d 01 05 01 01 07 01"),
        (
            """func.func @f(%c: i1, %a: i32) {
              cf.cond_br %c, ^a(%a : i32), ^b
            ^a(%x: i32):
              return
            ^b:
              return
            }""",
            "08 23 07 05 01 01 0d 01 05 01 01 07 01 0b 01 0d 03 03 01",
        ),
        (
            "func.func @f(%a: i32) { %0 = arith.uitofp %a : i32 to f32 return }",
            "08 1b 07 05 01 01 0d 01 05 01 01 07 01 03 01",
        ),
        (
            "func.func @f(%a: f32) { %0 = math.fma %a, %a, %a : f32 return }",
            "0d 01 05 01 01 07 01 05 23 01",
        ),
    ],
    ids=["func", "cf", "arith", "math"],
)
def test_properties_are_those_that_jaxlib_writes(release: object, text: str, properties: str) -> None:
    with following(release.name):  # type: ignore[attr-defined]
        data = encoded(text)
        assert data.endswith(bytes.fromhex(properties))
        assert print_op(read(data)) == print_op(parse(text))


def test_an_operation_has_each_property_once() -> None:
    for dialect in map(find_dialect, all_dialects()):
        assert dialect is not None
        for op_class in dialect.ops.values():
            for layout in layouts_of(op_class):
                names = [entry.name for entry in layout]
                assert len(names) == len(set(names)), op_class.name


def test_the_order_of_uses_is_kept() -> None:
    op = parse(SMALL.replace("return %0", "%1 = stablehlo.multiply %a, %0 : tensor<4xf32>\n  return %1"))
    argument = op.regions[0].blocks[0].first.regions[0].blocks[0].arguments[0]  # type: ignore[union-attr]
    argument.first_use.next_use.make_first()  # type: ignore[union-attr]
    orders = [(use.owner.name, use.index) for use in argument.uses]
    assert orders == [("stablehlo.add", 1), ("stablehlo.multiply", 0), ("stablehlo.add", 0)]
    again = read(write_bytecode(op, parse_module(Source("", ""), dialect_table())[1], BytecodeOptions()))
    argument = again.regions[0].blocks[0].first.regions[0].blocks[0].arguments[0]  # type: ignore[union-attr]
    assert [(use.owner.name, use.index) for use in argument.uses] == orders


def test_codes_are_distinct_and_classes_can_be_written() -> None:
    for dialect in ("builtin", "stablehlo", "chlo", "sdy", "vhlo"):
        encodings = encodings_of(dialect)
        assert encodings is not None
        declared = [*encodings.attributes.values(), *encodings.types.values()]
        assert len(declared) == sum(map(len, encodings.by_class.values()))
        # StableHLO and its artifacts have given up the first code.
        first = 1 if dialect in ("stablehlo", "vhlo") else 0
        assert sorted(encodings.attributes) == list(range(first, first + len(encodings.attributes)))
        assert sorted(encodings.types) == list(range(len(encodings.types)))


# --- Invalid files ----------------------------------------------------------------------------------


def problem(data: bytes) -> tuple[str, str]:
    with interpreter_settings(), pytest.raises(DiagnosticError) as caught:
        read(data)
    diagnostic = caught.value.diagnostic
    assert diagnostic.location is FileLoc("f.bc", 0, 0)
    return diagnostic.message.removeprefix("invalid bytecode: "), diagnostic.notes[0].message


def test_an_error_names_the_section_and_the_byte() -> None:
    assert problem(b"ML\xefR\x11") == (
        "the file has version 8 of the format; the newest that is read is 6",
        "at byte 5 of the file, in the header section",
    )
    assert problem(b"ML\xefR\x0dx")[0] == "a text without its terminating NUL byte"
    assert problem(b"ML\xefR\x0dx\0") == (
        "there is no string section",
        "at byte 7 of the file, in the header section",
    )


def test_every_prefix_of_a_file_is_rejected() -> None:
    data = encoded(SMALL)
    for size in range(4, len(data)):
        problem(data[:size])


@pytest.mark.parametrize(
    "text",
    [
        "module attributes {x.a = [[1 : i32]]} {}",
        'module {} loc(fused["a", fused["b", "c"]])',
        "module attributes {x.a = {b = {c = unit}}} {}",
    ],
)
def test_an_attribute_that_contains_itself_is_rejected(text: str) -> None:
    data = encoded(text)
    # An attribute inside another becomes the outer one, for one of these numbers.
    messages = set()
    for at in range(4, len(data) - 2):
        for number in range(12):
            mutant = bytearray(data)
            mutant[at] = number << 1 | 1
            try:
                with interpreter_settings():
                    print_op(read(bytes(mutant)), PrintOptions(debuginfo=True))
            except DiagnosticError as error:
                messages.add(error.diagnostic.message)
    assert any("or one contains itself" in message for message in messages)


def test_a_negative_factor_is_rejected() -> None:
    rule = "#sdy.op_sharding_rule<([k])->([i]) {i=4, j=4, k=4}>"
    before, last, after = encoded(f"module attributes {{x.a = {rule}}} {{}}").rpartition(b"\x03\x09")
    # The last list of one number, which is signed, is `k`: 2 becomes -1.
    assert last
    assert problem(before + b"\x03\x03" + after)[0] == "-1 is not the index of a factor"


@pytest.mark.parametrize("seed", range(5))
def test_mutants_are_read_or_rejected(seed: int) -> None:
    random, data = Random(seed), encoded(EXAMPLES[0].read_text(), random_version := seed % 7)
    assert random_version <= NEWEST_VERSION
    with interpreter_settings():
        for _ in range(300):
            mutant = bytearray(data)
            for _ in range(random.randrange(1, 4)):
                mutant[random.randrange(4, len(mutant))] = random.randrange(256)
            try:
                print_op(read(bytes(mutant)), PrintOptions(generic=True, debuginfo=True))
            except DiagnosticError:
                continue


# --- Portable artifacts and files of jax.export -----------------------------------------------------


def test_an_artifact_has_the_bytecode_version_of_its_target() -> None:
    for target, version in (("0.9.0", 0), ("0.12.0", 3), ("0.14.0", 4), ("1.0.0", 6), ("1.22.0", 6)):
        op, resources = parse_module(Source("-", SMALL), dialect_table(), OPTIONS)
        data = artifact(op, resources, target)
        assert data[4] >> 1 == version
        assert data[5:].startswith(b"StableHLO_v" + target.encode() + b"\0")


@pytest.mark.parametrize("name", ["enums.mlirbc", "enums_stablehlo.mlirbc"])
def test_cases_of_enums_have_the_numbers_of_stablehlo(name: str) -> None:
    """As jaxlib 0.12 writes them, in an artifact and in bytecode: what we write and read is no proof."""
    folder = Path(__file__).parent / "files"
    written = sdyopt.parse((folder / name).read_bytes())
    assert str(written) == str(sdyopt.parse((folder / "enums.mlir").read_text(encoding="utf-8")))


def flatbuffer(program: bytes) -> bytes:
    """A table whose field 13 is a vector of bytes, as in a serialized `jax.export.Exported`."""
    fields = struct.pack("<HH", 32, 8) + bytes(26) + struct.pack("<H", 4)
    table_at = 4 + len(fields)
    table = struct.pack("<iI", len(fields), 4)
    return struct.pack("<I", table_at) + fields + table + struct.pack("<I", len(program)) + program


def test_the_calling_convention_in_a_file_of_jax_export_is_read() -> None:
    data = (Path(__file__).parent / "files" / "two_arguments.jax_export").read_bytes()
    function = sdyopt.exported_function(data)
    assert function.program == exported_program(data)
    assert str(function).splitlines() == [
        "name: <lambda>",
        "in_tree: (({'w': *}, *), {})",
        "out_tree: {'y': [*, *]}",
        "in_avals: float32[16,8], float32[8,16]",
        "out_avals: float32[8,8], float32[]",
        "in_shardings: P() on ['x'=4], memory device, P('x', None) on ['x'=4], memory device",
        "out_shardings: unspecified, unspecified",
        "nr_devices: 4",
        "platforms: cpu",
        "calling_convention_version: 10",
        "disabled_checks: none",
        "ordered_effects: none",
        "unordered_effects: none",
        "module_kept_var_idx: 0, 1",
        "uses_global_constants: False",
        "jax_version: 0.12.0.1",
    ]
    assert "call" not in str(sdyopt.parse(data))


def test_a_damaged_file_of_jax_export_has_an_answer() -> None:
    data = (Path(__file__).parent / "files" / "two_arguments.jax_export").read_bytes()
    generator = Random(0)
    for _ in range(500):
        mutant = bytearray(data)
        for _ in range(3):
            mutant[generator.randrange(len(mutant))] = generator.randrange(256)
        with contextlib.suppress(ValueError):
            assert len(str(sdyopt.exported_function(bytes(mutant)))) < 1_000_000
    with pytest.raises(ValueError, match=r"not a file of jax\.export"):
        sdyopt.exported_function(b"x" * 100)


def test_the_program_in_a_file_of_jax_export_is_found() -> None:
    program = encoded(SMALL)
    data = flatbuffer(program)
    assert exported_program(data) == program
    assert exported_program(data[:-1]) is None
    assert exported_program(b"x" * 100) is None
    assert exported_program(b"") is None
    for at in range(50):
        mutant = bytearray(data)
        mutant[at] ^= 0xFF
        exported_program(bytes(mutant))
