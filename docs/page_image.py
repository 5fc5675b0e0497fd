"""Draws the page in docs/reports.md, where chromium and the extra `browser` are: `make docs`.

The picture has the text that it shows, so that a test can tell whether it is up to date.
"""

from __future__ import annotations

import shutil
import struct
from contextlib import chdir
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zlib import crc32

import sdyopt

ROOT = Path(__file__).parents[1]
IMAGE = Path(__file__).with_name("images") / "report-page.png"
PROGRAM = Path("transformer_train.mlir")
SIZE = {"width": 1180, "height": 910}
# What the picture shows.
SHOWN = ".card, .legend, .places"
_SIGNATURE, _KEY = b"\x89PNG\r\n\x1a\n", b"Comment\0"


def chromium() -> str | None:
    """The path of the browser, if there is one."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def report_page() -> str:
    """The page that is drawn."""
    with chdir(ROOT / "examples"):
        found = sdyopt.check(sdyopt.parse(PROGRAM), topology="tpu-v5e")
        return found.report.to_html()


def shown_text(page: Any) -> str:
    """The text that the picture of an opened page shows."""
    return "\n".join(page.locator(SHOWN).all_inner_texts())


def described(image: bytes) -> str:
    """The text that a picture says it shows."""
    at = len(_SIGNATURE)
    while at < len(image):
        [size] = struct.unpack(">I", image[at : at + 4])
        if image[at + 4 : at + 8] == b"tEXt":
            return image[at + 8 + len(_KEY) : at + 8 + size].decode()
        at += size + 12
    return ""


def _with_text(image: bytes, text: str) -> bytes:
    """A picture that says what it shows, in a chunk before its end."""
    chunk = b"tEXt" + _KEY + text.encode()
    added = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", crc32(chunk))
    end = image.rindex(b"IEND") - 4
    return image[:end] + added + image[end:]


def main() -> None:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (an extra)

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        page.set_content(report_page())
        IMAGE.write_bytes(_with_text(page.screenshot(), shown_text(page)))
        browser.close()


if __name__ == "__main__":
    if find_spec("playwright") is None:
        print("docs/images/report-page.png is not drawn: pip install 'sdy-opt[browser]'")
    elif chromium() is None:
        print("docs/images/report-page.png is not drawn: there is no chromium")
    else:
        main()
