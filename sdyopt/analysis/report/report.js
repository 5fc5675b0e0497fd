// Sorts a table by the column that is clicked: figures by size, largest first; everything else by text.
const UNITS = { s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, PiB: 2 ** 50, EiB: 2 ** 60,
  FLOP: 1, kFLOP: 1e3, MFLOP: 1e6, GFLOP: 1e9, TFLOP: 1e12, PFLOP: 1e15, EFLOP: 1e18 };
const figure = (text) => {
  const match = /([\d.]+) ?(\w+)?%?$/.exec(text.split(" + ")[0]);
  return match ? parseFloat(match[1]) * (UNITS[match[2]] || 1) : Infinity;
};
document.querySelectorAll("th").forEach((head) => head.addEventListener("click", () => {
  const body = head.closest("table").tBodies[0];
  const column = head.cellIndex, down = head.dataset.down !== "1";
  head.dataset.down = down ? "1" : "";
  const text = (row) => row.cells[column].textContent;
  const compare = head.className === "n" ? (a, b) => figure(text(b)) - figure(text(a))
    : (a, b) => text(a).localeCompare(text(b));
  body.append(...[...body.rows].sort((a, b) => (down ? compare(a, b) : compare(b, a))));
}));
// Replaces the numbers of repeated shardings by their text, and colours the axis names of a block of lines when it comes
// near the screen.
const program = document.querySelector(".program");
const axes = new Map(JSON.parse(program.dataset.axes).map((name, number) => [name, number % 8]));
const AXIS = /"([^"]*)"(?=[:,;=}\] ]|$)/gm;
const colour = (text) => {
  const parts = [];
  let end = 0;
  for (const match of text.data.matchAll(AXIS)) {
    if (!axes.has(match[1])) continue;
    const name = document.createElement("i");
    name.className = `a${axes.get(match[1])}`;
    name.textContent = match[0];
    parts.push(text.data.slice(end, match.index), name);
    end = match.index + match[0].length;
  }
  if (parts.length) text.replaceWith(...parts, text.data.slice(end));
};
const texts = (pre) => [...pre.childNodes].map((node) => node.firstChild || node);
const shared = JSON.parse(program.dataset.shared);
if (shared.length) program.querySelectorAll("pre").forEach((pre) => texts(pre).forEach((text) => {
  text.data = text.data.replace(/\ue000(\d+)\ue001/g, (_, number) => shared[number]);
}));
const near = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting)
  .forEach((entry) => { near.unobserve(entry.target); texts(entry.target).forEach(colour); }), { rootMargin: "600px" });
if (axes.size) program.querySelectorAll("pre").forEach((pre) => near.observe(pre));
