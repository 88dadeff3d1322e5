"""What may be wrong with a page in a real browser, whatever is on it."""

import base64
import re
from pathlib import Path
from typing import Any

__all__ = ["SCHEMES", "WIDTHS", "problems", "shoot", "to_pdf"]

DESK = 1440
WIDTHS = (320, 768, DESK, 3840)
SCHEMES = (False, True)
SMALL = 600_000
A4 = {"paperWidth": 8.27, "paperHeight": 11.69}

# Clicks every heading of every table twice: a message for each column that is not in order then.
_SORTED = r"""(() => {
  const plain = (text) => text.trim().replaceAll(",", "").replaceAll("−", "-");
  const value = (cell) => cell.dataset.v ?? plain(cell.firstChild.textContent).replace(/^–$/, "");
  const wrong = [];
  for (const table of document.querySelectorAll(".scroll:not(.paper) > table.data")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, at) => {
      for (const sign of [1, -1]) {
        head.querySelector(".sort").click();
        if (!head.classList.contains("n")) continue;
        const keys = [...table.tBodies[0].rows].map((row) => value(row.cells[at]));
        const numbers = keys.filter((key) => key !== "").map(Number);
        const inOrder = numbers.every((x, n) => n === 0 || sign * (x - numbers[n - 1]) >= 0);
        const last = keys.lastIndexOf("") === -1 || keys.indexOf("") === numbers.length;
        if (!inOrder || !last || numbers.some(Number.isNaN)) {
          wrong.push(`${table.id}, ${head.dataset.key}: not sorted`);
        }
      }
    });
  }
  return wrong;
})()"""
_FILTERED = r"""(() => {
  const wrong = [];
  for (const table of document.querySelectorAll("table.data")) {
    const tools = table.parentElement.previousElementSibling;
    const input = tools?.className === "tools" ? tools.querySelector("input") : null;
    if (!input) continue;
    const pages = () => {
      const pager = table.parentElement.nextElementSibling;
      const [back, forth] = pager?.className === "pager" ? pager.querySelectorAll("button") : [];
      while (back && !back.disabled) back.click();
      const rows = [...table.tBodies[0].rows];
      while (forth && !forth.disabled) {
        forth.click();
        rows.push(...table.tBodies[0].rows);
      }
      return rows;
    };
    const rows = pages();
    const type = (text) => { input.value = text; input.dispatchEvent(new Event("input")); };
    const wanted = rows.at(-1).cells[0].textContent.trim().slice(0, 12);
    type(wanted);
    const left = pages();
    const has = (row) => row.textContent.toLowerCase().includes(wanted.toLowerCase());
    const right = rows.filter(has);
    if (!left.length || left.length !== right.length) wrong.push(`${table.id}: filter`);
    type("no row holds this text");
    if (pages().length) wrong.push(`${table.id}: filter leaves rows`);
    type("");
    if (pages().length !== rows.length) wrong.push(`${table.id}: filter keeps rows away`);
  }
  return wrong;
})()"""
# At a desk no table is wider than its box.
_WIDE = r"""[...document.querySelectorAll("table")]
  .filter((table) => table.offsetWidth > table.parentElement.clientWidth + 1)
  .map((table) => `wider than its box: ${table.id || table.textContent.trim().slice(0, 40)}`)"""
_OUTSIDE = r"""[...document.querySelectorAll('svg.plot')].flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.left < frame.left - 1 || box.right > frame.right + 1
      || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
  }).map((text) => `outside its figure: ${text.textContent}`);
})"""
# Parts that are wider than the page and cannot be scrolled: they would be cut off.
_CUT = r"""(() => {
  const width = document.documentElement.clientWidth;
  const scrolls = (part) => {
    for (let up = part; up; up = up.parentElement) {
      const style = getComputedStyle(up);
      if (["auto", "scroll", "hidden"].includes(style.overflowX)) return true;
      if (style.position === "absolute") return true;
    }
    return false;
  };
  return [...document.querySelectorAll("body *")].filter((part) => {
    const box = part.getBoundingClientRect();
    return box.width > 0 && (box.right > width + 1 || box.left < -1) && !scrolls(part);
  }).map((part) => `cut off: ${part.tagName} ${part.id || part.textContent.trim().slice(0, 40)}`)
    .slice(0, 5);
})()"""
# Headings and tables of the screen that are not on paper, although no line there says so.
_UNSAID = r"""(() => {
  const seen = (part) => part.getClientRects().length > 0;
  const said = [...document.querySelectorAll(".printed")].filter(seen);
  const line = said.map((part) => part.textContent).join(" ");
  const unsaid = [...document.querySelectorAll("section h2, #details > summary")]
    .filter((part) => !seen(part) && !part.closest("#details > section"))
    .map((part) => part.textContent.split(" for ")[0])
    .filter((title) => !line.includes(title));
  const tables = [...document.querySelectorAll("section:not(.screen) > .scroll > table.data")]
    .filter((part) => !seen(part) && !part.closest("#details"))
    .filter((part) => !part.parentElement.nextElementSibling?.matches(".printed, .pager"))
    .map((part) => part.id);
  return [...unsaid, ...tables].map((name) => `missing without a word: ${name}`);
})()"""


def problems(browser: Any, path: Path) -> list[str]:
    """Everything that is wrong with a page: what is complained about, asked for, cut off or dead.

    Parameters
    ----------
    browser
        A :class:`browser.Browser`.
    path
        The page.
    """
    found = []
    if path.stat().st_size >= SMALL:
        found.append(f"{path.stat().st_size:,} bytes")
    for dark in SCHEMES:
        tab = browser.tab(dark=dark)
        tab.open(path.as_uri())
        found += [f"complaint: {entry}" for entry in tab.complaints]
        asked = [url for url in tab.requests if not url.startswith("data:")]
        found += [f"asked for {url}" for url in asked if url != path.as_uri()]
        for width in WIDTHS:
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            tab.call("Emulation.setDeviceMetricsOverride", **size)
            wide = tab.evaluate("document.documentElement.scrollWidth")
            if wide > width:
                found.append(f"{wide} px of content at a width of {width}")
            found += [f"at {width} px, {what}" for what in tab.evaluate(_CUT)]
            found += tab.evaluate(_WIDE) if width == DESK else []
        if not dark:
            found += tab.evaluate(_OUTSIDE)
            if tab.evaluate("document.scripts.length"):
                found += [*tab.evaluate(_SORTED), *tab.evaluate(_FILTERED)]
            found += [f"complaint: {entry}" for entry in tab.complaints]
            found += _printed(tab)
        tab.close()
    return list(dict.fromkeys(found))


def _printed(tab: Any) -> list[str]:
    """Look at the page on paper: A4 less the margins of the style sheet is 695 px."""
    size = {"width": 695, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    tab.call("Emulation.setDeviceMetricsOverride", **size)
    tab.call("Emulation.setEmulatedMedia", media="print")
    found = [f"on paper, {what}" for what in (*tab.evaluate(_CUT), *tab.evaluate(_UNSAID))]
    wide = tab.evaluate("document.documentElement.scrollWidth")
    if wide > 695:
        found.append(f"on paper, {wide} px of content at a width of 695")
    parts = "[...document.querySelectorAll('button, input, select')]"
    dead = f"{parts}.filter((x) => x.offsetParent).length"
    if tab.evaluate(f"{dead} - document.querySelectorAll('.sort').length") > 0:
        found.append("on paper, buttons")
    tab.call("Emulation.setEmulatedMedia", media="")
    return found


def shoot(browser: Any, path: Path, target: Path, width: int, dark: bool, height: int = 0) -> None:
    """Save a picture of a page; of all of it when no height is given."""
    tab = browser.tab(width=width, dark=dark)
    tab.open(path.as_uri())
    whole = height or int(tab.evaluate("document.documentElement.scrollHeight"))
    size = {"width": width, "height": whole, "deviceScaleFactor": 1, "mobile": False}
    tab.call("Emulation.setDeviceMetricsOverride", **size)
    made = tab.call("Page.captureScreenshot", format="png")
    target.write_bytes(base64.b64decode(made["data"]))
    tab.close()


def to_pdf(browser: Any, path: Path, target: Path) -> int:
    """Print a page into a PDF file, and count its sheets."""
    tab = browser.tab()
    tab.open(path.as_uri())
    made = tab.call("Page.printToPDF", preferCSSPageSize=True, printBackground=False, **A4)
    data = base64.b64decode(made["data"])
    target.write_bytes(data)
    tab.close()
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", data))
