"use strict";
document.querySelectorAll("table.data").forEach((table) => {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const plain = (text) => text.trim().replaceAll(",", "").replaceAll("\u2212", "-");
  // The value stands in data-v unless the text shows all of it; a dash is a missing value.
  const value = (cell) => cell.dataset.v ?? plain(cell.firstChild.textContent).replace(/^\u2013$/, "");
  const ends = (cell) => (cell.querySelector("small")?.textContent ?? "\u2013").split(/\u2013| to /).map(plain);
  const number = (cell) => (value(cell) === "" ? NaN : Number(value(cell)));
  const order = new Intl.Collator(undefined, { numeric: true });

  const sort = (at) => {
    const down = heads[at].getAttribute("aria-sort") === "ascending";
    const numeric = heads[at].classList.contains("n");
    const keyed = [...body.rows].map((row) => {
      const cell = row.cells[at];
      return [row, numeric ? number(cell) : cell.textContent.trim()];
    });
    const missing = (key) => (numeric ? Number.isNaN(key) : key === "");
    keyed.sort(([, a], [, b]) => {
      if (missing(a) || missing(b)) return missing(a) - missing(b);
      const sign = numeric ? a - b : order.compare(a, b);
      return down ? -sign : sign;
    });
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[at].setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...keyed.map(([row]) => row));
  };
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(at));
    head.append(button);
  });

  // A text that a spreadsheet would take for a formula gets an apostrophe in front.
  const safe = (text) => (/^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? "'" + text : text);
  const field = (text) => (/[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text);
  const csv = () => {
    const names = heads.flatMap((head) => {
      const key = head.dataset.key;
      return head.dataset.ci === undefined ? [key] : [key, key + "_low", key + "_high"];
    });
    const rows = [...body.rows].filter((row) => !row.hidden).map((row) =>
      heads.flatMap((head, at) => {
        const cell = row.cells[at];
        const text = head.classList.contains("n") ? value(cell) : cell.textContent.trim();
        return head.dataset.ci === undefined ? [text] : [text, ...ends(cell)];
      }));
    return [names, ...rows].map((row) => row.map((text) => field(safe(text))).join(",")).join("\r\n") + "\r\n";
  };
  table.annomodelsCsv = csv;

  const tools = document.createElement("div");
  tools.className = "tools";
  if (body.rows.length > 8) {
    const label = document.createElement("label");
    const input = document.createElement("input");
    const shown = document.createElement("output");
    input.type = "search";
    label.append("Filter", input);
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      let left = 0;
      for (const row of body.rows) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
        left += !row.hidden;
      }
      shown.textContent = wanted ? left + " of " + body.rows.length + " rows" : "";
    });
    tools.append(label, shown);
  }
  const save = document.createElement("button");
  save.type = "button";
  save.textContent = "Download CSV";
  save.setAttribute("aria-label", "Download CSV: " + table.caption.textContent.trim());
  save.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(["\ufeff", csv()], { type: "text/csv;charset=utf-8" }));
    link.download = table.id + ".csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  tools.append(save);
  table.parentElement.before(tools);
});
