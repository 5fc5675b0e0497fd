"""The pages in a real browser: `make test-browser`, with chromium and the extra `browser`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import chdir
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sdyopt
from docs import page_image
from sdyopt.analysis.explain.steps.analysis import steps_page
from sdyopt.analysis.figures.figures import ONCE, Collective, Report
from sdyopt.analysis.figures.source_locations import Frame, SourceLocation
from sdyopt.analysis.report.html_report import html_report
from tests.unit.explain.test_steps import MATMUL, explained

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="requires playwright: pip install 'sdy-opt[browser]'"
)
CHROMIUM = page_image.chromium()
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="requires chromium")

# The example does not fit with 2 devices.
SWEPT_MEMORY = "60MiB"
EXAMPLE = "examples/transformer_train.mlir"
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1920, "height": 1080}
_CHECKS = Path(__file__).with_name("checks.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of the example: `report.html`, `comparison.html`, `steps.html` and `sweep.html`."""
    folder = tmp_path_factory.mktemp("pages")
    text = Path(EXAMPLE).read_text(encoding="utf-8")
    program, other = sdyopt.parse(text), sdyopt.parse(text.replace('"model"=2', '"model"=4'))
    # The source files are found below the current folder.
    sweep = sdyopt.mesh_sweep(program, "data=2,4 x model=1,2", topology="tpu-v5e", device_memory=SWEPT_MEMORY)
    with chdir(Path(EXAMPLE).parent):
        pages = {
            "report": sdyopt.check(program, topology="tpu-v5e", device_memory="16MiB").report.to_html(),
            "comparison": other.compare_with(program, "sdy-jax-pipeline").to_html(),
            "steps": steps_page(explained(text, EXAMPLE)),
            "sweep": sweep.to_html(),
        }
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return folder


class Opened:
    """A page in the browser. At the end, it must have met no error and asked for no other file."""

    def __init__(self, browser: Any, path: Path, size: dict[str, int] = DESK, scheme: str = "light") -> None:
        self._context = browser.new_context(viewport=size, color_scheme=scheme)
        self.page = self._context.new_page()
        self._problems: list[str] = []
        self.page.set_default_timeout(20_000)
        self.page.on("pageerror", lambda error: self._problems.append(str(error)))
        self.page.on("console", lambda message: self._problems.append(message.text))
        self.page.on("dialog", lambda dialog: self._problems.append(dialog.message))
        self.page.on("request", lambda request: self._requests.append(request.url))
        self._requests: list[str] = []
        self.page.goto(path.as_uri())

    def __enter__(self) -> Any:
        return self.page

    def __exit__(self, *_: object) -> None:
        self._context.close()
        assert not self._problems
        assert len(self._requests) == 1


def texts(page: Any, selector: str) -> list[str]:
    return [str(each) for each in page.locator(selector).all_inner_texts()]


def test_the_summary_is_first(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "report.html") as page:
        assert texts(page, ".card h3") == ["communication", "memory", "time"]
        assert page.locator(".badge.bad").inner_text().startswith("✗ does not fit in 16.0 MiB")
        assert page.locator(".places > li").count() == 3
        assert "weights" in page.locator(".places pre.code").first.inner_text()
        # What to write comes before the code.
        assert page.locator(".places .line + .tried + .code").count() > 0
        assert page.locator(".places .tried").count() + page.locator(".places .line + .note").count() == 3
        # A place has the figure of its line in the table.
        place = page.locator(".places > li").first
        line, sent = place.locator("button.where").inner_text(), place.locator("strong").first.inner_text()
        page.get_by_label("search collectives").fill(line)
        assert sent in page.locator("#where > table > tbody td").first.inner_text()


def test_collectives_in_loops_are_told_apart(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "loop.html"
    program = Path(__file__).parents[1] / "lit/check/kinds.mlir"
    path.write_text(sdyopt.check(program).report.to_html(), encoding="utf-8")
    with Opened(browser, path) as page:
        loops = page.locator("h3", has_text="in loops").locator("xpath=following-sibling::table[1]")
        assert "loop at model.py:4, n times" in loops.inner_text()


def test_collectives_are_searched_filtered_grouped_and_sorted(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "report.html") as page:
        rows = page.locator("#where > table > tbody > tr")
        all_rows = rows.count()
        page.get_by_label("search collectives").fill("transformer_train.py:74")
        assert rows.count() == 1 < all_rows
        page.get_by_label("search collectives").fill("no such thing")
        assert page.locator("#where output").inner_text() == "no group matches"
        page.get_by_label("search collectives").fill("")
        page.locator("#where").get_by_label("axes").select_option(label="along model")
        assert 0 < rows.count() < all_rows
        assert re.fullmatch(r"\d groups, 12\.0 MiB, 42%", page.locator("#where output").inner_text())
        page.locator("#where").get_by_label("axes").select_option(index=0)
        page.get_by_label("group collectives by").select_option(label="by weight")
        assert "weights['embedding']" in texts(page, "#where td.place")
        page.locator("#where th button", has_text="count").click()
        counts = [int(text) for text in texts(page, "#where > table > tbody > tr > td:nth-child(4)")]
        assert counts == sorted(counts, reverse=True)
        assert page.locator("#where th[aria-sort=descending]").inner_text().startswith("count")


def test_arguments_are_searched_filtered_grouped_and_sorted(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "report.html") as page:
        names, count = "#boundary > table > tbody td.place", page.locator("#boundary output")
        assert texts(page, names)[0] == "weights['embedding']"
        page.locator("#boundary").get_by_label("kind").select_option(label="result")
        assert all(text.startswith("result[") for text in texts(page, names))
        page.locator("#boundary").get_by_label("kind").select_option(index=0)
        page.get_by_label("search arguments and results").fill("momentum['layers']")
        assert count.inner_text() == "12 values, 3.00 MiB of arguments"
        page.locator("#boundary").get_by_label("arguments and results", exact=True).first.select_option(
            label="all layers together"
        )
        assert "momentum['layers'][*]['down'] 2 values" in texts(page, names)
        page.locator("#boundary th button", has_text="name").click()
        assert texts(page, names) == sorted(texts(page, names))


def test_the_shares_of_forward_and_backward_need_no_filter(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "report.html") as page:
        assert "76% backward, 24% forward" in page.locator(".card").first.inner_text()
        assert "topology tpu-v5e" in page.locator("header").inner_text()


def test_a_group_opens_with_the_keyboard(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "report.html") as page:
        button = page.locator("#where .open").first
        button.focus()
        page.keyboard.press("Enter")
        assert button.get_attribute("aria-expanded") == "true"
        page.locator("#where .detail summary").first.focus()
        page.keyboard.press("Enter")
        assert page.locator("#where .members").first.is_visible()
        button.focus()
        page.keyboard.press("Enter")
        assert page.locator("#where .detail").count() == 0


def test_what_is_live_follows_the_pointer_and_the_keyboard(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "report.html") as page:
        heading = page.locator("#curve h4")
        assert heading.inner_text().startswith("at the peak: 22.1 MiB live at transformer_train.py:80")
        page.get_by_label("point of the program").focus()
        page.keyboard.press("Home")
        start = heading.inner_text()
        assert "peak" not in start
        assert page.get_by_label("point of the program").get_attribute("aria-valuetext") in start.replace(
            "live ", ""
        )
        box = page.locator("#curve svg").bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 50)
        assert heading.inner_text() != start
        page.get_by_role("button", name="peak", exact=True).click()
        assert heading.inner_text().startswith("at the peak")


def test_a_place_leads_to_its_line_and_a_line_to_its_collectives(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "report.html") as page:
        page.locator(".places button.where", has_text="transformer_train.py:80").first.click()
        line = page.locator("tr.here")
        assert 'weights["embedding"]' in line.inner_text()
        assert page.evaluate("document.activeElement.closest('tr').className") == "here"
        page.keyboard.press("Enter")
        assert page.get_by_label("search collectives").input_value() == "transformer_train.py:80"
        count = page.locator("#lines tr[data-at]").count()
        page.get_by_label("all lines").check()
        assert page.locator("#lines tr[data-at]").count() > count


def test_the_parts_of_the_program_are_a_tree(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "report.html") as page:
        page.locator("#flame [role=treeitem]").first.focus()
        page.keyboard.press("ArrowDown")
        announced = page.locator("#flame [aria-live]").inner_text()
        assert page.evaluate("document.activeElement.ariaLevel") == "2"
        page.keyboard.press("Enter")
        assert (
            page.locator("#flame [role=treeitem]").first.get_attribute("title") == announced.split(" › ")[-1]
        )
        page.get_by_label("measure").select_option(label="FLOPs")
        assert "FLOP" in page.locator("#flame [aria-live]").inner_text()


def test_products_link_to_their_lines_and_collectives(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "report.html") as page:
        bound = page.locator("#bound tbody tr").first
        # The parts of the flame graph end in lines.
        assert page.locator("#flame [role=treeitem]", has_text=".py:").count() > 1
        bound.locator("button.where", has_text=".py:").click()
        assert page.locator("tr.here").count() == 1
        bound.locator("button.where", has_text="#").first.click()
        assert "sdy.all_" in page.locator("b.here").inner_text()
        bound.locator("button.where", has_text="dot_general").click()
        assert "stablehlo.dot_general" in page.locator("b.here").inner_text()


def test_the_program_is_shown_with_its_collectives(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "report.html") as page:
        page.locator("#where .open").first.click()
        page.locator("#where .detail summary").first.click()
        page.locator("#where .members button.where").first.click()
        assert "sdy.all_reduce" in page.locator("b.here").inner_text()
        # Its text has the quotes of the program.
        assert 'sdy.mesh @mesh = <["data"=4, "model"=2]>' in page.locator("#text").inner_text()


def test_a_line_of_the_program_is_found_by_its_number(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "report.html") as page:
        page.locator("#work .open").first.click()
        page.locator("#work .detail summary").first.click()
        product = page.locator("#work .members button.where").first
        number = re.search(r", line (\d+)", product.locator("..").inner_text())
        assert number is not None
        product.click()
        assert page.locator("b.here").get_attribute("id") == f"L{number[1]}"
        assert "stablehlo.dot_general" in page.locator("b.here").inner_text()
        numbers = page.locator("#text .numbers").first
        assert numbers.inner_text().split()[:3] == ["1", "2", "3"]
        # A number is beside its line.
        above = (int(number[1]) - 1) * numbers.evaluate(
            "(box) => parseFloat(getComputedStyle(box).lineHeight)"
        )
        there = page.locator("b.here").bounding_box()["y"]
        assert abs(numbers.bounding_box()["y"] + above - there) < 6


def test_figures_have_their_names_on_a_phone(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "report.html", PHONE) as page:
        for name in ("sent here", "with calls", "FLOPs with calls", "line"):
            assert page.locator("#lines th", has_text=re.compile(f"^{name}$")).is_visible()
        kinds = page.locator("#where td.kinds").first
        first = kinds.locator("div").first
        assert abs(first.bounding_box()["y"] - kinds.bounding_box()["y"]) < 6


def test_parts_of_a_step_are_not_told_without_name_stacks(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(sdyopt.parse(MATMUL).report().to_html(), "utf-8")
    with Opened(browser, tmp_path / "report.html") as page:
        assert page.get_by_label("phase").count() == 0
        assert "forward" not in page.locator("body").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["report", "comparison", "steps", "sweep"])
def test_on_a_phone_nothing_is_cut_or_faint(browser: Any, folder: Path, name: str, scheme: str) -> None:
    with Opened(browser, folder / f"{name}.html", PHONE, scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert page.evaluate(f"{_CHECKS} cut()") == []
        assert page.evaluate(f"{_CHECKS} faint()") == []


def test_the_first_tab_skips_to_the_figures(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "report.html") as page:
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"


def test_the_image_in_the_documentation_shows_this_page(browser: Any, tmp_path: Path) -> None:
    """`make docs` draws it again."""
    path = tmp_path / "report.html"
    path.write_text(page_image.report_page(), encoding="utf-8")
    with Opened(browser, path) as page:
        assert page_image.described(page_image.IMAGE.read_bytes()) == page_image.shown_text(page)


def test_a_comparison_has_both_programs(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "comparison.html") as page:
        assert "→" in page.locator(".card .figure").first.inner_text()
        assert page.locator(".bar").count() == 2
        page.get_by_label("search communication").fill("transformer_train.py:74")
        assert page.locator("#communication tbody tr").count() > 0
        assert all("transformer_train.py:74" in text for text in texts(page, "#communication tr.noted"))


def test_a_sweep_has_charts_and_a_table(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "sweep.html") as page:
        assert texts(page, ".card h3") == ["best of 4 devices", "best of 8 devices"]
        rows = page.locator("#meshes tbody tr")
        assert rows.count() == 4
        assert texts(page, "#meshes tbody tr .badge") == ["does not fit", "fits", "best of 4", "best of 8"]
        page.locator("#meshes").get_by_label("verdict").select_option(label="best")
        assert page.locator("#meshes output").inner_text() == "2 meshes"
        page.locator("#meshes").get_by_label("verdict").select_option(index=0)
        page.locator("#meshes th button", has_text="memory").click()
        assert rows.first.inner_text().startswith("2")
        # Each chart has a point for each mesh, with its figures.
        assert page.locator("#charts svg").count() == 2
        assert page.locator("#charts svg .cross").count() == 2
        page.locator("#charts g[tabindex]").first.focus()
        assert page.locator("#charts [aria-live]").first.inner_text().startswith("data = 2, model = 1: ")


def test_steps_are_searched_and_stepped_through(browser: Any, folder: Path) -> None:
    with Opened(browser, folder / "steps.html") as page:
        title = page.locator("#title")
        assert title.inner_text().startswith("step 0 of ")
        page.keyboard.press("ArrowRight")
        assert title.inner_text().startswith("step 1 of ")
        page.get_by_label("search steps").fill("transformer_train.py:80")
        found = texts(page, "#found button")
        assert found
        assert all("transformer_train.py:80" in text for text in found)
        page.locator("#found button").last.click()
        assert title.inner_text().startswith(re.sub(r"^step (\d+).*", r"step \1 of", found[-1]))
        assert re.match(r"transformer_train\.py:\d+", page.locator("#place").inner_text())
        assert page.locator("#place code").inner_text()
        assert "#loc" not in page.locator(".program").inner_text()
        page.get_by_label("search steps").focus()
        page.keyboard.press("Home")
        assert not title.inner_text().startswith("step 0 of ")


def test_nothing_from_the_input_runs(browser: Any, tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    (tmp_path / "evil.py").write_text(f"# {evil}\n" * 3, encoding="utf-8")
    frames = (Frame(evil, str(tmp_path / "evil.py"), 2, 0),)
    location = SourceLocation(str(tmp_path / "evil.py"), 2, 0, evil, frames, f"{evil}/x")
    collective = Collective(
        0,
        evil,
        "sdy",
        f'{{"{evil}"}}',
        f'{{"{evil}"}}',
        2,
        (evil,),
        (evil,),
        8,
        8,
        Fraction(8),
        ONCE,
        location,
        evil,
        cause=evil,
        change=evil,
        moved=evil,
    )
    report = Report(2, f'<["{evil}"=2]>', collectives=[collective], assumption=evil)
    path = tmp_path / "evil.html"
    path.write_text(html_report(report, evil, evil, None, str(tmp_path)), encoding="utf-8")
    with Opened(browser, path) as page:
        page.locator("#where .open").first.click()
        page.get_by_role("button", name="show the program").click()
        page.locator("#text .program").wait_for()
        assert evil in page.locator("#lines code").first.inner_text()
        assert page.locator("img").count() == 0
    path.write_text(steps_page(explained(MATMUL.replace("@main", f'@"{evil}"'), evil)), encoding="utf-8")
    with Opened(browser, path) as page:
        assert evil in page.locator(".program").inner_text()


def test_a_page_of_many_collectives_is_small(browser: Any, tmp_path: Path) -> None:
    location = SourceLocation(
        "model.py", 7, 0, "step/layer/dot", (Frame("layer", "model.py", 7, 0),), "step/layer/dot"
    )
    collectives = [
        Collective(
            number,
            "all_gather",
            "sdy",
            '{"x"}',
            '{"x"}',
            8,
            (),
            (),
            64,
            512,
            Fraction(448),
            ONCE,
            location,
            f"%{number}",
            f"dot_general needs this sharding of params['layers'][{number}]['w']",
            moved=f"params['layers'][{number}]['w']",
        )
        for number in range(1_000)
    ]
    program = "\n".join(
        f'%{number} = sdy.all_gather [{{}}, {{"x"}}] %a out_sharding=<@mesh, [{{}}, {{}}]> : tensor<8x8xf32>'
        for number in range(10_000)
    )
    path = tmp_path / "many.html"
    path.write_text(
        html_report(Report(8, '<["x"=8]>', collectives=collectives), program, "many"), encoding="utf-8"
    )
    assert path.stat().st_size < 600_000
    with Opened(browser, path) as page:
        page.get_by_label("group collectives by").select_option(label="by weight")
        page.get_by_role("button", name="show all 1,000 groups").click()
        assert page.locator("#where > table > tbody > tr").count() == 1_000
        page.get_by_role("button", name="show the program").click()
        page.locator("#text .program").wait_for()
        assert page.locator("#text pre").count() == 20
