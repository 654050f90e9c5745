// Line charts as SVG, drawn at the width they have, so that text keeps its size on a phone.

function ticks(low, high, count) {
  const raw = (high - low) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 2.5, 5, 10].find((each) => each * power >= raw * 0.999) ?? 10);
  const out = [];
  for (let x = Math.ceil(low / step - 1e-9) * step; x <= high + step * 1e-9; x += step) out.push(Math.abs(x) < step * 1e-9 ? 0 : x);
  return out;
}

function extent(values, fallback) {
  let low = Infinity, high = -Infinity;
  for (const v of values) { low = Math.min(low, v); high = Math.max(high, v); }
  return low <= high ? [low, high] : fallback;
}

function widthOf(text) {
  widthOf.context ??= document.createElement("canvas").getContext("2d");
  widthOf.context.font = `550 12px ${getComputedStyle(document.body).fontFamily}`;
  return widthOf.context.measureText(text).width;
}

// Labels at the ends of lines, pushed apart where they would overlap.
function spread(labels, top, bottom, gap) {
  labels.sort((a, b) => a.y - b.y);
  let floor = top;
  for (const label of labels) { label.at = Math.max(label.y, floor); floor = label.at + gap; }
  let ceiling = bottom;
  for (const label of [...labels].reverse()) { label.at = Math.min(label.at, ceiling); ceiling = label.at - gap; }
}

function chart(figure, spec) {
  const draw = () => {
    const width = Math.max(240, Math.round(figure.clientWidth));
    if (draw.width === width) return;
    draw.width = width;
    figure.querySelector("svg")?.remove();
    figure.append(drawn(figure, spec, width));
  };
  new ResizeObserver(draw).observe(figure);
  draw();
}

function drawn(figure, spec, width) {
  const named = spec.lines.filter((line) => line.name);
  const right = named.length ? 20 + Math.max(...named.map((line) => widthOf(line.name))) : 14;
  const strip = spec.bars ? 74 : 0;
  const top = spec.marks?.length ? 24 : 10, height = spec.height + strip, bottom = height - 42;
  const yTicks = ticks(spec.y.min, spec.y.max, 4);
  // As wide for most numbers, so that charts above one another begin alike.
  const left = 14 + Math.max(34, ...yTicks.map((y) => widthOf(spec.y.format(y))));
  const floor = bottom - strip;
  const X = (x) => left + ((x - spec.x.min) / (spec.x.max - spec.x.min)) * (width - left - right);
  const fraction = (y) => (y - spec.y.min) / (spec.y.max - spec.y.min);
  const Y = (y) => floor - clamp(fraction(y), -0.02, 1.02) * (floor - top);
  const root = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": spec.told });
  for (const y of yTicks) {
    root.append(svg("line", { class: "rule", x1: left, x2: width - right, y1: Y(y), y2: Y(y) }));
    root.append(svg("text", { x: left - 8, y: Y(y) + 4, "text-anchor": "end" }, spec.y.format(y)));
  }
  if (spec.bars) bars(root, spec, X, left, width - right, floor, bottom);
  axis(root, spec, X, left, width - right, bottom, height);
  for (const mark of spec.marks ?? []) {
    root.append(svg("line", { class: "mark", x1: X(mark.x), x2: X(mark.x), y1: top - 4, y2: floor }));
    root.append(svg("text", { x: X(mark.x), y: top - 9, "text-anchor": mark.x > (spec.x.min + spec.x.max) / 2 ? "end" : "start" }, mark.name));
  }
  const labels = [];
  for (const line of spec.lines) {
    for (const piece of line.pieces) root.append(piece.length > 1 ? stroke(piece, line, X, Y) : dot(piece[0], line, X, Y));
    const end = line.pieces.at(-1)?.at(-1);
    if (line.name && end) labels.push({ ...line, x: X(end[0]), y: Y(end[1]) });
    if (line.cross && end) root.append(cross(X(end[0]), Y(end[1]), line.colour));
  }
  spread(labels, top + 2, floor, 15);
  for (const label of labels) {
    const x = width - right + 10;
    if (Math.abs(label.at - label.y) > 3 || x - label.x > 14)
      root.append(svg("path", { class: "leader", d: `M${label.x + 3},${label.y}L${x - 3},${label.at}`, style: { stroke: label.colour } }));
    root.append(svg("text", { class: "name", x, y: label.at + 4, style: { fill: label.ink ?? label.colour } }, label.name));
  }
  readout(figure, root, spec, X, left, width - right, top, bottom);
  return root;
}

function stroke(piece, line, X, Y) {
  const d = piece.map(([x, y], i) => `${i ? "L" : "M"}${X(x).toFixed(1)},${Y(y).toFixed(1)}`).join("");
  return svg("path", { class: "line", d, "stroke-dasharray": line.dash, style: { stroke: line.colour } });
}
const dot = ([x, y], line, X, Y) => svg("circle", { cx: X(x), cy: Y(y), r: 3.5, style: { fill: line.colour } });
const cross = (x, y, colour) =>
  svg("path", { class: "cross", d: `M${x - 5},${y - 5}l10,10m0,-10l-10,10`, style: { stroke: colour } });

function axis(root, spec, X, left, right, bottom, height) {
  root.append(svg("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }));
  const count = Math.max(2, Math.min(8, Math.floor((right - left) / 64)));
  for (const x of ticks(spec.x.min, spec.x.max, count).filter((each) => !spec.x.whole || Number.isInteger(each))) {
    root.append(svg("line", { class: "axis", x1: X(x), x2: X(x), y1: bottom, y2: bottom + 4 }));
    root.append(svg("text", { x: X(x), y: bottom + 17, "text-anchor": "middle" }, brief(x)));
  }
  const room = right - left;
  const text = widthOf(spec.x.name) > room ? spec.x.shortName ?? spec.x.name : spec.x.name;
  root.append(svg("text", { x: (left + right) / 2, y: height - 4, "text-anchor": "middle" }, text));
}

function bars(root, spec, X, left, right, floor, bottom) {
  const { edges, shares } = spec.bars, most = Math.max(...shares), room = bottom - floor - 24;
  root.append(svg("line", { class: "axis", x1: left, x2: right, y1: floor, y2: floor }));
  root.append(svg("text", { x: left, y: floor + 16 }, widthOf(spec.bars.name) > right - left ? spec.bars.shortName : spec.bars.name));
  shares.forEach((share, i) => {
    const tall = share > 0 ? Math.max(0.75, (share / most) * room) : 0;
    root.append(svg("rect", { class: "bars", x: X(edges[i]) + 0.5, width: Math.max(0.5, X(edges[i + 1]) - X(edges[i]) - 1), y: bottom - tall, height: tall }));
  });
}

// The values under the pointer, for every line.
function readout(figure, root, spec, X, left, right, top, bottom) {
  const all = [...new Set(spec.lines.flatMap((line) => line.pieces.flat().map((point) => point[0])))].sort((a, b) => a - b);
  if (all.length < 2) return;
  const cursor = svg("line", { class: "cursor", y1: top, y2: bottom, visibility: "hidden" });
  const tip = figure.querySelector(".tip") ?? figure.appendChild(el("div", { class: "tip", hidden: true }));
  root.append(cursor);
  const hide = () => { tip.hidden = true; cursor.setAttribute("visibility", "hidden"); };
  root.addEventListener("pointerleave", hide);
  root.addEventListener("pointermove", (event) => {
    const box = root.getBoundingClientRect(), scale = root.viewBox.baseVal.width / box.width;
    const at = (event.clientX - box.left) * scale;
    if (at < left - 8 || at > right + 8) return hide();
    const x = all.reduce((best, each) => (Math.abs(X(each) - at) < Math.abs(X(best) - at) ? each : best));
    const rows = spec.lines.flatMap((line) => {
      const point = line.pieces.flat().find((each) => each[0] === x);
      return point && (line.title ?? line.name) ? [el("div", {}, `${line.title ?? line.name}: ${brief(point[1])}`)] : [];
    });
    if (!rows.length) return hide();
    tip.replaceChildren(el("div", {}, `${spec.x.unit} ${brief(x)}`), ...rows);
    tip.hidden = false;
    cursor.setAttribute("visibility", "visible");
    cursor.setAttribute("x1", X(x));
    cursor.setAttribute("x2", X(x));
    const place = X(x) / scale, room = figure.clientWidth;
    tip.style.left = `${place + tip.offsetWidth + 16 > room ? Math.max(0, place - tip.offsetWidth - 12) : place + 12}px`;
    tip.style.top = `${root.offsetTop + (root.parentNode === figure ? box.top - figure.getBoundingClientRect().top : 0) + 12}px`;
  });
}
