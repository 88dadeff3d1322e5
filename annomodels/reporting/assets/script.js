"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const make = (tag, css, ...parts) => {
    const made = document.createElement(tag);
    if (css) made.className = css;
    made.append(...parts.filter((part) => part !== ""));
    return made;
  };
  const button = (text, act) => {
    const made = make("button", "", text);
    made.type = "button";
    made.addEventListener("click", act);
    return made;
  };
  const bdi = (text) => make("bdi", "", text);
  const count = (n) => n.toLocaleString("en-US");
  const plural = (n, word) => count(n) + " " + word + (n === 1 ? "" : "s");

  // Files of the folder, compressed in the page.
  const packed = JSON.parse($("files-data")?.textContent ?? "{}");
  const save = (name, blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const unpack = (name) => {
    const bytes = Uint8Array.from(atob(packed[name]), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).blob();
  };
  const downloads = (names) => names.split(" ").filter((name) => packed[name] && "DecompressionStream" in window)
    .map((name) => button("Download " + name, async () => save(name, await unpack(name))));
  document.querySelectorAll(".files").forEach((place) => place.append(...downloads(place.dataset.files)));
  window.annomodelsFile = async (name) => (await unpack(name)).text();

  const print = button("Print", () => window.print());
  $("tools")?.append(print, ...downloads("next.csv"));
  document.querySelectorAll(".copy").forEach((line) => {
    line.append(button("Copy", () => navigator.clipboard?.writeText(line.firstChild.textContent)));
  });
  const reveal = () => {
    const place = location.hash.length > 1 && $(location.hash.slice(1));
    for (let up = place; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    if (place && place.closest("details")) place.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Tables that sort and filter.
  document.querySelectorAll("table.data").forEach((table) => {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const plain = (text) => text.trim().replaceAll(",", "").replaceAll("\u2212", "-");
    // The value stands in data-v unless the text shows all of it; a dash is a missing value.
    const value = (cell) => cell.dataset.v ?? plain(cell.firstChild.textContent).replace(/^\u2013$/, "");
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
      const made = button("", () => sort(at));
      made.className = "sort";
      made.append(...head.childNodes);
      head.append(made);
    });
    const tools = make("div", "tools");
    if (body.rows.length > 8) {
      const input = document.createElement("input");
      const shown = document.createElement("output");
      input.type = "search";
      input.addEventListener("input", () => {
        const wanted = input.value.trim().toLowerCase();
        let left = 0;
        for (const row of body.rows) {
          row.hidden = !row.textContent.toLowerCase().includes(wanted);
          left += !row.hidden;
        }
        shown.textContent = wanted ? count(left) + " of " + plural(body.rows.length, "row") : "";
      });
      tools.append(make("label", "", "Filter ", input), shown);
    }
    tools.append(...downloads(table.dataset.files ?? ""));
    if (tools.childNodes.length && !table.closest(".paper")) table.parentElement.before(tools);
  });

  const kind = $("f-kind");
  if (kind) {
    const places = [...document.querySelectorAll(".places > li")];
    const more = button("", () => sift(Infinity));
    const sift = (most = 20) => {
      const like = places.filter((row) => kind.value === "" || kind.value.split(",").includes(row.dataset.kind));
      places.forEach((row) => { row.hidden = true; });
      like.slice(0, most).forEach((row) => { row.hidden = false; });
      more.hidden = like.length <= most;
      more.textContent = "Show all " + like.length;
    };
    kind.closest("label").hidden = false;
    kind.addEventListener("change", () => sift());
    document.querySelectorAll("a[data-only]").forEach((link) => link.addEventListener("click", () => {
      kind.value = link.dataset.only;
      sift();
    }));
    document.querySelector(".places").after(make("p", "pager", more));
    sift();
  }

  // All items, and the desk where they are decided.
  const desk = $("desk");
  if (!$("items-data") || !desk) return;
  const D = JSON.parse($("items-data").textContent);
  const [NAME, GOLD, STATE, P, VOTES, REASON, TEXT] = [0, 1, 2, 3, 4, 5, 6];
  const contested = desk.dataset.contested;
  const STATES = ["settled", "needs labels", contested, "decided"];
  const TAGS = ["yes", "needs", "contested", "decided"];
  // What --gold brought comes first; choices in the browser belong to these very decisions.
  const key = "annomodels " + D.fit + (D.decided.length ? JSON.stringify(D.decided) : "");
  const items = D.items;
  let decisions = new Map(D.decided);
  let stored = true;
  try {
    decisions = new Map([...decisions, ...JSON.parse(localStorage.getItem(key) ?? "[]")]);
  } catch {
    stored = false;
  }
  const keep = () => {
    try {
      localStorage.setItem(key, JSON.stringify([...decisions]));
    } catch {
      stored = false;
    }
  };
  const given = (item) => decisions.get(item[NAME]);
  const isDecided = (item) => typeof given(item)?.label === "string";
  const isDone = (item) => item[STATE] === 3 || given(item)?.label !== undefined || given(item)?.two || given(item)?.skip;
  const state = (item) => (isDecided(item) ? 3 : item[STATE]);
  const doubt = (item) => (item[STATE] === 3 ? 0 : 1 - (item[P][1] ?? 1));
  const tag = (item) => {
    const text = given(item)?.two ? "two readings" : STATES[state(item)];
    return make("span", "tag " + (given(item)?.two ? "contested" : TAGS[state(item)]), text);
  };
  const votesOf = (item) => {
    const counts = new Map();
    for (let n = 1; n < item[VOTES].length; n += 3) counts.set(item[VOTES][n], (counts.get(item[VOTES][n]) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]);
  };
  const chance = (p) => (p > 0.995 && p < 1 ? ">0.99" : p >= 0.945 && p < 0.95 ? (Math.floor(1000 * p) / 1000).toFixed(3) : p.toFixed(2));

  // The list.
  const rows = $("all-items").tBodies[0];
  const SIZE = 12;
  let found = items, at = 0;
  const texts = items.map((item) => (item[NAME] + " " + item.slice(TEXT).join(" ")).toLowerCase());
  const draw = () => {
    rows.replaceChildren(...found.slice(at, at + SIZE).flatMap((item) => {
      const open = button("", () => show(item, true));
      open.className = "open";
      open.append(bdi(item[NAME]));
      const head = make("th", "", open);
      head.scope = "row";
      const label = isDecided(item) ? given(item).label : D.labels[item[GOLD]];
      const row = make("tr", "", head, make("td", "", bdi(label)),
        make("td", "n", isDecided(item) || item[STATE] === 3 ? "\u2013" : chance(item[P][1])),
        make("td", "", votesOf(item).map(([k, n]) => n + "\u00a0\u00d7\u00a0" + D.labels[k]).join(", ")),
        make("td", "", tag(item)));
      const about = [item[TEXT], item[REASON]].filter((text) => text);
      if (!about.length) return [row];
      const cell = make("td", "", ...about.map((text) => make("div", "", bdi(text))));
      cell.colSpan = 5;
      return [row, make("tr", "why", cell)];
    }));
    const end = Math.min(at + SIZE, found.length);
    $("page").textContent = found.length
      ? count(at + 1) + " to " + count(end) + " of " + plural(found.length, "item")
        + (D.left ? "; only in gold.csv: " + plural(D.left, "more item") + " with the most certain labels" : "")
      : "No item matches.";
    $("back").disabled = at === 0;
    $("forth").disabled = end >= found.length;
  };
  const filter = () => {
    const [text, want, label, coder] = ["f-text", "f-state", "f-label", "f-coder"].map((id) => $(id).value.trim().toLowerCase());
    found = items.filter((item, n) => (text === "" || texts[n].includes(text))
      && (want === "" || state(item) === Number(want))
      && (label === "" || item[GOLD] === Number(label))
      && (coder === "" || item[VOTES].some((j, n) => n % 3 === 0 && j === Number(coder))));
    at = 0;
    draw();
  };
  for (const id of ["f-text", "f-state", "f-label", "f-coder"]) $(id).addEventListener("input", filter);
  $("back").addEventListener("click", () => { at = Math.max(0, at - SIZE); draw(); });
  $("forth").addEventListener("click", () => { at += SIZE; draw(); });
  $("explorer").hidden = false;

  // The desk.
  const which = make("select", "");
  const groups = [[contested + " items", (item) => item[STATE] === 2],
    ["items that need labels", (item) => item[STATE] === 1],
    ["all items in doubt", (item) => item[STATE] === 1 || item[STATE] === 2],
    ["all items", () => true]].filter(([, test]) => items.some(test));
  groups.forEach(([name], n) => which.append(new Option(name, n)));
  const queue = () => items.filter(groups[which.value][1]);
  const bar = make("p", "progress");
  bar.setAttribute("role", "status");
  const card = make("article", "card");
  const note = make("input", "");
  note.setAttribute("aria-label", "Note");
  note.placeholder = "Note (N)";
  const history = [];
  let current = null;

  const remember = (item, entry) => {
    history.push([item, decisions.get(item[NAME])]);
    decisions.delete(item[NAME]);
    if (entry) decisions.set(item[NAME], entry);
    keep();
  };
  const progress = () => {
    const list = queue();
    const done = list.filter((item) => isDone(item)).length;
    let less = 0, changed = 0, number = 0;
    for (const item of items) {
      if (!isDecided(item)) continue;
      number += 1;
      less += doubt(item);
      changed += given(item).label !== D.names[item[GOLD]];
    }
    const rest = D.doubt > 0 ? D.wrong * Math.max(0, 1 - less / D.doubt) : 0;
    bar.replaceChildren(make("b", "", count(number) + " decided, " + count(list.length - done) + " left"),
      " \u00b7 expected wrong labels: " + count(Math.round(D.wrong)) + (number ? " \u2192 " + count(Math.round(rest)) : "")
      + (changed ? " \u00b7 " + plural(changed, "gold label") + " changed" : ""));
    take.disabled = decisions.size === 0;
    back.disabled = history.length === 0;
    where.textContent = stored ? "Kept in this browser." : "Not kept when you close this page: download first.";
  };
  const next = () => {
    const list = queue();
    const from = Math.max(0, list.indexOf(current) + 1);
    return [...list.slice(from), ...list.slice(0, from)].find((item) => !isDone(item)) ?? null;
  };
  const entry = (change) => ({ ...change, ...(note.value.trim() ? { note: note.value.trim() } : {}) });
  const act = (change) => {
    if (!current) return;
    remember(current, entry(change));
    show(next());
    draw();
  };
  const decide = (k) => act({ label: D.names[k] });
  const undo = () => {
    const last = history.pop();
    if (!last) return;
    const [item, before] = last;
    decisions.delete(item[NAME]);
    if (before) decisions.set(item[NAME], before);
    keep();
    show(item);
    draw();
  };
  const choices = (item) => {
    const all = D.labels.map((_, k) => k);
    return all.length <= 9 ? all : [...new Set([...item[P].filter((_, n) => n % 2 === 0), ...all])].slice(0, 9);
  };
  const show = (item, jump) => {
    current = item;
    note.value = (item && given(item)?.note) ?? "";
    if (!item) {
      card.replaceChildren(make("p", "", make("b", "", "All of these are done."), " Choose other items above, or download the decisions."));
    } else {
      const p = new Map();
      for (let n = 0; n < item[P].length; n += 2) p.set(item[P][n], item[P][n + 1]);
      const keys = choices(item);
      const shown = make("div", "choices", ...keys.map((k, n) => {
        const made = button("", () => decide(k));
        const chosen = given(item)?.label === D.names[k];
        if (chosen) made.setAttribute("aria-pressed", "true");
        const share = p.get(k) ?? 0;
        made.append(make("kbd", "", String(n + 1)), bdi(D.labels[k]), make("span", "share", item[STATE] === 3 ? "" : chance(share)));
        made.style.setProperty("--share", 100 * share);
        return made;
      }));
      if (D.labels.length > keys.length) {
        const others = make("select", "", new Option("another label", ""));
        D.labels.forEach((name, k) => { if (!keys.includes(k)) others.append(new Option(name, k)); });
        others.setAttribute("aria-label", "Another label");
        others.addEventListener("change", () => others.value !== "" && decide(Number(others.value)));
        shown.append(others);
      }
      const said = [];
      for (let n = 0; n < item[VOTES].length; n += 3) said.push(item[VOTES].slice(n, n + 3));
      said.sort((a, b) => a[1] - b[1] || b[2] - a[2]);
      const chips = make("ul", "chips", ...said.map(([j, k, value]) => make("li", value < 0 ? "against" : "for",
        bdi(D.coders[j]), ": ", make("b", "", D.labels[k]), " ", make("span", "", (value < 0 ? "\u2212" : "+") + Math.abs(value / 10).toFixed(1)))));
      const extra = make("dl", "shown", ...D.columns.flatMap((name, n) => [make("dt", "", name), make("dd", "", bdi(item[TEXT + 1 + n] ?? ""))]));
      card.replaceChildren(make("h3", "", bdi(item[NAME]), " ", tag(item)),
        ...(item[TEXT] ? [make("p", "text", bdi(item[TEXT]))] : []), ...(D.columns.length ? [extra] : []), shown, chips,
        make("p", "cut", "Numbers: contribution of each vote to " + D.labels[item[GOLD]] + " (log-odds; 2.3 makes it ten times as probable)."),
        ...(item[REASON] ? [make("p", "cut", item[REASON])] : []));
    }
    progress();
    if (jump) {
      desk.scrollIntoView({ block: "start" });
      desk.focus({ preventScroll: true });
    }
  };
  const quoted = (text) => (/[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text);
  const csv = () => {
    const lines = [["item", "label", "decision", "note", "fit"]];
    for (const [name, said] of decisions) {
      const what = said.two ? "two readings" : said.skip ? "skipped" : said.label === undefined ? "note" : "decided";
      lines.push([name, said.label ?? "", what, said.note ?? "", D.fit]);
    }
    return lines.map((line) => line.map(quoted).join(",") + "\n").join("");
  };
  window.annomodelsDecisions = csv;
  const formulas = make("span", "cut", "A spreadsheet would compute some cells: import the columns as text.");
  const formula = (text) => /^[=+\-@\t\r]./.test(text) && Number.isNaN(Number(text));
  const take = button("Download decisions.csv", () => {
    save("decisions.csv", new Blob([csv()], { type: "text/csv;charset=utf-8" }));
    if ([...decisions].flatMap(([name, said]) => [name, said.label ?? "", said.note ?? ""]).some(formula)) take.after(formulas);
  });
  const back = button("Undo (U)", undo);
  const where = make("span", "cut");
  const skip = () => act({ skip: true });
  const two = () => act({ two: true });
  which.addEventListener("change", () => { current = null; show(next()); });
  note.addEventListener("change", () => {
    if (!current) return;
    const before = given(current);
    if (before || note.value.trim()) remember(current, { ...before, note: note.value.trim() });
    progress();
  });
  note.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "Escape") desk.focus();
  });
  desk.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT"].includes(event.target.tagName)) return;
    const place = Number(event.key) - 1;
    const pressed = event.key.toLowerCase();
    if (current && place >= 0 && place < choices(current).length) decide(choices(current)[place]);
    else if (pressed === "t") two();
    else if (pressed === "s") skip();
    else if (pressed === "u") undo();
    else if (pressed === "n") note.focus();
    else return;
    event.preventDefault();
  });
  const command = make("p", "copy", make("code", "", D.command));
  command.append(button("Copy", () => navigator.clipboard?.writeText(D.command)));
  desk.append(make("div", "tools", make("label", "", "Queue ", which), bar), card,
    make("div", "tools", button("Two readings (T)", two), button("Skip (S)", skip), note, back),
    make("p", "cut", "Press 1 to " + Math.min(9, D.labels.length) + " to decide."),
    make("div", "tools", take, where), make("p", "cut", "Then use them:"), command);
  document.querySelectorAll('a[href="#decide"]').forEach((link) => link.addEventListener("click", () => {
    setTimeout(() => desk.focus({ preventScroll: true }), 0);
  }));
  desk.hidden = false;
  draw();
  show(next());
})();
