"""The page as a person uses it, in headless Chromium. ``look`` itself asserts: no console output, no requests."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from typer.testing import CliRunner

from fdmvgcl import cli

Embed = Callable[..., Path]
Look = Callable[..., Any]


@pytest.fixture(scope="module")
def club(embed: Embed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The karate club, with labels."""
    graph = nx.karate_club_graph()
    labels = tmp_path_factory.mktemp("labels") / "labels.csv"
    labels.write_text("id,label\n" + "".join(f"m{i},{graph.nodes[i]['club']}\n" for i in graph))
    edges = [(f"m{a}", f"m{b}") for a, b in graph.edges]
    return embed(edges, "--dim", 16, "--epochs", 4, "--views", 4, "--labels", labels)


FIND = """(wanted) => {
  const canvas = document.getElementById("canvas"), box = canvas.getBoundingClientRect();
  for (let y = 4; y < box.height; y += 4) for (let x = 4; x < box.width; x += 4) {
    const place = { clientX: box.left + x, clientY: box.top + y };
    canvas.dispatchEvent(new PointerEvent("pointermove", { ...place, pointerId: 9, pointerType: "mouse" }));
    const tip = document.querySelector("#tip:not([hidden]) bdi");
    if (tip && tip.textContent === wanted) return [place.clientX, place.clientY];
  }
}"""


def place_of(page: Any, node: str) -> tuple[float, float]:
    """Where a node is on the screen, found by feeling over the whole map."""
    page.locator("#canvas").scroll_into_view_if_needed()
    return tuple(page.evaluate(FIND, node))


def pixels(page: Any) -> str:
    return page.evaluate("document.getElementById('canvas').toDataURL()")


class TestMap:
    def test_search_selects_and_lists_neighbours(self, club: Path, look: Look) -> None:
        page = look(club).page
        assert page.locator(".near").count() == 0
        page.fill("#search", "m3")
        assert page.locator("#suggestions li").all_text_contents() == ["m3", "m30", "m31", "m32", "m33"]
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert page.locator("#panel h3").text_content() == "m30"
        assert page.locator(".near").count() == 8
        other = page.locator(".near bdi").first.text_content()
        page.locator(".near").first.click()
        assert page.locator("#panel h3").text_content() == other
        page.fill("#search", "nobody")
        assert page.locator("#suggestions").text_content() == "No node has such an id."
        page.keyboard.press("Escape")
        assert page.locator(".near").count() == 0

    def test_hover_tells_and_click_selects(self, club: Path, look: Look) -> None:
        page = look(club).page
        x, y = place_of(page, "m33")
        page.mouse.move(x, y)
        assert page.locator("#tip bdi").first.text_content() == "m33"
        assert "label Officer" in page.locator("#tip").text_content()
        assert "degree" in page.locator("#tip").text_content()
        page.mouse.click(x, y)
        assert page.locator("#panel h3").text_content() == "m33"

    def test_slider_moves_the_nodes_and_says_which_view(self, club: Path, look: Look) -> None:
        page = look(club).page
        slider = page.locator("#slider")
        assert slider.get_attribute("max") == "4"
        assert "The embedding" in page.locator("#stop").text_content()
        before = pixels(page)
        slider.focus()
        page.keyboard.press("Home")
        assert "the most local view" in page.locator("#stop").text_content()
        page.wait_for_function("(old) => document.getElementById('canvas').toDataURL() !== old", arg=before)

    def test_colours_and_layouts(self, club: Path, look: Look) -> None:
        page = look(club).page
        assert page.locator("#legend button").all_text_contents() == ["Mr. Hi", "Officer"]
        page.get_by_text("Degree", exact=True).click()
        assert "logarithmic" in page.locator("#legend").text_content()
        page.get_by_text("Cluster", exact=True).click()
        assert "cluster 1" in page.locator("#legend").text_content()
        page.locator("#layout").get_by_text("Components", exact=True).click()
        assert "of its variance" in page.locator("#stop").text_content()

    def test_zoom_by_wheel_buttons_and_keys(self, club: Path, look: Look) -> None:
        page = look(club).page
        page.locator("#canvas").scroll_into_view_if_needed()
        changed = "(old) => document.getElementById('canvas').toDataURL() !== old"
        whole = pixels(page)
        page.locator("#canvas").hover(position={"x": 30, "y": 30})
        page.mouse.wheel(0, -300)
        page.wait_for_function(changed, arg=whole)
        page.click("#zoom-reset")
        page.wait_for_function("(old) => document.getElementById('canvas').toDataURL() === old", arg=whole)
        page.locator("#canvas").focus()
        page.keyboard.press("+")
        page.wait_for_function(changed, arg=whole)


class TestPage:
    def test_every_chart_is_drawn(self, club: Path, look: Look) -> None:
        page = look(club).page
        for name in ("response", "loss", "orders", "rank", "similarity", "components"):
            assert page.locator(f"#{name} svg path.line").count() >= 1, name
        assert page.locator("#scores tbody tr").count() == 4
        assert page.locator("#command").text_content().startswith("fdmvgcl embed ")
        page.locator("#response svg").hover()
        assert "λ =" in page.locator("#response .tip").text_content()

    def test_menu_and_headings_have_the_same_names(self, club: Path, look: Look) -> None:
        page = look(club).page
        menu = page.locator("#sections a").all_text_contents()
        assert menu == page.locator("main > section:not([hidden]) h2").all_text_contents()
        assert menu[:4] == ["Summary", "Map", "Does it help?", "Views"]

    def test_the_answer_to_a_search_is_in_view_on_a_phone(self, club: Path, look: Look) -> None:
        page = look(club, 390, 844, has_touch=True).page
        page.fill("#search", "m30")
        page.keyboard.press("Enter")
        page.wait_for_function(
            """() => {
              const box = document.getElementById("panel").getBoundingClientRect();
              return box.top >= 0 && box.bottom <= innerHeight + 1;
            }"""
        )
        assert page.locator("#panel h3").text_content() == "m30"

    def test_charts_begin_alike(self, club: Path, look: Look) -> None:
        page = look(club).page
        charts = page.locator("#training figure svg.chart")
        starts = charts.evaluate_all("(all) => all.map((each) => each.querySelector('.axis').getAttribute('x1'))")
        assert len(starts) > 6
        assert len(set(starts)) == 1
        bars = page.locator(".bins .bin i").evaluate_all("(all) => all.map((bar) => bar.getBoundingClientRect().width)")
        assert max(bars) > 100

    @pytest.mark.parametrize("width", [320, 390, 768, 1280])
    def test_nothing_is_wider_than_the_screen(self, hostile: Path, look: Look, width: int) -> None:
        page = look(hostile, width).page
        page.fill("#search", "xxx")
        page.keyboard.press("Enter")
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    def test_dark_mode_and_print(self, club: Path, look: Look) -> None:
        page = look(club, color_scheme="dark").page

        def paper() -> int:
            return page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]")

        dark, pale = paper(), pixels(page)
        page.emulate_media(media="print")
        page.wait_for_function("(old) => document.getElementById('canvas').toDataURL() !== old", arg=pale)
        assert dark < 60 < 250 < paper()
        assert page.pdf()[:5] == b"%PDF-"

    def test_touch(self, club: Path, look: Look) -> None:
        page = look(club, 390, 844, has_touch=True).page
        x, y = place_of(page, "m0")
        page.touchscreen.tap(x, y)
        assert page.locator("#panel h3").text_content() == "m0"

    def test_names_are_text(self, hostile: Path, look: Look) -> None:
        page = look(hostile).page
        page.fill("#search", "<script>")
        page.keyboard.press("Enter")
        assert page.locator("#panel h3").text_content() == "<script>alert(1)</script>"
        assert "<b>bold</b>" in page.locator("#legend").text_content()
        assert page.locator("script").count() == 2
        assert page.locator("b, img").count() == 0
        assert "more than 72 characters are cut" in page.locator("#map-note").text_content()

    def test_no_training_two_nodes(self, embed: Embed, look: Look) -> None:
        page = look(embed([("a", "b")], "--dim", 4, "--epochs", 0)).page
        assert "No epoch was trained" in page.locator("#training").text_content()
        page.fill("#search", "a")
        page.keyboard.press("Enter")
        assert page.locator(".near bdi").first.text_content() == "b"

    def test_without_scripts_it_says_so(self, club: Path, look: Look) -> None:
        page = look(club, java_script_enabled=False).page
        assert "Allow scripts" in page.locator("noscript").text_content()


class TestGraphs:
    def test_a_click_shows_the_graph_drawn(self, tmp_path: Path, look: Look) -> None:
        lines = ["graph,source,target"]
        for i in range(12):
            graph = nx.cycle_graph(5 + i) if i else nx.star_graph(250)
            lines += [f"g{i},{a},{b}" for a, b in graph.edges]
        (tmp_path / "edges.csv").write_text("\n".join(lines) + "\n")
        arguments = ["--level", "graph", "--dim", "8", "--epochs", "2", "--views", "3", "-o", str(tmp_path / "out")]
        assert CliRunner().invoke(cli.app, ["embed", str(tmp_path / "edges.csv"), *arguments]).exit_code == 0
        page = look(tmp_path / "out").page
        assert page.locator("#lead").text_content().startswith("12 graphs, each turned into a vector")
        page.fill("#search", "g7")
        page.keyboard.press("Enter")
        assert page.locator(".picture circle").count() == 12
        assert page.locator(".picture line").count() == 12
        assert "12 nodes" in page.locator(".panel .about").text_content()
        page.fill("#search", "g0")
        page.keyboard.press("Enter")
        assert page.locator(".picture").count() == 0
        assert "Not drawn: it has more than 200 nodes." in page.locator("#panel").text_content()
