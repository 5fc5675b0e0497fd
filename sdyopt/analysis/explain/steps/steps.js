// Shows one step of propagation at a time. Positions: 0 to steps.length - 1 are steps, the last one is the end.
const { steps, sites, tables, values, shardings, phases, missed, code } = data.steps;
const last = steps.length;
const CHIPS = 3; // More values of a line are counted only.
const inColour = (text) => coloured(text, true);

// --- The program: the sharding of each value after its line.
const current = new Array(values.length).fill(-1);
const ofLine = new Map();
values.forEach(([, line], value) => {
  if (line) ofLine.set(line, [...(ofLine.get(line) || []), value]);
});
const stepsOfLine = new Map();
steps.forEach(([site, , , changes], step) => {
  const lines = site >= 0 ? [sites[site][0]] : [];
  for (const line of lines) if (line) (stepsOfLine.get(line) || stepsOfLine.set(line, []).get(line)).push(step);
});
const showChips = (line, changed) => {
  const target = at(`L${line}`);
  if (!target) return;
  target.querySelector(".chips")?.remove();
  const all = ofLine.get(line), sharded = all.filter((value) => current[value] >= 0 || changed.has(value));
  // Those that changed come first if there is no room for all.
  const shown = sharded.length > CHIPS ? [...sharded].sort((a, b) => changed.has(b) - changed.has(a)).slice(0, CHIPS) : sharded;
  if (!shown.length) return;
  // They stay at the right edge of a line that is wider than the window.
  const chips = element("span", { class: "chips" });
  target.append(chips);
  for (const value of shown) {
    const text = current[value] < 0 ? "not sharded" : shardings[current[value]];
    const name = all.length > 1 ? `${values[value][0]} ` : "";
    chips.append(element("span", { class: changed.has(value) ? "chip new" : "chip" }, name, inColour(text)));
  }
  if (sharded.length > shown.length) chips.append(element("span", { class: "chip" }, `… ${sharded.length - shown.length} more`));
};

// --- One step.
const names = (site) => sites[site][3].map((value) => (value < 0 ? "a value without a sharding" : values[value][0]));
const withNames = (text, of) => text.replace(/\ue000(\d+)\ue001/g, (_, position) => of[position]);
const list = (texts) => element("ul", {}, ...texts.map((text) => element("li", {}, inColour(text))));
const factorTable = ([factors, rows], of) => {
  const head = element("tr", {}, element("td"), ...factors.map(([symbol, size, kind]) => element("th", { scope: "col" }, `${symbol} = ${size}`,
    element("small", {}, kind === "pass-through" ? "" : kind))));
  const body = rows.map(([dims, cells], position) => element("tr", {}, element("th", { scope: "row" }, element("code", {}, `${of[position]} ${dims}`)),
    ...cells.map((cell) => {
      if (cell === null) return element("td", { class: "none" }, "–");
      const [before, added, closed] = cell, made = element("td", {}, inColour(before || (added ? "" : "·")));
      if (added) made.append(before ? ", " : "", element("span", { class: "new" }, inColour(added)));
      if (closed) made.append(element("span", { class: "closed" }, " closed"));
      return made;
    })));
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  return element("div", { class: "scroll" }, table);
};
const changeText = ([value, before, after]) =>
  `${values[value][0]}: ${before < 0 ? "not sharded" : shardings[before]} → ${after < 0 ? "not sharded" : shardings[after]}`;
// The line of the model that a step is at.
const placeOf = (site) => {
  const [, , , , file, line] = site < 0 ? [] : sites[site];
  if (!line) return [];
  return [`${file.split("/").pop()}:${line}`, ...(code[file]?.[line] ? [element("code", { text: code[file][line] })] : [])];
};
const heading = (text) => element("h2", {}, text);
const MANY = 200;
const showStep = (position) => {
  const [site, phase, table, changes] = steps[position], panel = at("step");
  const [line, func, op] = site < 0 ? [] : sites[site];
  const where = site < 0 ? "" : `: ${op}${line ? `, line ${line}` : ""}${func ? `, in @${func}` : ""}`;
  at("title").textContent = `step ${position} of ${last - 1}${where}`;
  at("place").replaceChildren(...placeOf(site));
  panel.append(element("p", { class: "note" }, phases[phase]));
  if (table >= 0) {
    const of = names(site), reasons = tables[table][2];
    panel.append(heading("factors"), factorTable(tables[table], of),
      element("p", { class: "note" }, "Rows are operands, then results, with their dimensions as factors. Axes that this step adds are highlighted."));
    panel.append(heading("changes"), list(changes.map(changeText)));
    panel.append(heading("does not propagate in this step"), reasons.length ? list(reasons.map((text) => withNames(text, of))) : element("p", {}, "nothing is refused"));
    return;
  }
  const startText = (change) => (change[1] < 0 ? `${values[change[0]][0]}: ${shardings[change[2]]}` : changeText(change));
  panel.append(heading("shardings"), list(changes.slice(0, MANY).map(startText)));
  if (changes.length > MANY) panel.append(element("p", {}, `… ${changes.length - MANY} more`));
};
const showEnd = () => {
  const panel = at("step");
  at("place").replaceChildren();
  at("title").textContent = `after the last step: ${missed.length ? "what did not propagate" : "every axis propagated"}`;
  panel.append(heading("axes that a neighbor has and a value lacks"));
  const items = missed.map(([line, func, text, reason, help]) => {
    const item = element("li", {});
    if (line) {
      item.append(element("button", { type: "button", class: "where", text: `line ${line}`, onclick: () => mark(line) }), func ? `, in @${func}: ` : ": ");
    }
    item.append(...inColour(text), element("br"), "because ", ...inColour(reason));
    if (help) item.append(element("br"), "help: ", ...inColour(help));
    return item;
  });
  panel.append(items.length ? element("ul", {}, ...items) : element("p", {}, "none"));
};

// --- Moving between steps.
const mark = (line) => {
  document.querySelectorAll(".here").forEach((each) => each.classList.remove("here"));
  const target = line && at(`L${line}`);
  if (!target) return;
  target.classList.add("here");
  const box = document.querySelector(".program"), top = target.getBoundingClientRect().top - box.getBoundingClientRect().top;
  if (top < 0 || top > box.clientHeight - 40) box.scrollTop += top - box.clientHeight / 3;
};
let position = -1, highlighted = new Set();
const go = (wanted) => {
  const target = Math.max(0, Math.min(last, wanted));
  const lines = new Set([...highlighted].map((value) => values[value][1]));
  for (; position < target; ) {
    position += 1;
    for (const [value, , after] of position < last ? steps[position][3] : []) {
      current[value] = after;
      lines.add(values[value][1]);
    }
  }
  for (; position > target; position -= 1) {
    for (const [value, before] of position < last ? [...steps[position][3]].reverse() : []) {
      current[value] = before;
      lines.add(values[value][1]);
    }
  }
  highlighted = new Set(position < last ? steps[position][3].map(([value]) => value) : []);
  for (const value of highlighted) lines.add(values[value][1]);
  for (const line of lines) if (line) showChips(line, highlighted);
  at("slider").value = position;
  at("step").replaceChildren();
  if (position < last) showStep(position);
  else showEnd();
  const site = position < last ? steps[position][0] : -1;
  mark(site >= 0 ? sites[site][0] : 0);
  history.replaceState(null, "", `#step=${position}`);
};
at("slider").addEventListener("input", (event) => go(Number(event.target.value)));
at("back").addEventListener("click", () => go(position - 1));
at("next").addEventListener("click", () => go(position + 1));
const KEYS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") at("found").hidden = true;
  if (!(event.key in KEYS) || event.ctrlKey || event.metaKey || event.altKey || event.target === at("search")) return;
  event.preventDefault();
  go(position + KEYS[event.key]);
});

// --- Search: the steps whose operation, values, line or axes have a text.
const FOUND = 100;
let texts = null;
const textOfStep = ([site, phase, , changes], number) => {
  const [place, line] = site < 0 ? [] : placeOf(site);
  const what = site < 0 ? phases[phase] : [sites[site][2], place].filter(Boolean).join(", ");
  const changed = changes.slice(0, FOUND).map(([value, , after]) => `${values[value][0]} ${after < 0 ? "" : shardings[after]}`).join(", ");
  const shown = `step ${number}: ${what}: ${changed}`;
  return { shown: shown.length > 160 ? `${shown.slice(0, 160)} …` : shown, all: `${shown} ${line?.textContent || ""}`.toLowerCase() };
};
const search = () => {
  const wanted = at("search").value.toLowerCase(), box = at("found");
  texts ??= steps.map(textOfStep);
  const found = wanted ? texts.flatMap(({ all }, number) => (all.includes(wanted) ? [number] : [])) : [];
  const close = (number) => { box.hidden = true; go(number); };
  box.hidden = !wanted;
  box.replaceChildren(...found.slice(0, FOUND).map((number) => element("button", { type: "button", onclick: () => close(number) }, inColour(texts[number].shown))),
    element("p", { class: "note", text: found.length > FOUND ? `and ${found.length - FOUND} more steps` : counted(found.length, "step") }));
  return found;
};
at("search").addEventListener("input", search);
at("search").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  const found = search();
  if (found.length) go(found.find((number) => number > position) ?? found[0]);
});

const fromLink = () => Number(/^#step=(\d+)$/.exec(location.hash)?.[1] || 0);
textOf("text-of-program").then((text) => {
  at("text").append(programView(text.split("\n"), (line, number) => (line ? element("b", { id: `L${number}`, text: line }) : null)));
  document.querySelector(".program").addEventListener("click", (event) => {
    const line = event.target.closest("b"), found = line && stepsOfLine.get(Number(line.id.slice(1)));
    if (found) go(found.find((step) => step > position) ?? found[0]);
  });
  for (const line of stepsOfLine.keys()) at(`L${line}`)?.classList.add("has");
  window.addEventListener("hashchange", () => fromLink() === position || go(fromLink()));
  go(fromLink());
});
