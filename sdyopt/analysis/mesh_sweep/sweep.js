// The charts and the table of a mesh sweep.
const { axes, memory, hasTimes } = data.sweep;
const meshes = data.sweep.rows.map(([sizes, devices, seconds, sent, peak, work, fits, best, note]) => ({ sizes, devices, seconds, sent, peak, work, fits, best, note,
  name: axes.map((axis, number) => `${axis} = ${sizes[number]}`).join(", "), verdict: best ? "best" : fits ? "fits" : note === "does not fit" ? note : "not possible" }));
const known = meshes.filter((mesh) => mesh.peak !== null);
const counts = [...new Set(known.map((mesh) => mesh.devices))].sort((a, b) => a - b);
const HEIGHT = 230, LEFT = 76, TOP = 14, BOTTOM = 36, RIGHT = 16;

// A point for each mesh, above its number of devices. The scale is logarithmic if values are far apart. A line joins the best.
const chart = (title, value, text, base, limit) => {
  const host = element("div"), caption = element("p", { class: "note", "aria-live": "polite" });
  const picture = drawn("svg", { class: "chart", role: "group", "aria-label": `${title} by number of devices` });
  const values = known.map(value), least = Math.min(...values), most = Math.max(...values, limit && limit < 2 * Math.max(...values) ? limit : 0);
  const isFar = least > 0 && most > 16 * least;
  const [low, high] = isFar ? [Math.floor(Math.log2(least)), Math.ceil(Math.log2(most))] : [0, (most || 1) * 1.05];
  const y = (size) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - ((isFar ? Math.log2(size) : size) - low) / (high - low || 1));
  const step = Math.ceil((high - low) / 6);
  const marks = isFar ? Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, number) => 2 ** (low + number * step)) : ticksOf(most || 1, base);
  const detail = (mesh) => `${mesh.name}: ${text(value(mesh))}, ${counted(mesh.devices, "device")}, ${mesh.note || mesh.verdict}`;
  const draw = () => {
    const width = Math.max(host.clientWidth, 200), column = (width - LEFT - RIGHT) / counts.length;
    picture.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const x = (mesh) => {
      const beside = known.filter((each) => each.devices === mesh.devices), gap = Math.min(14, column / (beside.length + 1));
      return LEFT + column * (counts.indexOf(mesh.devices) + 0.5) + gap * (beside.indexOf(mesh) - (beside.length - 1) / 2);
    };
    const grid = marks.flatMap((size) => [drawn("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(size), y2: y(size) }),
      drawn("text", { x: LEFT - 6, y: y(size) + 4, "text-anchor": "end" }, text(size).replace(/\.0+ /, " "))]);
    const names = counts.map((count, number) => drawn("text", { x: LEFT + column * (number + 0.5), y: HEIGHT - 20, "text-anchor": "middle" }, count.toLocaleString("en")));
    const top = limit && limit <= most ? [drawn("line", { class: "limit", x1: LEFT, x2: width - RIGHT, y1: y(limit), y2: y(limit) }),
      drawn("text", { x: width - RIGHT, y: y(limit) - 4, "text-anchor": "end" }, `device memory ${bytesText(limit)}`)] : [];
    const best = known.filter((mesh) => mesh.best).sort((a, b) => a.devices - b.devices).map((mesh) => `${x(mesh).toFixed(1)} ${y(value(mesh)).toFixed(1)}`);
    const points = known.map((mesh) => {
      const [left, above] = [x(mesh), y(value(mesh))];
      // What does not fit is a cross, and the best are filled.
      const mark = mesh.fits ? drawn("circle", { class: mesh.best ? "dot" : "ring", cx: left, cy: above, r: mesh.best ? 6 : 4.5 })
        : drawn("path", { class: "cross", d: `M${left - 4} ${above - 4}l8 8m0 -8l-8 8` });
      const point = drawn("g", { tabindex: 0, role: "img", "aria-label": detail(mesh) }, drawn("title", {}, detail(mesh)), drawn("circle", { cx: left, cy: above, r: 10, "fill-opacity": 0 }), mark);
      for (const event of ["pointerenter", "focus"]) point.addEventListener(event, () => { caption.textContent = detail(mesh); });
      return point;
    });
    picture.replaceChildren(...grid, ...names, drawn("text", { x: width - RIGHT, y: HEIGHT - 4, "text-anchor": "end" }, "devices"), ...top,
      drawn("path", { class: "curve", d: best.length > 1 ? `M${best.join("L")}` : "" }), ...points);
  };
  caption.textContent = known.some((mesh) => mesh.best) ? detail(known.filter((mesh) => mesh.best).at(-1)) : "no mesh fits";
  host.append(element("h3", { text: isFar ? `${title}, on a logarithmic scale` : title }), picture, caption);
  at("charts").append(host);
  new ResizeObserver(draw).observe(host);
  draw();
};
if (known.length) {
  if (hasTimes) chart("estimated time", (mesh) => mesh.seconds, secondsText, 10);
  else chart("sent by each device", (mesh) => mesh.sent, bytesText, 1024);
  chart("peak memory of a device", (mesh) => mesh.peak, bytesText, 1024, memory);
  at("charts").append(element("p", { class: "note", text: "● best, joined by a line; ○ others that fit; × does not fit, or JAX rejects it" }));
} else at("charts").append(element("p", { class: "note", text: "No mesh has figures." }));

const largest = Math.max(...known.map((mesh) => mesh.peak), 1);
const sizeText = (size) => (size === null ? "–" : bytesText(size));
dataTable(at("meshes"), {
  label: "meshes",
  what: "mesh",
  whats: "meshes",
  limit: 64,
  down: false,
  facets: [{ name: "devices", options: counts.map(String) }, { name: "verdict", options: [...new Set(meshes.map((mesh) => mesh.verdict))] }],
  rowsOf: (matches) => meshes.filter((mesh) => matches(`${mesh.name} ${mesh.note}`, { devices: String(mesh.devices), verdict: mesh.verdict }))
    .map((mesh) => ({ ...mesh, share: mesh.peak === null ? undefined : mesh.peak / largest, position: meshes.indexOf(mesh) })),
  columns: [
    // The first column sorts by all sizes, in the order of the program's axes.
    ...axes.map((axis, number) => ({ name: axis, figure: true, text: (row) => row.sizes[number], order: number ? (row) => row.sizes[number] : (row) => row.position })),
    { name: "devices", figure: true, text: (row) => row.devices ?? "–", order: (row) => row.devices || 0 },
    ...(hasTimes ? [{ name: "time", figure: true, text: (row) => (row.seconds === null ? "–" : secondsText(row.seconds)), order: (row) => row.seconds || 0 }] : []),
    { name: "sent", figure: true, text: (row) => sizeText(row.sent), order: (row) => row.sent || 0 },
    { name: "memory", figure: true, text: (row) => sizeText(row.peak), order: (row) => row.peak || 0 },
    { name: "FLOPs", figure: true, text: (row) => row.work, order: (row) => figure(row.work.split(",")[0]) },
    { name: "verdict", text: (row) => row.verdict, node: (row) => [element("span", { class: `badge ${row.fits ? "good" : "bad"}`, text: row.note || row.verdict })] },
  ],
});
