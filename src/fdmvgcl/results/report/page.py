"""The page itself: template, style and scripts of this folder, and the content as JSON that cannot be markup."""

import base64
import hashlib
import json
import re
from importlib.resources import files
from typing import Any

_SCRIPTS = ("basics", "colours", "chart", "charts", "map", "gestures", "panel", "page")
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def render(content: dict[str, Any]) -> bytes:
    """The whole page. Its policy lets the browser run this one script and load nothing."""
    style = _asset("style.css")
    script = '"use strict";\n(() => {\n' + "\n".join(_asset(f"{name}.js") for name in _SCRIPTS) + "\n})();\n"
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src 'sha256-{_digest(style)}'; script-src 'sha256-{_digest(script)}'"
    )
    parts = {"POLICY": policy, "STYLE": style, "CONTENT": embedded_json(content), "SCRIPT": script}
    # One pass: what is put in is not searched for places.
    page = re.sub(r"\{\{([A-Z]+)\}\}", lambda place: parts[place[1]], _asset("page.html"))
    return page.encode(errors="replace")  # a lone surrogate of an edited file has no UTF-8


def embedded_json(content: Any) -> str:
    """JSON for a ``<script>`` element: no character of it can end the element; numbers are finite, or it is refused."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_ESCAPES)


def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
