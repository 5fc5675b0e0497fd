"""What notebooks show of modules and shardings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import sdyopt
from sdyopt.tools.api.module_html import MAX_LINE, MAX_LINES
from tests.unit.api.programs import LAYER


class _Text(HTMLParser):
    """Collects the text of a page; `open` has the elements that are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.parts.append(data)


def text_of(html: str) -> str:
    """The text that a page shows; the page must be well-formed."""
    page = _Text()
    page.feed(html)
    assert page.open == []
    return "".join(page.parts)


def test_a_module_is_shown_as_it_is_printed() -> None:
    module = sdyopt.parse(LAYER)
    text = text_of(module._repr_html_())
    assert str(module).rstrip("\n") in text
    assert '@mesh: <["data"=4, "model"=2]>, 8 devices' in text


def test_axes_have_the_colour_of_their_position_in_the_mesh() -> None:
    html = sdyopt.parse(LAYER)._repr_html_()
    assert set(re.findall(r'<b class="(a\d)">&quot;(\w+)&quot;</b>', html)) == {
        ("a0", "data"),
        ("a1", "model"),
    }
    assert "b.a0{" in html


def test_sub_axes_are_coloured_with_their_axis_and_other_strings_are_not() -> None:
    program = """
        sdy.mesh @mesh = <["x"=4]>
        func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)2}]>})
          attributes {sdy.a = "x"} { return }
    """
    html = sdyopt.parse(program)._repr_html_()
    assert '{<b class="a0">&quot;x&quot;:(2)2</b>}' in html
    assert "sdy.a = &quot;x&quot;" in html


def test_names_cannot_add_elements_or_control_characters() -> None:
    name = "<script>alert(1)</script>\\1B[31m&"
    html = sdyopt.parse(f'func.func private @"{name}"()\nsdy.mesh @"<b>" = <["<i>"=2]>')._repr_html_()
    assert "<script>" not in html
    assert "<i>" not in html
    assert "\x1b" not in html
    assert '@"<script>alert(1)</script>' in text_of(html)


def test_large_programs_long_lines_and_constants_are_shortened() -> None:
    functions = "".join(f"func.func private @f{number}()\n" for number in range(1000))
    html = sdyopt.parse(functions)._repr_html_()
    assert f"and {1002 - MAX_LINES} more lines" in text_of(html)
    assert "@f1()" in html
    assert "@f999()" not in html
    wide = "func.func private @f(" + ", ".join(["tensor<4xf32>"] * 1000) + ")"
    assert max(map(len, text_of(sdyopt.parse(wide)._repr_html_()).splitlines())) == MAX_LINE + len(" …")
    constant = (
        f"func.func @f() {{ %0 = stablehlo.constant dense<{list(range(2000))}> : tensor<2000xi32>\nreturn }}"
    )
    assert "__elided__" in sdyopt.parse(constant)._repr_html_()


def sharding_html(text: str, mesh: str = '["x"=2, "y"=2]', shape: str = "8x8") -> str:
    program = f"""
        sdy.mesh @mesh = <{mesh}>
        func.func @f(%a: tensor<{shape}xf32> {{sdy.sharding = #sdy.sharding<@mesh, {text}>}}) {{ return }}
    """
    [argument] = sdyopt.parse(program).functions["f"].arguments
    assert argument.sharding is not None
    return argument.sharding._repr_html_()


def rows(html: str) -> list[list[str]]:
    """The texts of the cells of each row."""
    found = re.findall(r"<tr>(.*?)</tr>", html)
    return [[text_of(cell) for cell in re.findall(r"<t[hd][^>]*>.*?</t[hd]>", row)] for row in found]


def test_a_sharding_is_shown_with_the_devices_of_each_shard() -> None:
    html = sharding_html('[{"x"}, {"y"}]')
    assert '#sdy.sharding<@mesh, [{"x"}, {"y"}]>' in text_of(html)
    assert rows(html) == [["", 'dimension 1 {"y"}'], ['dimension 0 {"x"}', "0", "1"], ["2", "3"]]


def test_dimension_0_has_rows_and_dimension_1_has_columns() -> None:
    assert rows(sharding_html('[{"y"}, {}]')) == [['dimension 0 {"y"}', "0 2"], ["1 3"]]
    assert rows(sharding_html('[{}, {"y"}]')) == [['dimension 1 {"y"}'], ["0 2", "1 3"]]
    assert rows(sharding_html("[{}, {}]")) == [["0 1 2 3"]]


def test_large_and_higher_dimensional_shardings_have_no_grid() -> None:
    assert "<table>" not in sharding_html('[{"x"}, {"y"}, {"z"}]', '["x"=2, "y"=2, "z"=2]', "8x8x8")
    assert "<table>" not in sharding_html('[{"x"}, {}]', '["x"=64]', "64x8")
    assert "<table>" not in sharding_html("[{}, {}]", '["x"=1048576]')
    assert rows(sharding_html("[{}, {}]", '["x"=1024]')) == [["0 1 2 3 4 5 6 7 and 1016 more"]]


# --- Figures ----------------------------------------------------------------------------------------

EXAMPLES = Path(__file__).parents[3] / "examples"
MLP, TRAIN = EXAMPLES / "mlp.mlir", EXAMPLES / "transformer_train.mlir"


# Several tests look at these, and each takes a second.
@cache
def small_memory() -> sdyopt.Check:
    return sdyopt.check(MLP, device_memory="1KiB")


@cache
def explanation() -> sdyopt.Explanation:
    return sdyopt.parse(TRAIN).explain("weights['embedding']")


@cache
def cheaper_shardings() -> sdyopt.Findings:
    return sdyopt.parse(MLP).lint("cheaper-sharding")


def displays() -> Iterator[tuple[str, str]]:
    """The HTML of each kind of object, by its name."""
    train = sdyopt.parse(TRAIN)
    after = train.run("sdy-jax-pipeline")
    changed = sdyopt.parse(train.as_text(debug_info=True).replace('[{"data"}, {}]', '[{}, {"data"}]'))
    yield "module", train._repr_html_()
    yield "check", small_memory()._repr_html_()
    yield "report", after.report(topology="tpu-v5e")._repr_html_()
    yield "explanation", explanation()._repr_html_()
    yield "findings", cheaper_shardings()._repr_html_()
    yield "comparison", changed.compare_with(train, "sdy-jax-pipeline")._repr_html_()
    yield "sweep", sdyopt.mesh_sweep(train, "data=1,2 x model=2")._repr_html_()
    hlo = Path(__file__).parents[2] / "lit" / "hlo_comparison" / "Inputs" / "step.txt"
    compiled = hlo.read_text().replace("num_partitions=4", "num_partitions=8")
    yield "hlo", after.report().compare_hlo(compiled)._repr_html_()


def test_displays_are_well_formed_small_and_load_nothing() -> None:
    for name, html in displays():
        page, frame, _ = html.partition("<iframe ")
        assert text_of(page if not frame else f"{page}</details></div>"), name
        assert len(page) < 100_000, name
        assert not re.search(r"<script|<link|<img|src=|https?://|url\(|@import", page), name
        # Every colour of a text comes with a background, or is legible on light and dark pages.
        assert not re.search(r"[;{]color:(?!inherit|#dc2626)(?!#[0-9a-f]{6}\})", page), name


def test_a_module_shows_arguments_by_their_names_and_layers_in_one_row() -> None:
    text = text_of(sdyopt.parse(TRAIN)._repr_html_())
    assert "weights['embedding']f32[8192,256]P('model')" in text.replace("\n", "")
    assert "weights['layers'][*]" in text
    assert " × " in text


def test_an_open_dimension_of_an_annotation_is_unconstrained() -> None:
    program = """
        sdy.mesh @mesh = <["x"=4]>
        func.func @f(%a: tensor<8x8xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}) { return }
    """
    text = text_of(sdyopt.parse(program)._repr_html_())
    assert "bool[8,8]P('x', P.UNCONSTRAINED)bool[2,8]" in text


def test_a_program_that_does_not_fit_stands_out() -> None:
    html = small_memory()._repr_html_()
    assert "<div class=bad>memory" in html
    assert "<div class=bad>memory" not in sdyopt.check(MLP)._repr_html_()


def test_texts_of_terminals() -> None:
    answer = explanation()
    assert repr(answer) == str(answer).rstrip("\n")
    findings = cheaper_shardings()
    assert {each.id for each in findings} == {"lint/cheaper-sharding"}
    assert "why: mlp.py:30: 768.0 KiB (49%) sent, all_reduce along data" in str(findings)
    assert repr(findings).endswith("--help-lint=RULE explains a rule")
    assert sdyopt.parse(TRAIN).lint("size-one-axis") == ()


def test_the_name_of_a_function_has_no_control_characters() -> None:
    html = sdyopt.parse('func.func @"f\\01"(%a: tensor<8xf32>) { return }')._repr_html_()
    assert "@f\N{REPLACEMENT CHARACTER}: 1 operation" in html
    assert "\x01" not in html
