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
    if (act) made.addEventListener("click", act);
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
  $("tools")?.append(...downloads("gold.csv"), print);
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

  // Rows of a list, so many at a time.
  const SIZE = 12;
  const pager = (back, forth, place, draw) => {
    let at = 0, n = 0, more = "";
    const show = () => {
      const end = Math.min(at + SIZE, n);
      draw(at, end);
      place.textContent = count(at + 1) + " to " + count(end) + " of " + more;
      back.disabled = at === 0;
      forth.disabled = end >= n;
    };
    back.addEventListener("click", () => { at = Math.max(0, at - SIZE); show(); });
    forth.addEventListener("click", () => { at += SIZE; show(); });
    return (many, words, keep) => {
      [n, more, at] = [many, words, keep ? at : 0];
      show();
      if (!n) place.textContent = "Nothing matches.";
    };
  };

  // Tables that sort and filter.
  document.querySelectorAll("table.data").forEach((table) => {
    if (table.closest(".paper")) return;
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    let all = [...body.rows, ...(table.querySelector("template")?.content.children ?? [])];
    let found = all;
    const [back, forth, place] = [button("Back"), button("Next"), document.createElement("output")];
    const page = pager(back, forth, place, (from, to) => body.replaceChildren(...found.slice(from, to)));
    const list = () => page(found.length, plural(found.length, "row"));
    const plain = (text) => text.trim().replaceAll(",", "").replaceAll("\u2212", "-");
    // The value stands in data-v unless the text shows all of it; a dash is a missing value.
    const value = (cell) => cell.dataset.v ?? plain(cell.firstChild.textContent).replace(/^\u2013$/, "");
    const number = (cell) => (value(cell) === "" ? NaN : Number(value(cell)));
    const order = new Intl.Collator(undefined, { numeric: true });
    const sort = (at) => {
      const down = heads[at].getAttribute("aria-sort") === "ascending";
      const numeric = heads[at].classList.contains("n");
      const sorted = (rows) => {
        const keyed = rows.map((row) => {
          const cell = row.cells[at];
          return [row, numeric ? number(cell) : cell.textContent.trim()];
        });
        const missing = (key) => (numeric ? Number.isNaN(key) : key === "");
        keyed.sort(([, a], [, b]) => {
          if (missing(a) || missing(b)) return missing(a) - missing(b);
          const sign = numeric ? a - b : order.compare(a, b);
          return down ? -sign : sign;
        });
        return keyed.map(([row]) => row);
      };
      heads.forEach((head) => head.removeAttribute("aria-sort"));
      heads[at].setAttribute("aria-sort", down ? "descending" : "ascending");
      [all, found] = [sorted(all), sorted(found)];
      list();
    };
    heads.forEach((head, at) => {
      const made = button("", () => sort(at));
      made.className = "sort";
      made.append(...head.childNodes);
      head.append(made);
    });
    const tools = make("div", "tools");
    if (all.length > 8) {
      const input = document.createElement("input");
      input.type = "search";
      input.addEventListener("input", () => {
        const wanted = input.value.trim().toLowerCase();
        found = all.filter((row) => row.textContent.toLowerCase().includes(wanted));
        list();
      });
      tools.append(make("label", "", "Filter ", input));
    }
    tools.append(...downloads(table.dataset.files ?? ""));
    if (tools.childNodes.length) table.parentElement.before(tools);
    if (all.length > SIZE) {
      table.querySelector(".first")?.remove();
      table.parentElement.after(make("p", "pager", back, place, forth));
    }
    list();
    if (!table.querySelector(".flagged")) return;
    // Only the rows to act on are printed.
    addEventListener("beforeprint", () => body.replaceChildren(...all.filter((row) => row.className === "flagged")));
    addEventListener("afterprint", list);
  });

  const kind = $("f-kind");
  if (kind) {
    const places = [...document.querySelectorAll(".places > li")];
    const more = button("", () => sift(Infinity));
    const sift = (most = 20) => {
      const like = places.filter((row) => kind.value === "" || kind.value === row.dataset.kind);
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
  const [THING, WRONG] = D.spans ? ["place", "wrong place"] : ["item", "wrong label"];
  const STATES = ["settled", "needs labels", contested, "decided"];
  const TAGS = ["yes", "needs", "contested", "decided"];
  // What --truth brought comes first; choices in the browser belong to these very decisions.
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
  const state = (item) => (isDecided(item) || given(item)?.two ? 3 : item[STATE]);
  // Votes and probabilities would sway the judge: they are shown after the decision, or by a key.
  const seen = new Set();
  const isBlind = (item) => item[STATE] !== 3 && !isDone(item) && !seen.has(item);
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
  const called = (item) => {
    const k = D.spans ? item[P].find((k, n) => n % 3 === 0 && D.names[k] === given(item).label) : undefined;
    return D.labels[k] ?? given(item).label;
  };

  // The list.
  const rows = $("all-items").tBodies[0];
  let found = items;
  const texts = items.map((item) => (item[NAME] + " " + item.slice(TEXT).join(" ")).toLowerCase());
  const page = pager($("back"), $("forth"), $("page"), (from, to) => {
    rows.replaceChildren(...found.slice(from, to).flatMap((item) => {
      const open = button("", () => show(item, true));
      open.className = "open";
      open.append(bdi(item[NAME]));
      const head = make("th", "", open);
      head.scope = "row";
      const label = isDecided(item) ? called(item) : D.labels[item[GOLD]];
      const votes = votesOf(item).map(([k, n]) => n + "\u00a0\u00d7\u00a0" + D.labels[k]).join(", ");
      const row = make("tr", "", head, make("td", "", tag(item)), make("td", "", bdi(label)),
        make("td", "n", isDecided(item) || item[STATE] === 3 ? "\u2013" : (item[P][2] ?? "")),
        make("td", votes.length > 20 ? "w" : "", votes));
      const about = [item[TEXT], item[REASON]].filter((text) => text);
      if (!about.length) return [row];
      const cell = make("td", "", ...about.map((text) => make("div", "", ...inText(text))));
      cell.colSpan = 5;
      return [row, make("tr", "why", cell)];
    }));
  });
  const only = D.left ? "; only in gold.csv: " + plural(D.left, "more " + THING) + " with the most certain labels" : "";
  const draw = (anew) => page(found.length, plural(found.length, THING) + only, !anew);
  const filter = () => {
    const [text, want, label, coder] = ["f-text", "f-state", "f-label", "f-coder"].map((id) => $(id).value.trim().toLowerCase());
    found = items.filter((item, n) => (text === "" || texts[n].includes(text))
      && (want === "" || state(item) === Number(want))
      && (label === "" || item[GOLD] === Number(label))
      && (coder === "" || item[VOTES].some((j, n) => n % 3 === 0 && j === Number(coder))));
    draw(true);
  };
  for (const id of ["f-text", "f-state", "f-label", "f-coder"]) $(id).addEventListener("input", filter);
  $("explorer").hidden = false;

  // The desk.
  const which = make("select", "");
  const groups = [[contested + " " + THING + "s", (item) => item[STATE] === 2],
    [THING + "s that need labels", (item) => item[STATE] === 1],
    ["all " + THING + "s in doubt", (item) => item[STATE] === 1 || item[STATE] === 2],
    ["all " + THING + "s", () => true]].filter(([, test]) => items.some(test));
  groups.forEach(([name], n) => which.append(new Option(name, n)));
  const queue = () => items.filter(groups[which.value][1]);

  // The first screen follows the decisions.
  const headline = document.querySelector(".headline"), sentence = headline.textContent;
  const shares = document.querySelector("#summary .states"), legend = document.querySelector("#summary .legend");
  const todo = document.querySelector('.actions a[href="#decide"] b'), asked = todo?.textContent ?? "";
  const BAR = ["settled", "open", "contested", "decided"];
  const follow = (rest) => {
    const counts = [...D.states];
    let mine = 0;
    for (const item of items) {
      if (item[STATE] === 3 || state(item) !== 3) continue;
      mine += 1;
      counts[item[STATE]] -= 1;
      counts[3] += 1;
    }
    const whole = counts.reduce((a, b) => a + b);
    const held = BAR.map((css, n) => [css, counts[n], D.bar[n]]).filter(([, n]) => n);
    shares?.replaceChildren(...held.map(([css, n]) => {
      const part = make("span", css);
      part.style.setProperty("--share", (100 * n / whole).toFixed(3));
      return part;
    }));
    legend?.replaceChildren(...held.map(([css, n, name]) => make("li", "", make("span", "key " + css), make("b", "", count(n)), " " + name)));
    headline.textContent = sentence + (mine ? " " + plural(mine, THING) + (mine === 1 ? " is" : " are")
      + " decided on this page, which leaves about " + plural(Math.round(rest), WRONG) + "." : "");
    const first = Number(asked.match(/[\d,]+/)?.[0].replaceAll(",", "") ?? 0);
    const left = D.states[2] ? counts[2] : Math.max(0, first - mine);
    if (todo) todo.textContent = mine ? asked.replace(/[\d,]+ (item|place)s?/, plural(left, THING)) : asked;
  };
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
    let less = 0, changed = 0, number = 0, two = 0, skipped = 0;
    for (const item of items) {
      skipped += Boolean(given(item)?.skip);
      two += Boolean(given(item)?.two);
      number += isDecided(item);
      if (isDecided(item) || given(item)?.two) less += doubt(item);
      changed += isDecided(item) && given(item).label !== D.names[item[GOLD]];
    }
    const rest = D.doubt > 0 ? D.wrong * Math.max(0, 1 - less / D.doubt) : 0;
    const said = [count(number) + " decided", two && count(two) + " with two readings",
      skipped && count(skipped) + " skipped", count(list.length - done) + " left"];
    follow(rest);
    bar.replaceChildren(make("b", "", said.filter(Boolean).join(", ")),
      " \u00b7 expected " + WRONG + "s: " + count(Math.round(D.wrong)) + (less ? " \u2192 " + count(Math.round(rest)) : "")
      + (changed ? " \u00b7 " + plural(changed, D.spans ? "gold place" : "gold label") + " changed" : ""));
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
    const item = current;
    remember(item, entry(change));
    show(next());
    last.replaceChildren(...about(item));
    draw();
  };
  const decide = (k) => act({ label: D.names[k] });
  const about = (item) => {
    const what = isDecided(item) ? called(item) : given(item)?.two ? "two readings" : "skipped";
    const votes = votesOf(item).map(([k, n]) => n + "\u00a0\u00d7\u00a0" + D.labels[k]).join(", ");
    return ["Last: ", bdi(item[NAME]), " \u2192 ", make("b", "", bdi(what)), ". ",
      item[STATE] === 3 ? "" : "The gold label was " + D.labels[item[GOLD]] + " (" + (item[P][2] ?? "") + "). ", "Votes: " + votes + "."];
  };
  const undo = () => {
    const last = history.pop();
    if (!last) return;
    const [item, before] = last;
    decisions.delete(item[NAME]);
    if (before) decisions.set(item[NAME], before);
    keep();
    show(item);
    last.replaceChildren();
    draw();
  };
  const choices = (item) => {
    if (D.spans) return item[P].filter((_, n) => n % 3 === 0).slice(0, 9);
    const all = D.labels.map((_, k) => k);
    return all.length <= 9 ? all : [...new Set([...item[P].filter((_, n) => n % 3 === 0), ...all])].slice(0, 9).sort((a, b) => a - b);
  };
  // A place stands in its text, between the words around it.
  const inText = (text) => (Array.isArray(text) ? [bdi(text[0]), make("mark", "", bdi(text[1])), bdi(text[2])] : [bdi(text)]);
  const show = (item, jump) => {
    const focused = card.contains(document.activeElement) ? [...card.querySelectorAll(".choices *")].indexOf(document.activeElement) : null;
    current = item;
    note.value = (item && given(item)?.note) ?? "";
    if (!item) {
      card.replaceChildren(make("p", "", make("b", "", "All of these are done."), " Choose other items above, or download the decisions."));
    } else {
      const p = new Map();
      for (let n = 0; n < item[P].length; n += 3) p.set(item[P][n], [item[P][n + 1], item[P][n + 2]]);
      const keys = choices(item), blind = isBlind(item);
      const shown = make("div", "choices", ...keys.map((k, n) => {
        const made = button("", () => decide(k));
        const chosen = given(item)?.label === D.names[k];
        if (chosen) made.setAttribute("aria-pressed", "true");
        const [share, chance] = p.get(k) ?? [0, "<0.01"];
        made.append(make("kbd", "", String(n + 1)), bdi(D.labels[k]), make("span", "share", blind || item[STATE] === 3 ? "" : chance));
        made.style.setProperty("--share", blind ? 0 : 100 * share);
        return made;
      }));
      if (!D.spans && D.labels.length > keys.length) {
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
        bdi(D.coders[j]), ": ", make("b", "", D.labels[k]), " ",
        D.spans ? "" : make("span", "", (value < 0 ? "\u2212" : "+") + Math.abs(value / 10).toFixed(1)))));
      const extra = make("dl", "shown", ...D.columns.flatMap((name, n) => [make("dt", "", name), make("dd", "", bdi(item[TEXT + 1 + n] ?? ""))]));
      card.replaceChildren(make("h3", "", bdi(item[NAME]), " ", tag(item)),
        ...(item[TEXT] ? [make("p", "text", ...inText(item[TEXT]))] : []), ...(D.columns.length ? [extra] : []), shown,
        ...(blind ? [make("div", "tools", button("Show votes and probabilities (V)", showVotes))] : [chips,
          D.spans ? "" : make("p", "cut", "Numbers: contribution of each vote to " + D.labels[item[GOLD]] + " (log-odds; 2.3 makes it ten times as probable)."),
          ...(item[REASON] ? [make("p", "cut", item[REASON])] : [])]));
    }
    progress();
    // redrawn buttons would lose the focus, and with it the place on the page
    if (focused !== null) ([...card.querySelectorAll(".choices *")][focused] ?? desk).focus({ preventScroll: true });
    if (jump) {
      desk.scrollIntoView({ block: "start" });
      desk.focus({ preventScroll: true });
    }
  };
  const quoted = (text) => (/[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text);
  const csvOfSpans = () => {
    const lines = [["document", "start", "end", "label", "decision", "note", "fit"]];
    const places = new Map(items.map((item) => [item[NAME], item[TEXT + 1]]));
    for (const [name, said] of decisions) {
      const what = said.two ? "two readings" : said.skip ? "skipped" : said.label === undefined ? "note" : "decided";
      const marks = JSON.parse(said.label ?? "[]");
      const [doc, ...place] = places.get(name) ?? [name, 0, 0];
      // no span: the place that the others marked says so
      for (const mark of marks.length ? marks : [[...place, what === "decided" ? "(none)" : ""]]) lines.push([doc, ...mark.map(String), what, said.note ?? "", D.fit]);
    }
    return lines.map((line) => line.map(quoted).join(",") + "\n").join("");
  };
  const csv = () => {
    if (D.spans) return csvOfSpans();
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
  const last = make("p", "cut last");
  last.setAttribute("aria-live", "polite");
  const showVotes = () => {
    if (!current) return;
    if (!seen.delete(current)) seen.add(current);
    show(current);
  };
  const skip = () => act({ skip: true });
  const two = () => act({ two: true });
  which.addEventListener("change", () => { current = null; show(next()); desk.focus({ preventScroll: true }); });
  note.addEventListener("change", () => {
    if (!current) return;
    const before = given(current);
    if (before || note.value.trim()) remember(current, { ...before, note: note.value.trim() });
    progress();
  });
  note.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "Escape") desk.focus({ preventScroll: true });
  });
  const inView = () => {
    // nobody decides by a key what is not on the screen
    const box = (card.querySelector(".choices") ?? card).getBoundingClientRect();
    return box.top < innerHeight && box.bottom > 0;
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !inView()) return;
    if (event.target.closest?.("input, select, textarea")) return;
    const place = Number(event.key) - 1;
    const pressed = event.key.toLowerCase();
    if (current && place >= 0 && place < choices(current).length) decide(choices(current)[place]);
    else if (pressed === "t" && !D.spans) two();
    else if (pressed === "s") skip();
    else if (pressed === "u") undo();
    else if (pressed === "v") showVotes();
    else if (pressed === "n") note.focus();
    else return;
    event.preventDefault();
  });
  const command = make("p", "copy", make("code", "", D.command));
  command.append(button("Copy", () => navigator.clipboard?.writeText(D.command)));
  desk.append(make("div", "tools", make("label", "", "Queue ", which), bar), card,
    make("div", "tools", D.spans ? "" : button("Two readings (T)", two), button("Skip (S)", skip), note, back), last,
    make("p", "cut", "Keys while this part is in view: 1 to " + Math.min(9, D.labels.length)
      + " decide, " + (D.spans ? "" : "T two readings, ") + "S skip, U undo, N note, V votes and probabilities."),
    ...(items.some((item) => item[TEXT]) || D.columns.length ? [] : [make("p", "cut", "No text is shown, because the data have no "
      + "column of texts that is recognized. Name it with --text COLUMN, and other columns with --show COLUMN.")]),
    make("div", "tools", take, where), make("p", "cut", "Then use them:"), command);
  document.querySelectorAll('a[href="#decide"]').forEach((link) => link.addEventListener("click", () => {
    setTimeout(() => desk.focus({ preventScroll: true }), 0);
  }));
  desk.hidden = false;
  draw();
  show(next());
})();
