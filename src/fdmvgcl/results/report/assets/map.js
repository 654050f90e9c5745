// The map: sampled nodes on a canvas. Positions run from 0 to 1; the camera says which part is seen.

const data = content.map;
const degrees = unpack(data.degree, Float32Array), clusters = unpack(data.cluster, Int32Array);
const labels = data.label && unpack(data.label.codes, Int32Array);
const neighbours = unpack(data.neighbours, Int32Array), cosines = unpack(data.cosines, Int16Array);
const layouts = data.layouts.map((layout) => ({ ...layout, maps: layout.maps.map((text) => unpack(text, Uint16Array)) }));

const pictures = data.drawn && data.drawn.each.map((each) => each && each.map((text) => unpack(text, Uint8Array)));

const canvas = $("canvas"), pen = canvas.getContext("2d");
const boxes = layouts.map(({ maps }) => {
  const [left, right] = extent(maps.flatMap((map) => extent(map.filter((_, i) => i % 2 === 0))), [0, 1]);
  const [top, bottom] = extent(maps.flatMap((map) => extent(map.filter((_, i) => i % 2))), [0, 1]);
  const share = (v) => v / 65535;
  return { x: share(left + right) / 2, y: share(top + bottom) / 2, width: share(right - left) || 1, height: share(bottom - top) || 1 };
});
const home = () => ({ x: boxes[state.layout].x, y: boxes[state.layout].y, zoom: 1 });
const state = { layout: 0, stop: layouts[0].maps.length - 1, colouring: data.label ? "label" : "cluster", camera: { x: boxes[0].x, y: boxes[0].y, zoom: 1 }, selected: -1, hovered: -1, only: null };
const points = Float32Array.from(layouts[0].maps[state.stop], (v) => v / 65535);
let groups = [], size = { width: 0, height: 0, side: 0 };

const toScreen = (i) => [
  size.width / 2 + (points[2 * i] - state.camera.x) * size.side * state.camera.zoom,
  size.height / 2 + (points[2 * i + 1] - state.camera.y) * size.side * state.camera.zoom,
];

// A colouring is a list of groups: a colour and the nodes that have it. Past ten classes the smaller ones share a grey.
function regroup() {
  if (state.colouring === "degree") groups = degreeGroups();
  else {
    const codes = state.colouring === "label" ? labels : clusters;
    const names = state.colouring === "label" ? data.label.names : Array.from({ length: data.clusters }, (_, i) => `cluster ${i + 1}`);
    const coloured = names.length <= TEN.length ? names.length : TEN.length - 1;
    groups = names.slice(0, coloured).map((name, i) => ({ name, colour: classColour(i), nodes: [] }));
    const rest = { name: names.length > coloured ? `${names.length - coloured} smaller ones` : "no label", colour: other(), nodes: [] };
    codes.forEach((code, i) => (groups[code] ?? rest).nodes.push(i));
    if (rest.nodes.length) groups.unshift(rest);
  }
}

function degreeGroups() {
  const steps = 24, [low, high] = degreeRange();
  const found = Array.from({ length: steps }, (_, i) => ({ colour: ramp(i / (steps - 1)), nodes: [] }));
  degrees.forEach((degree, i) => {
    const t = high > low ? (Math.log1p(degree) - low) / (high - low) : 0;
    found[Math.round(clamp(t, 0, 1) * (steps - 1))].nodes.push(i);
  });
  return found;
}
const degreeRange = () => extent(Array.from(degrees, Math.log1p), [0, 1]);

const radius = () => (data.count < 60 ? 6 : data.count < 400 ? 4.5 : data.count < 1500 ? 3.2 : 2.6) * clamp(state.camera.zoom ** 0.3, 0.8, 2.2);

const near = (i) => Array.from(neighbours.slice(i * data.each, (i + 1) * data.each)).filter((each) => each >= 0);

function draw() {
  draw.asked = false;
  const ratio = Math.min(3, devicePixelRatio || 1), r = radius(), { selected, hovered, only } = state;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, size.width, size.height);
  for (const group of groups) {
    const aside = only !== null && group.name !== only;
    pen.fillStyle = group.colour;
    pen.globalAlpha = aside ? 0.12 : selected >= 0 ? 0.4 : 0.85;
    pen.beginPath();
    for (const i of group.nodes) {
      const [x, y] = toScreen(i);
      if (x < -r || y < -r || x > size.width + r || y > size.height + r) continue;
      pen.moveTo(x + r, y);
      pen.arc(x, y, r, 0, 2 * Math.PI);
    }
    pen.fill();
  }
  pen.globalAlpha = 1;
  if (selected >= 0) drawNeighbourhood(selected, r);
  if (hovered >= 0) ring(hovered, r + 3, 1.5);
}

function drawNeighbourhood(i, r) {
  const shown = near(i).filter((each) => each < data.count), [x0, y0] = toScreen(i);
  pen.strokeStyle = themed("--ink");
  pen.globalAlpha = 0.35;
  pen.lineWidth = 1;
  for (const each of shown) {
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(...toScreen(each));
    pen.stroke();
  }
  pen.globalAlpha = 1;
  for (const each of [...shown, i]) {
    const [x, y] = toScreen(each);
    pen.fillStyle = colourOf(each);
    pen.beginPath();
    pen.arc(x, y, r + (each === i ? 2 : 1), 0, 2 * Math.PI);
    pen.fill();
  }
  for (const each of shown) ring(each, r + 2, 1.25);
  ring(i, r + 5, 2.25);
}

function ring(i, r, width) {
  const [x, y] = toScreen(i);
  pen.strokeStyle = themed("--ink");
  pen.lineWidth = width;
  pen.beginPath();
  pen.arc(x, y, r, 0, 2 * Math.PI);
  pen.stroke();
}

const colourOf = (i) => groups.find((group) => group.nodes.includes(i))?.colour ?? other();

function redraw() {
  if (draw.asked) return;
  draw.asked = true;
  requestAnimationFrame(draw);
}

function fit() {
  const box = $("canvas-box"), ratio = Math.min(3, devicePixelRatio || 1);
  if (!box.clientWidth) return;
  const { width, height } = boxes[state.layout], margin = 48;
  const side = Math.min((box.clientWidth - margin) / width, (box.clientHeight - margin) / height);
  size = { width: box.clientWidth, height: box.clientHeight, side };
  canvas.width = Math.round(size.width * ratio);
  canvas.height = Math.round(size.height * ratio);
  draw();
}

// The node under a place of the canvas, or -1.
function nodeAt(x, y, reach) {
  let best = -1, least = reach * reach;
  for (let i = 0; i < data.count; i++) {
    const [px, py] = toScreen(i), square = (px - x) ** 2 + (py - y) ** 2;
    if (square < least) [best, least] = [i, square];
  }
  return best;
}

function moveTo(layout, stop) {
  if (layout !== state.layout) {
    state.layout = layout;
    state.camera = home();
    fit();
  }
  state.stop = stop;
  const goal = layouts[layout].maps[stop], from = points.slice(), begun = performance.now();
  const length = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 420;
  const turn = (moveTo.turn = (moveTo.turn ?? 0) + 1);
  const step = (now) => {
    if (turn !== moveTo.turn) return;
    const t = length ? clamp((now - begun) / length, 0, 1) : 1, eased = t * t * (3 - 2 * t);
    for (let i = 0; i < points.length; i++) points[i] = from[i] + (goal[i] / 65535 - from[i]) * eased;
    draw();
    if (t < 1) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
