"""Makes the README's pictures of the report: ``python docs/screenshots.py``. Needs Chromium on PATH.

The digits are embedded anew in a temporary folder, so the pictures show what ``make demo`` gives.
"""

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent / "pictures"


def embed(folder: Path) -> Path:
    command = [sys.executable, "-m", "fdmvgcl", "embed", "digits", "-q", "-o", str(folder)]
    subprocess.run(command, check=True)
    return folder / "report.html"


def save(picture: bytes, name: str) -> None:
    Image.open(io.BytesIO(picture)).convert("RGB").save(HERE / name, optimize=True)


def on_a_desk(browser: Any, report: Path) -> None:
    """The map with a digit selected, in colours of the labels."""
    page = browser.new_page(viewport={"width": 1180, "height": 900})
    page.goto(report.as_uri())
    page.fill("#search", "1234")
    page.keyboard.press("Enter")
    page.locator("#search").blur()
    page.wait_for_timeout(300)
    save(page.locator("#map .stage").screenshot(), "report-map.png")


def on_a_phone(browser: Any, report: Path) -> None:
    """The responses in dark mode, as much as a phone shows at once."""
    page = browser.new_page(viewport={"width": 390, "height": 790}, color_scheme="dark", device_scale_factor=1.5)
    page.goto(report.as_uri())
    page.evaluate("document.getElementById('views').scrollIntoView({ behavior: 'instant' })")
    page.wait_for_timeout(300)
    save(page.screenshot(), "report-phone.png")


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        made = embed(Path(folder) / "digits")
        on_a_desk(chromium, made)
        on_a_phone(chromium, made)
        chromium.close()
