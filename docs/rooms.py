"""Makes the picture of the rooms from the imports of the code itself: ``python docs/rooms.py``, for architecture.md."""

import inspect
import runpy
from html import escape
from pathlib import Path

from fdmvgcl import Graph
from fdmvgcl.learning.encoder import MultiViewEncoder
from fdmvgcl.learning.prepare import Prepared
from fdmvgcl.results.outputs import ResultFolder
from fdmvgcl.results.report import write_report

PICTURE = Path(__file__).parent / "pictures" / "rooms.svg"
LAYERS = runpy.run_path(str(Path(__file__).parent.parent / "tests" / "test_layers.py"))
# The way of the data: what it is at each station, and the class or function that it is there.
STATIONS = (
    ("a file", Graph.read),
    ("Graph", Graph),
    ("Prepared", Prepared),
    ("views", MultiViewEncoder),
    ("a folder", ResultFolder),
    ("report.html", write_report),
)
BOX, GAP, ROW, TOP, WIDTH = (104, 30), 14, 66, 118, 940
STYLE = "text { font: 12px sans-serif; fill: #1c2127 } .small { font-size: 10px; fill: #59626c }"


def imports() -> dict[str, set[str]]:
    """Of each room, the rooms that its modules import when they are imported."""
    found: dict[str, set[str]] = {}
    for path in LAYERS["ROOT"].rglob("*.py"):
        room = path.relative_to(LAYERS["ROOT"]).parts[0].removesuffix(".py")
        found.setdefault(room, set()).update(LAYERS["imported_rooms"](path) - {room})
    return {room: found[room] for room in LAYERS["ORDER"] if not room.startswith("__")}


def levels(graph: dict[str, set[str]]) -> dict[str, int]:
    """How many rooms lie below each, on the longest way down."""
    level: dict[str, int] = {}
    for room, below in graph.items():  # in an order in which imports go up
        level[room] = 1 + max((level[other] for other in below if other in level), default=-1)
    return level


def direct(graph: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Imports that do not follow from others: a room that is reached through another has no line of its own."""
    reached: dict[str, set[str]] = {}
    for room, below in graph.items():
        reached[room] = below.union(*(reached[other] for other in below))
    return [
        (room, other)
        for room, below in graph.items()
        for other in sorted(below)
        if not any(other in reached[between] for between in below)
    ]


def picture() -> str:
    """SVG: the way of the data above, the rooms below, each above all that it imports."""
    graph = imports()
    level = levels(graph)
    rows = [[room for room in graph if level[room] == n] for n in range(max(level.values()) + 1)]
    place = {
        room: (WIDTH / 2 + (i - (len(row) - 1) / 2) * (BOX[0] + 3 * GAP), TOP + (len(rows) - 1 - n) * ROW)
        for n, row in enumerate(rows)
        for i, room in enumerate(row)
    }
    lines = [
        f'<line x1="{place[a][0]:.0f}" y1="{place[a][1] + BOX[1]:.0f}" x2="{place[b][0]:.0f}" y2="{place[b][1]:.0f}" '
        f'stroke="#b9bec4"><title>{a} imports {b}</title></line>'
        for a, b in direct(graph)
    ]
    homes = [_home(station) for _, station in STATIONS]
    boxes = [_box(*place[room], room, "#dbe9f6" if room in homes else "#f4f2ec") for room in graph]
    height = TOP + len(rows) * ROW
    parts = [*_way(homes), *lines, *boxes]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
    return "\n".join([head, f"<style>{STYLE}</style>", *parts, "</svg>", ""])


def _home(station: object) -> str:
    return inspect.getmodule(inspect.unwrap(station)).__name__.split(".")[1]  # type: ignore[arg-type, union-attr]


def _way(homes: list[str]) -> list[str]:
    step = WIDTH / len(STATIONS)
    parts = []
    for i, ((name, _), home) in enumerate(zip(STATIONS, homes, strict=True)):
        x = (i + 0.5) * step
        parts.append(_box(x, 16, name, "#dbe9f6"))
        parts.append(f'<text class="small" x="{x:.0f}" y="62" text-anchor="middle">{home}</text>')
        if i:
            end = x - BOX[0] / 2
            arrow = f"M{end - step + BOX[0]:.0f} 31H{end - 4:.0f}m-5 -4l5 4l-5 4"
            parts.append(f'<path d="{arrow}" fill="none" stroke="#59626c"/>')
    return parts


def _box(x: float, y: float, name: str, colour: str) -> str:
    return (
        f'<rect x="{x - BOX[0] / 2:.0f}" y="{y:.0f}" width="{BOX[0]}" height="{BOX[1]}" rx="4" fill="{colour}" '
        f'stroke="#8a929b"/><text x="{x:.0f}" y="{y + 19:.0f}" text-anchor="middle">{escape(name)}</text>'
    )


if __name__ == "__main__":
    PICTURE.write_text(picture())
