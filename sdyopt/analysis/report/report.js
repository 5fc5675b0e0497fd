// The charts and tables of a report.
const { strings, frames, stacks } = data;
const itemsOf = ({ fields, texts, rows }) => {
  const isText = new Set(texts);
  return rows.map((row) => Object.fromEntries(fields.map((name, number) => [name, isText.has(name) ? strings[row[number]] : row[number]])));
};
const collectives = itemsOf(data.collectives), products = itemsOf(data.products);
const nameOf = (path) => path.split("/").pop();
const sumOf = (items, name) => items.reduce((sum, item) => sum + (item[name] || 0), 0);
const uniqueOf = (items, name) => [...new Set(items.map((item) => item[name]))];
const groupsOf = (items, key) => {
  const groups = new Map();
  for (const item of items) {
    const name = key(item);
    if (groups.has(name)) groups.get(name).push(item);
    else groups.set(name, [item]);
  }
  return groups;
};
// The sum of figures, those of one iteration of loops of unknown trip count, and the number of unknown ones.
const totalText = (items, text) => {
  const known = items.filter((item) => item.size !== null), looped = items.filter((item) => item.perIteration !== null);
  const unknown = items.length - known.length - looped.length;
  const parts = [];
  if (known.length || !items.length) parts.push(text(sumOf(known, "size")));
  if (looped.length) parts.push(`${text(sumOf(looped, "perIteration"))} × n`);
  if (!parts.length) return "unknown";
  return [...parts, ...(unknown ? [`${unknown} unknown`] : [])].join(" + ");
};
const timeText = (items) => {
  const known = items.filter((item) => item.seconds !== null);
  return known.length ? secondsText(sumOf(known, "seconds")) : "unknown";
};
const hasTime = [...collectives, ...products].some((item) => item.seconds !== null);

// --- The source.
const codeOf = (file, line) => (data.files[file]?.[line - 1] || "").trim();
const showLine = (file, line) => {
  sourceOf(file);
  const target = document.querySelector(`[data-at="${line}"]`);
  if (!target) return;
  document.querySelectorAll(".here").forEach((each) => each.classList.remove("here"));
  target.classList.add("here");
  target.scrollIntoView({ block: "center" });
  target.querySelector("button")?.focus({ preventScroll: true });
};
document.querySelectorAll("pre.code").forEach((pre) => {
  pre.textContent = codeOf(pre.dataset.file, Number(pre.dataset.line));
  pre.hidden = !pre.textContent;
});
document.querySelectorAll("button.where").forEach((button) => {
  if (button.dataset.line === "0") button.replaceWith(element("span", { class: "where", text: button.textContent }));
  else button.addEventListener("click", () => showLine(button.dataset.file, Number(button.dataset.line)));
});

// --- Collectives and products, in groups.
const GROUPINGS = { "call-site": "line", line: "innermost line", scope: "module", weight: "weight", weights: "weight of all layers", function: "function" };
const members = (items, columns) => element("table", { class: "members" }, element("thead", {}, element("tr", {}, columns.map(([name, figure]) =>
  element("th", { scope: "col", class: figure ? "n" : null, text: name })))), element("tbody", {}, items.map((item) =>
  element("tr", {}, columns.map(([, figure, node]) => element("td", { class: figure ? "n" : null }, node(item)))))));
const MEMBERS = 50;
const detailOf = (items, columns, reasons) => [...groupsOf(items, (item) => reasons.map((name) => item[name]).join("\n")).values()]
  .sort((a, b) => sumOf(b, "size") - sumOf(a, "size")).map((same) => {
    const sorted = [...same].sort((a, b) => (b.size ?? Infinity) - (a.size ?? Infinity));
    return element("details", {}, element("summary", {}, columns.summary(same)), members(sorted.slice(0, MEMBERS), columns.of),
      sorted.length > MEMBERS ? element("p", { class: "note", text: `and ${sorted.length - MEMBERS} more` }) : null);
  });
const groupedTable = (host, { items, label, text, grouping, groupings, facets, columns, detail, what, noun }) => {
  if (!items.length) return null;
  const total = sumOf(items, "size");
  const select = element("select", { "aria-label": `group ${label} by`, onchange: () => table.show() },
    groupings.map((name) => element("option", { value: name, text: `by ${GROUPINGS[name]}`, selected: name === grouping })));
  const table = dataTable(host, {
    label,
    choices: groupings.length > 1 ? [select] : [],
    facets,
    what: "group",
    rowsOf: (matches) => {
      const found = items.filter((item) => matches(Object.values(item).join(" "), item));
      return [...groupsOf(found, (item) => item[select.value])].map(([name, group]) => ({ name, items: group, share: total ? sumOf(group, "size") / total : undefined }));
    },
    columns: [
      { name: what, figure: true, text: (row) => totalText(row.items, text), order: (row) => sumOf(row.items, "size") || sumOf(row.items, "perIteration") || (row.items.some((item) => item.size === null) ? 1e-9 : 0) },
      { name: "share", figure: true, text: (row) => (row.share === undefined ? "unknown" : shareText(row.share)), order: (row) => row.share || 0 },
      ...(hasTime ? [{ name: "time", figure: true, text: (row) => timeText(row.items), order: (row) => sumOf(row.items, "seconds") }] : []),
      { name: noun, figure: true, text: (row) => row.items.length.toLocaleString("en"), order: (row) => row.items.length },
      { name: "where", class: "place", text: (row) => row.name, node: (row) => placeNode(row, select.value) },
      ...columns,
    ],
    detail: (row) => detail(row.items),
    total: (rows) => {
      const shown = rows.flatMap((row) => row.items);
      return total ? `, ${totalText(shown, text)}, ${shareText(sumOf(shown, "size") / total)}` : "";
    },
  });
  return { ...table, group: (name) => { select.value = name; table.show(); } };
};
const placeNode = (row, grouping) => {
  const [first] = row.items, code = grouping === "call-site" ? codeOf(first.file, first.at) : "";
  const name = row.name || { weight: "no weight", weights: "no weight", scope: "no module", function: "no function" }[grouping] || "no line";
  const place = grouping === "call-site" && first.at ? element("button", { type: "button", class: "where", text: name, onclick: () => showLine(first.file, first.at) }) : element("span", { class: row.name ? "" : "note", text: name });
  return code ? [place, element("code", { class: "code", text: code })] : [place];
};
const programLink = (item) => (item.program ? element("button", { type: "button", class: "where", text: item.value, onclick: () => showProgram(item.program) }) : item.value);
// Names repeat in other functions and loops; a line is one operation.
const valueNode = (item) => [programLink(item), item.program ? element("span", { class: "note", text: `, line ${item.program}` }) : null];
const lineLink = (item) => (item.at ? element("button", { type: "button", class: "where", text: item["call-site"], onclick: () => showLine(item.file, item.at) }) : item["call-site"] || "no line");
const operationLink = (item, text, title) => (item.program ? element("button", { type: "button", class: "where", title, text, onclick: () => showProgram(item.program) }) : text);
const kindsNode = (row) => {
  const kinds = [...groupsOf(row.items, (item) => `${item.kind} ${item.axes}`)].sort(([, a], [, b]) => sumOf(b, "size") - sumOf(a, "size"));
  return [kinds.slice(0, 4).map(([name, items]) => element("div", {}, kinds.length > 1 ? element("span", { class: "note", text: `${totalText(items, bytesText)} ` }) : null, coloured(name))), kinds.length > 4 ? element("span", { class: "note", text: `and ${kinds.length - 4} more` }) : null];
};
const whyNode = (row) => {
  const reasons = [...groupsOf(row.items, (item) => item.why)].sort(([, a], [, b]) => sumOf(b, "size") - sumOf(a, "size"));
  return [coloured(reasons[0][0]), reasons.length > 1 ? element("span", { class: "note", text: ` and ${counted(reasons.length - 1, "other reason")}` }) : null];
};
const where = collectives.length ? groupedTable(at("where"), {
  items: collectives,
  label: "collectives",
  text: bytesText,
  grouping: data.grouping,
  groupings: Object.keys(GROUPINGS).filter((name) => name === data.grouping
    || collectives.some((item) => item[name] && (name !== "weights" || item.weights !== item.weight))),
  facets: [
    { name: "kind", options: uniqueOf(collectives, "kind") },
    { name: "axes", options: uniqueOf(collectives, "axes") },
    { name: "phase", options: uniqueOf(collectives, "phase").filter(Boolean) },
    { name: "loop", options: uniqueOf(collectives, "loop") },
  ],
  what: "sent",
  noun: "count",
  columns: [
    { name: "runs", figure: true, text: (row) => uniqueOf(row.items, "runs").join(", ") },
    { name: "kind", class: "kinds", text: (row) => row.items[0].kind, node: kindsNode },
    { name: "why", class: "why", text: (row) => row.items[0].why, node: whyNode },
  ],
  detail: (items) => detailOf(items, {
    summary: (same) => [element("strong", { text: totalText(same, bytesText) }), ` in ${same.length} × `, coloured(`${same[0].kind} ${same[0].axes}`), `${same[0].phase && ", "}${same[0].phase}: `, coloured(same[0].why)],
    of: [["#", true, (item) => item.number], ["sent", true, (item) => totalText([item], bytesText)], ["times", true, (item) => item.runs],
      ...(hasTime ? [["time", true, (item) => timeText([item])]] : []), ["value", false, valueNode], ["weight", false, (item) => item.weight || "–"],
      ["sharding", false, (item) => coloured(item.change || "–")]],
  }, ["kind", "axes", "phase", "why"]),
}) : null;
if (products.length) groupedTable(at("work"), {
  items: products,
  label: "products",
  text: flopsText,
  grouping: "call-site",
  groupings: ["call-site", "line", "scope", "function"].filter((name) => name === "call-site" || products.some((item) => item[name])),
  facets: [{ name: "phase", options: uniqueOf(products, "phase").filter(Boolean) }, { name: "limit", options: uniqueOf(products, "limit").filter(Boolean) }],
  what: "FLOPs",
  noun: "count",
  columns: [
    { name: "useful", figure: true, text: (row) => usefulText(row.items), order: (row) => -usefulOf(row.items) },
    { name: "repeated along", text: (row) => uniqueOf(row.items, "spare").filter(Boolean).join("; ") || "–" },
  ],
  detail: (items) => detailOf(items, {
    summary: (same) => [element("strong", { text: totalText(same, flopsText) }), ` in ${same.length} × ${[same[0].kind, same[0].phase].filter(Boolean).join(", ")}`],
    of: [["FLOPs", true, (item) => totalText([item], flopsText)], ["times", true, (item) => item.runs], ["useful", true, (item) => usefulText([item])],
      ...(hasTime ? [["time", true, (item) => timeText([item])], ["limit", false, (item) => [item.limit, item.bound].filter(Boolean).join(", ")]] : []), ["value", false, valueNode]],
  }, ["kind", "phase"]),
});
function usefulOf(items) {
  const known = items.filter((item) => item.useful !== null);
  return known.length === items.length && sumOf(known, "size") ? known.reduce((sum, item) => sum + item.useful * item.size, 0) / sumOf(known, "size") : NaN;
}
function usefulText(items) {
  const share = usefulOf(items);
  return Number.isNaN(share) ? "unknown" : shareText(share);
}

// --- The products that wait for their collectives.
const boundProducts = products.filter((item) => item.bound);
const neededBy = (item) => item.needs.split(" ").map((each) => each.split(":").map(Number)).map(([number, sharers]) => [collectives[number], sharers]).filter(([each]) => each);
const collectiveText = (each) => `#${each.number} ${each.kind}${each.weight ? `${each.weight.startsWith("sums") ? "," : " of"} ${each.weight}` : ""}`;
if (at("bound")) {
  if (boundProducts.length) dataTable(at("bound"), {
    label: "communication-bound products",
    what: "product",
    rowsOf: (matches) => boundProducts.filter((item) => matches([item.shown, item["call-site"], ...neededBy(item).map(([each]) => collectiveText(each))].join(" "), item)),
    columns: [
      { name: "communication", figure: true, text: (item) => (item.communication === null ? "unknown" : secondsText(item.communication)), order: (item) => item.communication || 0 },
      { name: "product", figure: true, text: (item) => timeText([item]), order: (item) => item.seconds || 0 },
      { name: "where", class: "place", text: (item) => item["call-site"], node: (item) => [lineLink(item), codeOf(item.file, item.at) ? element("code", { class: "code", text: codeOf(item.file, item.at) }) : null] },
      { name: "operation", text: (item) => item.shown, node: (item) => [operationLink(item, item.shown, `${item.value} in the program`)] },
      { name: "its collectives", class: "why", text: (item) => item.needs, node: (item) => neededBy(item).map(([each, sharers]) => element("div", {}, sharers > 1 ? element("span", { class: "note", text: `1/${sharers} of ` }) : null,
        operationLink(each, collectiveText(each), `${each.axes}, at ${each["call-site"] || "no line"}: ${each.why}`))) },
    ],
  });
  else at("bound").append(element("p", { class: "note", text: "None: each product takes longer than its collectives." }));
}

// --- A flame graph: a part of a row is a module or a call, as wide as its share; below it is what it contains.
// Without scopes and modules, the functions that call each other are the parts, and then lines.
const functionsOf = (item) => stacks[item.stack].map((frame) => strings[frames[frame][2]]).filter((name) => name && name !== "<module>").reverse();
const pathOf = {
  module: (item) => [...(item.scope ? item.scope.split("/") : functionsOf(item)), ...(item.phase ? [item.phase] : []), ...(item["call-site"] ? [item["call-site"]] : []),
    item.axes === undefined ? item.kind : `${item.kind} ${item.axes}`],
  call: (item) => [...stacks[item.stack].map((frame) => {
    const [file, line, name] = frames[frame];
    return `${strings[name] && strings[name] !== "<module>" ? `${strings[name]} ` : ""}${nameOf(strings[file])}:${line}`;
  }).reverse(), item.axes === undefined ? item.kind : `${item.kind} ${item.axes}`],
};
const MEASURES = {
  sent: { items: collectives, value: (item) => item.size, text: bytesText },
  "time of communication": { items: collectives, value: (item) => item.seconds, text: secondsText },
  FLOPs: { items: products, value: (item) => item.size, text: flopsText },
  "time of products": { items: products, value: (item) => item.seconds, text: secondsText },
};
const treeOf = (items, value, path) => {
  const root = { name: "all", size: 0, children: new Map(), depth: 0 };
  for (const item of items) {
    const size = value(item) || 0;
    if (!size) continue;
    let node = root;
    root.size += size;
    for (const name of path(item)) {
      if (!node.children.has(name)) node.children.set(name, { name, size: 0, children: new Map(), parent: node, depth: node.depth + 1 });
      node = node.children.get(name);
      node.size += size;
    }
  }
  return root;
};
const SMALLEST = 0.004, DEPTH = 14;
const flame = (host) => {
  const measures = Object.keys(MEASURES).filter((name) => MEASURES[name].items.some((item) => MEASURES[name].value(item)));
  if (!measures.length) return;
  const scopes = [...collectives, ...products].some((item) => item.scope);
  const draw = () => { root = treeOf(MEASURES[measure.value].items, MEASURES[measure.value].value, pathOf[by.value]); zoom(root); };
  const measure = element("select", { "aria-label": "measure", onchange: draw }, measures.map((name) => element("option", { text: name })));
  const by = element("select", { "aria-label": "parts", onchange: draw }, Object.keys(pathOf).map((name) => element("option", { value: name, text: `by ${name === "module" && !scopes ? "function" : name}` })));
  const chart = element("div", { class: "flame", role: "tree", "aria-label": "parts of the program by cost" });
  const told = element("p", { class: "note", "aria-live": "polite" });
  let root;
  const fullName = (node) => (node.parent?.parent ? `${fullName(node.parent)} › ${node.name}` : node.name);
  const text = (node) => `${MEASURES[measure.value].text(node.size)}, ${shareText(node.size / root.size)} of all`;
  const tell = (node) => { told.textContent = `${fullName(node)}: ${text(node)}`; };
  const zoom = (top) => {
    chart.replaceChildren();
    let deepest = 0;
    const add = (node, left, width) => {
      if (width < SMALLEST || node.depth - top.depth > DEPTH) return;
      deepest = Math.max(deepest, node.depth - top.depth + 1);
      const hue = [...node.name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 997, 7) % 5;
      const part = element("button", { type: "button", role: "treeitem", "aria-level": node.depth - top.depth + 1, tabindex: node === top ? "0" : "-1", class: `p${hue}`,
        style: `left:${left * 100}%;width:${width * 100}%;top:${(node.depth - top.depth) * 1.7}em`, title: `${node.name}: ${text(node)}`, onfocus: () => tell(node), onmouseenter: () => tell(node),
        onclick: () => { zoom(node === top && node.parent ? node.parent : node); chart.querySelector("button").focus(); } }, node.name.replaceAll('"', ""));
      part.node = node;
      chart.append(part);
      let next = left;
      for (const child of [...node.children.values()].sort((a, b) => b.size - a.size)) {
        add(child, next, width * child.size / node.size);
        next += width * child.size / node.size;
      }
    };
    add(top, 0, 1);
    chart.style.height = `${deepest * 1.7}em`;
    tell(top);
  };
  chart.addEventListener("keydown", (event) => {
    const parts = [...chart.children], here = parts.indexOf(document.activeElement), node = parts[here]?.node;
    if (!node) return;
    const siblings = parts.filter((part) => part.node.depth === node.depth);
    const target = {
      ArrowRight: siblings[siblings.indexOf(parts[here]) + 1],
      ArrowLeft: siblings[siblings.indexOf(parts[here]) - 1],
      ArrowDown: parts.find((part) => part.node.parent === node),
      ArrowUp: parts.find((part) => part.node === node.parent),
    }[event.key];
    if (event.key.startsWith("Arrow")) event.preventDefault();
    if (!target) return;
    parts[here].tabIndex = -1;
    target.tabIndex = 0;
    target.focus();
  });
  host.append(element("div", { class: "controls" }, measure, by), chart, told,
    element("p", { class: "note", text: "A click, or Enter, shows a part alone; once more shows what is around it. Arrow keys move." }));
  draw();
};
flame(at("flame"));

// --- The memory over the program, and what is live at a point.
const curve = (host) => {
  const { points, groups, strings: texts, memory } = data.live;
  if (points.length < 2) {
    host.append(element("p", { class: "note", text: "The program has too few operations for a curve." }));
    return;
  }
  const peak = points.reduce((best, point, number) => (point[0] > points[best][0] ? number : best), 0);
  const top = Math.max(points[peak][0], memory && memory < 1.6 * points[peak][0] ? memory : 0, 1) * 1.05;
  const HEIGHT = 230, LEFT = 70, BOTTOM = 34, RIGHT = 8;
  const chart = drawn("svg", { class: "chart", role: "img", "aria-label": `live memory over the program, at most ${bytesText(points[peak][0])}, at ${texts[points[peak][2]] || "an operation without a line"}` });
  const slider = element("input", { type: "range", min: 0, max: points.length - 1, value: peak, "aria-label": "point of the program" });
  const panel = element("div", { class: "live" });
  const cursor = drawn("line", { class: "cursor", y1: 0, y2: HEIGHT - BOTTOM }), dot = drawn("circle", { class: "dot", r: 4 });
  let x = () => 0;
  const y = (bytes) => (HEIGHT - BOTTOM) * (1 - bytes / top);
  const draw = () => {
    const width = Math.max(host.clientWidth, 200);
    x = (number) => LEFT + (width - LEFT - RIGHT) * number / (points.length - 1);
    chart.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const path = points.map(([bytes], number) => `${number ? "L" : "M"}${x(number).toFixed(1)} ${y(bytes).toFixed(1)}`).join("");
    const ticks = ticksOf(top).map((bytes) => [drawn("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(bytes), y2: y(bytes) }),
      drawn("text", { x: LEFT - 6, y: y(bytes) + 4, "text-anchor": "end" }, bytesText(bytes).replace(/\.0+ /, " "))]);
    // Below the axis are the parts of a training step.
    const bands = [];
    points.forEach(([, , , phase], number) => {
      if (bands.at(-1)?.phase === phase) bands.at(-1).end = number;
      else bands.push({ phase, start: number, end: number });
    });
    const strip = bands.filter(({ phase }) => texts[phase]).flatMap(({ phase, start, end }) => {
      const from = x(Math.max(start - 0.5, 0)), to = x(Math.min(end + 0.5, points.length - 1));
      return [drawn("rect", { class: `phase ${texts[phase]}`, x: from, y: HEIGHT - BOTTOM + 4, width: Math.max(to - from, 1), height: 12 }, drawn("title", {}, texts[phase])),
        ...(to - from > 70 ? [drawn("text", { class: "phase-name", x: from + 4, y: HEIGHT - BOTTOM + 14 }, texts[phase])] : [])];
    });
    const limit = memory && memory <= top ? [drawn("line", { class: "limit", x1: LEFT, x2: width - RIGHT, y1: y(memory), y2: y(memory) }),
      drawn("text", { x: width - RIGHT, y: y(memory) - 4, "text-anchor": "end" }, `device memory ${bytesText(memory)}`)] : [];
    chart.replaceChildren(...ticks.flat(), ...strip, drawn("text", { x: LEFT, y: HEIGHT - 4 }, "start of the program"),
      drawn("text", { x: width - RIGHT, y: HEIGHT - 4, "text-anchor": "end" }, "end"),
      drawn("path", { class: "area", d: `${path}L${x(points.length - 1)} ${y(0)}L${x(0)} ${y(0)}Z` }), drawn("path", { class: "curve", d: path }), ...limit, cursor, dot);
    show(Number(slider.value));
  };
  const liveAt = (number) => groups.map(([name, type, sharding, line, changes]) => {
    const [, count, bytes] = changes.findLast(([point]) => point <= number) || [0, 0, 0];
    return { name: texts[name], type: texts[type], sharding: texts[sharding], line: texts[line], count, bytes };
  }).filter(({ bytes }) => bytes).sort((a, b) => b.bytes - a.bytes);
  const show = (number) => {
    const [bytes, count, line] = points[number], live = liveAt(number).slice(0, 12);
    const place = texts[line] ? ` at ${texts[line]}` : "";
    for (const [end, value] of [["x1", x(number)], ["x2", x(number)]]) cursor.setAttribute(end, value);
    dot.setAttribute("cx", x(number));
    dot.setAttribute("cy", y(bytes));
    slider.value = number;
    slider.setAttribute("aria-valuetext", `${bytesText(bytes)}${place}`);
    const rest = bytes - live.reduce((sum, each) => sum + each.bytes, 0), others = count - live.reduce((sum, each) => sum + each.count, 0);
    panel.replaceChildren(
      element("h4", {}, `${number === peak ? "at the peak: " : ""}${bytesText(bytes)} live${place}`),
      element("table", { class: "stack", "aria-label": "live values" }, element("thead", {}, element("tr", {}, ["bytes", "values", "value", "where", "type", "sharding"].map((name, at) => element("th", { scope: "col", class: at < 2 ? "n" : null, text: name })))),
        element("tbody", {}, live.map((each) => element("tr", { style: `--share:${each.bytes / bytes * 100}%` },
          element("td", { class: "n", "data-label": "bytes", text: bytesText(each.bytes) }), element("td", { class: "n", "data-label": "values", text: each.count }),
          element("td", { "data-label": "value", text: each.name }), element("td", { "data-label": "where", text: each.line || "–" }),
          element("td", { class: "code", "data-label": "type", text: each.type }), element("td", { class: "code", "data-label": "sharding" }, coloured(each.sharding || "none")))))),
      others > 0 ? element("p", { class: "note", text: `and ${bytesText(Math.max(rest, 0))} in ${counted(others, "smaller value")}` }) : "");
  };
  slider.addEventListener("input", () => show(Number(slider.value)));
  const follow = (event) => {
    const box = chart.getBoundingClientRect(), inside = (event.clientX - box.left - LEFT) / Math.max(box.width - LEFT - RIGHT, 1);
    show(Math.round(Math.max(0, Math.min(1, inside)) * (points.length - 1)));
  };
  chart.addEventListener("pointermove", follow);
  chart.addEventListener("pointerdown", follow);
  host.append(chart, element("div", { class: "controls" }, slider, element("button", { type: "button", text: "peak", onclick: () => show(peak) })), panel);
  new ResizeObserver(draw).observe(host);
  draw();
};
curve(at("curve"));

// --- Arguments and results, each or those of all layers together.
const boundary = (host) => {
  const { rows, strings: texts, devices } = data.boundary;
  if (!rows.length) {
    host.append(element("p", { class: "note", text: "The program has no arguments and no results." }));
    return;
  }
  const items = rows.map(([kind, name, pattern, type, spec, size, replicas, donated]) => ({ kind: texts[kind], name: texts[name], pattern: texts[pattern],
    type: texts[type], spec: texts[spec], size, copies: replicas === "" ? "" : `${replicas} of ${devices}`, replicas, donated: donated ? "donated" : "" }));
  const isRepeated = items.some((item) => item.name !== item.pattern);
  const by = element("select", { "aria-label": "arguments and results", onchange: () => table.show() },
    element("option", { value: "name", text: "each alone" }), element("option", { value: "pattern", text: "all layers together" }));
  const one = (row, name) => { const found = uniqueOf(row.items, name); return found.length > 1 ? `${found[0]} and others` : found[0]; };
  const sizeText = (found) => { const unknown = found.filter((item) => item.size === null).length; return unknown === found.length ? "unknown" : bytesText(sumOf(found, "size")) + (unknown ? ` + ${unknown} unknown` : ""); };
  const total = sumOf(items.filter((item) => item.kind === "argument"), "size");
  const elementOf = (item) => item.type.split("[")[0];
  const table = dataTable(host, {
    label: "arguments and results",
    what: "value",
    choices: isRepeated ? [by] : [],
    facets: [{ name: "kind", options: uniqueOf(items, "kind") }, { name: "element type", options: [...new Set(items.map(elementOf))] },
      { name: "sharding", options: uniqueOf(items, "spec") }],
    rowsOf: (matches) => {
      const found = items.filter((item) => matches(Object.values(item).join(" "), { kind: item.kind, "element type": elementOf(item), sharding: item.spec }));
      return [...groupsOf(found, (item) => `${item.kind}\n${item[by.value]}`)].map(([, group]) => ({ items: group, name: group[0][by.value], share: total ? sumOf(group, "size") / total : undefined }));
    },
    columns: [
      { name: "bytes per device", figure: true, text: (row) => sizeText(row.items), order: (row) => sumOf(row.items, "size") || (row.items.some((item) => item.size === null) ? 1e-9 : 0) },
      { name: "name", class: "place", text: (row) => row.name, node: (row) => [row.name, row.items.length > 1 ? element("span", { class: "note", text: ` ${counted(row.items.length, "value")}` }) : null] },
      { name: "kind", text: (row) => [row.items[0].kind, one(row, "donated")].filter(Boolean).join(", ") },
      { name: "type", class: "code", text: (row) => one(row, "type") },
      { name: "sharding", class: "code", text: (row) => one(row, "spec") },
      { name: "copies", figure: true, text: (row) => one(row, "copies"), order: (row) => Number(row.items[0].replicas) || 0 },
    ],
    total: (found) => [...groupsOf(found.flatMap((row) => row.items), (item) => item.kind)].map(([kind, group]) => `, ${sizeText(group)} of ${kind}s`).join(""),
  });
};
boundary(at("boundary"));

// --- The source, with the cost at each line as a profiler shows it: of the line alone, and with all that it calls.
const costs = new Map();
const costOf = (file, line) => {
  if (!costs.has(file)) costs.set(file, new Map());
  const lines = costs.get(file);
  if (!lines.has(line)) lines.set(line, { own: 0, sent: 0, flops: 0, seconds: 0, count: 0 });
  return lines.get(line);
};
for (const [items, name] of [[collectives, "sent"], [products, "flops"]]) {
  for (const item of items) {
    const size = item.size || item.perIteration || 0, around = new Map();
    for (const frame of stacks[item.stack]) around.set(`${frames[frame][0]}:${frames[frame][1]}`, [strings[frames[frame][0]], frames[frame][1]]);
    if (item.at && !around.size) around.set("", [item.file, item.at]);
    for (const [file, line] of around.values()) {
      const cost = costOf(file, line);
      cost[name] += size;
      cost.seconds += item.seconds || 0;
    }
    if (item.at && name === "sent") {
      costOf(item.file, item.at).own += size;
      costOf(item.file, item.at).count += 1;
    }
  }
}
const CONTEXT = 2;
const lineTable = element("div", { class: "lines" });
const fileSelect = element("select", { "aria-label": "file", onchange: () => sourceOf(fileSelect.value) });
const allLines = element("input", { type: "checkbox", id: "all-lines", onchange: () => sourceOf(fileSelect.value) });
const sourceOf = (file) => {
  if (!costs.has(file)) return;
  fileSelect.value = file;
  const found = costs.get(file), text = data.files[file], total = sumOf(collectives, "size") || 1;
  const wanted = new Set();
  const count = text ? text.length : Math.max(...found.keys());
  for (const line of found.keys()) {
    const around = text ? CONTEXT : 0;
    for (let each = line - around; each <= line + around; each += 1) wanted.add(each);
  }
  const rows = [];
  let skipped = 0;
  const gap = () => {
    if (skipped && text) rows.push(element("tr", { class: "gap" }, element("td", { colspan: 5 }, `… ${counted(skipped, "line")}`)));
    skipped = 0;
  };
  for (let line = 1; line <= count; line += 1) {
    if (!wanted.has(line) && !(allLines.checked && text)) { skipped += 1; continue; }
    gap();
    const cost = found.get(line) || { own: 0, sent: 0, flops: 0 };
    const own = cost.count ? element("button", { type: "button", class: "where", text: cost.own ? bytesText(cost.own) : "unknown", "aria-label": `collectives of line ${line}`, onclick: () => {
      where.group("call-site");
      where.search(`${nameOf(file)}:${line}`);
      at("where").scrollIntoView();
    } }) : "";
    rows.push(element("tr", { "data-at": line, style: `--share:${cost.own / total * 100}%` }, element("td", { class: "n cost" }, own),
      element("td", { class: "n cost", text: cost.sent ? bytesText(cost.sent) : "" }), element("td", { class: "n cost", text: cost.flops ? flopsText(cost.flops) : "" }),
      element("td", { class: "n note", text: line }), element("td", {}, element("code", { text: text ? text[line - 1] || " " : "" }))));
  }
  gap();
  lineTable.replaceChildren(element("table", { "aria-label": `costs in ${nameOf(file)}` }, element("thead", {}, element("tr", {},
    [["sent here", "n"], ["with calls", "n"], ["FLOPs with calls", "n"], ["line", "n"], [nameOf(file), ""]].map(([name, kind]) => element("th", { scope: "col", class: kind, text: name })))), element("tbody", {}, rows)));
};
const files = [...costs].map(([file, lines]) => [file, [...lines.values()].reduce((sum, cost) => sum + cost.own, 0)]).sort(([, a], [, b]) => b - a).map(([file]) => file);
if (files.length) {
  const found = files.filter((file) => data.files[file]);
  fileSelect.append(...files.map((file) => element("option", { value: file, text: file })));
  at("lines").append(element("div", { class: "controls" }, fileSelect, found.length ? element("label", { for: "all-lines" }, allLines, " all lines") : ""),
    found.length ? "" : element("p", { class: "note", text: files.every((file) => file.endsWith(".mlir")) ? "The program states no lines of Python: these are lines of its text, as it was given." : "The text of these files was not found below the current folder or that of the input: give their folder with --source-root." }), lineTable);
  lineTable.tabIndex = 0;
  lineTable.setAttribute("role", "region");
  lineTable.setAttribute("aria-label", "source with costs");
  sourceOf(files[0]);
} else {
  at("lines").append(element("p", { class: "note", text: "The program states no lines: print it from JAX with as_text(debug_info=True)." }));
}

// --- The program.
let programShown = null;
const loadProgram = () => {
  programShown ??= textOf("text-of-program").then((text) => {
    const numbers = new Map([...collectives.map((item) => [item.program, `collective ${item.number}`]), ...products.map((item) => [item.program, item.kind])]);
    at("text").replaceChildren(programView(text.split("\n"), (line, number) => (
      numbers.has(number) ? element("b", { id: `L${number}`, class: numbers.get(number).startsWith("collective") ? "c" : null, title: numbers.get(number), text: line }) : line)));
  });
  return programShown;
};
const showProgram = async (line) => {
  await loadProgram();
  document.querySelectorAll(".here").forEach((each) => each.classList.remove("here"));
  at(`L${line}`)?.classList.add("here");
  at(`L${line}`)?.scrollIntoView({ block: "center" });
};
at("text").before(element("p", { class: "note", text: "This is the program after the passes: its lines are not those of the input. Long lines are cut." }));
at("text").append(element("button", { type: "button", text: "show the program", onclick: loadProgram }));
