// What all pages have in common: elements, figures as text, tables, and the text of a program.
const at = (id) => document.getElementById(id);
const data = JSON.parse(at("data").textContent);
const element = (name, properties = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "text") made.textContent = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
};
const SVG = "http://www.w3.org/2000/svg";
const drawn = (name, properties = {}, ...children) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(properties)) made.setAttribute(key, value);
  made.append(...children.flat());
  return made;
};

// --- Text.
const colours = new Map(data.axes.map((name, number) => [name, number % 8]));
const AXIS = /(["'])([^"']*)\1(?=[:,;=}\]) ]|$)/gm;
// The text as nodes, each axis in its colour. Text of a program keeps its quotes.
const coloured = (text, hasQuotes = false) => {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(AXIS)) {
    if (!colours.has(match[2])) continue;
    // The quotes are part of `P('x')`.
    parts.push(text.slice(end, match.index), element("i", { class: `a${colours.get(match[2])}`, text: match[1] === '"' && !hasQuotes ? match[2] : match[0] }));
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end));
  return parts;
};
const counted = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
const scaled = (size, base, units) => {
  let power = 0;
  while (power + 1 < units.length && size >= base ** (power + 1)) power += 1;
  const value = size / base ** power;
  return power === 0 ? `${Math.round(value)} ${units[0]}` : `${value.toFixed(value < 10 ? 2 : 1)} ${units[power]}`;
};
const bytesText = (size) => scaled(size, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]);
const flopsText = (size) => scaled(size, 1000, ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"]);
const secondsText = (seconds) => {
  if (seconds >= 1 || !seconds) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  for (const [unit, part] of [["ms", 1e-3], ["us", 1e-6]]) {
    const value = seconds / part;
    if (value >= 1) return `${value.toFixed(value < 10 ? 2 : 1)} ${unit}`;
  }
  return `${(seconds / 1e-9).toFixed(2)} ns`;
};
const shareText = (share) => (share > 0 && share < 0.005 ? "<1%" : `${Math.round(share * 100)}%`);
// Texts of figures, to compare them by size.
const UNITS = { s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, PiB: 2 ** 50, EiB: 2 ** 60,
  FLOP: 1, kFLOP: 1e3, MFLOP: 1e6, GFLOP: 1e9, TFLOP: 1e12, PFLOP: 1e15, EFLOP: 1e18 };
const figure = (text) => {
  const match = /([-+]?[\d.]+) ?([A-Za-z]+)?%?$/.exec(text.split(" + ")[0]);
  return match ? parseFloat(match[1]) * (UNITS[match[2]] || 1) : text === "" || text === "none" ? -Infinity : Infinity;
};

// Round values up to `top`, to mark an axis: at most seven, in units of powers of `base`.
const ticksOf = (top, base = 1024) => {
  const unit = base === 1024 ? 1024 ** Math.floor(Math.log2(top) / 10) : 10 ** Math.floor(Math.log10(top)), most = top / unit;
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((each) => most / each <= 6) * unit;
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, number) => number * step);
};

// --- Tables.
// A table that is searched, filtered and sorted. `columns` are { name, figure, text(row), node(row), order(row) }, `facets`
// { name, values(row) }, `rowsOf(filter)` the rows for a filter, which takes a text and an object with text and values,
// `detail(row)` what is below a row when it is opened. `total(rows)` follows their number. It shows `limit` rows, and more on request;
// `what` and `whats` are one row and several. It is sorted by the first column at first, the greatest first if `down`.
const dataTable = (host, { label, columns, rowsOf, facets = [], choices = [], detail, note, total, limit = 12, what = "row", whats = `${what}s`, down = true }) => {
  const state = { search: "", facets: {}, sort: 0, down, limit };
  const search = element("input", { type: "search", placeholder: "search", "aria-label": `search ${label}`,
    oninput: () => { state.search = search.value.toLowerCase(); show(); } });
  const selects = facets.map(({ name, options }) => {
    const select = element("select", { "aria-label": name, onchange: () => { state.facets[name] = select.value; show(); } },
      element("option", { value: "", text: `all ${name.endsWith("s") ? name : `${name}s`}` }), options.map((text) => element("option", { value: text, text: text.replaceAll('"', "") })));
    return options.length > 1 ? select : null;
  });
  const count = element("output", { class: "note", "aria-live": "polite" });
  const head = element("tr", {}, columns.map((column, number) => element("th", { scope: "col", class: column.figure ? "n" : null },
    element("button", { type: "button", onclick: () => {
      state.down = state.sort === number ? !state.down : Boolean(column.figure);
      state.sort = number;
      show();
    } }, column.name))));
  const body = element("tbody");
  const table = element("table", { class: "stack", "aria-label": label }, element("thead", {}, head), body);
  const more = element("button", { type: "button", class: "more", onclick: () => { state.limit = Infinity; show(); } });
  host.append(element("div", { class: "controls" }, choices, search, selects, count), table, more);
  const matches = (text, values = {}) => (!state.search || text.toLowerCase().includes(state.search))
    && Object.entries(state.facets).every(([name, value]) => !value || values[name] === value);
  const open = (row, line, button) => {
    const is = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!is));
    if (is) line.nextSibling.remove();
    else line.after(element("tr", { class: "detail" }, element("td", { colspan: columns.length }, detail(row))));
  };
  const lines = (row) => {
    const line = element("tr", row.share === undefined ? {} : { style: `--share:${Math.max(0, Math.min(row.share, 1)) * 100}%` });
    columns.forEach((column, number) => {
      const content = column.node ? column.node(row) : coloured(String(column.text(row)));
      const cell = element("td", { class: column.figure ? "n" : column.class, "data-label": column.name }, content);
      if (detail && number === 0 && (row.opens ?? true)) cell.prepend(element("button", { type: "button", class: "open", "aria-expanded": "false", "aria-label": "details",
        onclick: (event) => open(row, line, event.currentTarget) }));
      line.append(cell);
    });
    const text = note && note(row);
    if (text) {
      line.className = "noted";
      return [line, element("tr", { class: "note-row" }, element("td", { colspan: columns.length }, text))];
    }
    return [line];
  };
  const show = () => {
    const found = rowsOf(matches), column = columns[state.sort];
    const key = column.order || (column.figure ? (row) => figure(String(column.text(row))) : (row) => String(column.text(row)));
    const sorted = found.map((row) => [key(row), row]).sort(([a], [b]) => (a === b ? 0 : a < b ? -1 : 1) * (state.down ? -1 : 1));
    head.childNodes.forEach((cell, number) => (number === state.sort ? cell.setAttribute("aria-sort", state.down ? "descending" : "ascending") : cell.removeAttribute("aria-sort")));
    const shown = sorted.slice(0, state.limit);
    body.replaceChildren(...shown.flatMap(([, row]) => lines(row)));
    count.textContent = found.length ? `${found.length.toLocaleString("en")} ${found.length === 1 ? what : whats}` + (total ? total(found) : "") : `no ${what} matches`;
    more.hidden = shown.length === sorted.length;
    more.textContent = `show all ${sorted.length.toLocaleString("en")} ${whats}`;
  };
  show();
  return { show, search: (text) => { search.value = text; state.search = text.toLowerCase(); show(); } };
};

// A table of texts, in the order of the page until it is sorted.
const textTable = (host, { columns, figures, notes, rows }) => {
  const shown = notes ? columns.slice(0, -1) : columns;
  const items = rows.map((cells, position) => ({ cells, position, text: cells.join(" "),
    share: columns.includes("share") ? figure(cells[columns.indexOf("share")]) / 100 : undefined }));
  const names = host.querySelector("h3, h2") || host.closest("section").querySelector("h2");
  dataTable(host, {
    label: names ? names.textContent : "table",
    columns: shown.map((name, number) => ({
      name,
      figure: number < figures,
      class: name === "type" || name === "value" ? "code" : null,
      text: (item) => item.cells[number],
      order: number === 0 ? (item) => -item.position : undefined,
    })),
    note: notes ? (item) => coloured(item.cells[columns.length - 1]) : undefined,
    rowsOf: (matches) => items.filter((item) => matches(item.text)),
  });
};

// --- The text of a program, which may be compressed.
const textOf = async (name) => {
  const text = at(name).textContent;
  if (text.startsWith('"')) return JSON.parse(text);
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
};
const LINES_PER_BLOCK = 500;
// Lines in blocks: a browser lays out and colours those that are near the screen. `made(line, number)` is an element for a
// line, its text, or null to leave it out.
const programView = (lines, made) => {
  const near = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach(({ target }) => {
    near.unobserve(target);
    for (const node of [...target.childNodes].map((each) => each.firstChild || each)) {
      if (node.data && AXIS.test(node.data)) node.replaceWith(...coloured(node.data, true));
      AXIS.lastIndex = 0;
    }
  }), { rootMargin: "600px" });
  const view = element("div", { class: "program", tabindex: "0", role: "region", "aria-label": "program" });
  for (let start = 0; start < lines.length; start += LINES_PER_BLOCK) {
    const block = lines.slice(start, start + LINES_PER_BLOCK);
    const pre = element("pre", { style: `--lines:${block.length}` });
    const numbers = [];
    block.forEach((line, position) => {
      const shown = made(line, start + position + 1);
      if (shown === null) return;
      pre.append(shown, "\n");
      numbers.push(start + position + 1);
    });
    pre.append(element("span", { class: "numbers", "aria-hidden": "true", text: numbers.join("\n") }));
    view.append(pre);
    if (data.axes.length) near.observe(pre);
  }
  return view;
};
document.querySelectorAll("[data-table]").forEach((host) => textTable(host, data.tables[host.dataset.table]));
