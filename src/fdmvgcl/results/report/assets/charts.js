// Which lines each chart has, and what the words beside it say.

const missing = (figure, text) => figure.append(el("p", { class: "missing" }, text));
const viewName = (k) => `α ${orderName(content.views[k].alpha)}`;

function padded([low, high], share = 0.06) {
  const room = (high - low || Math.abs(high) || 1) * share;
  return { min: low === 0 ? 0 : low - room, max: high + room };
}

function sizesChart() {
  const figure = $("sizes"), { bins, told, of, each } = content.sizes, most = Math.max(...bins.map(([, count]) => count));
  figure.querySelector("h3").textContent = of === "nodes" ? "Sizes" : "Degrees";
  figure.querySelector("p").textContent = `How many ${each} have how many ${of}: ${told}.`;
  const rows = bins.flatMap(([name, count]) => [el("span", {}, name),
    el("div", { class: "bin" }, el("i", { style: { width: `${(100 * count) / most}%` } }), el("span", {}, grouped(count)))]);
  figure.append(el("div", { class: "bins" }, ...rows));
}

function responseChart() {
  const figure = $("response"), data = content.response;
  if (!data) {
    missing(figure, "These dynamics are not linear, so no function of the frequencies alone describes a view.");
    return;
  }
  const [low, high] = extent(data.phi.flat(), [0, 1]);
  const spectrum = data.spectrum;
  chart(figure, {
    told: "Response of each view over the graph's frequencies",
    height: 330,
    x: { min: 0, max: 2, unit: "λ =", name: "graph frequency λ  (0: the same all over the graph, 2: alternating along every edge)", shortName: "graph frequency λ" },
    y: { min: Math.min(0, low), max: Math.max(1, high), format: brief },
    bars: spectrum && { ...spectrum, name: "where this graph’s eigenvalues lie", shortName: "eigenvalues" },
    lines: data.phi.map((curve, k) => ({ name: viewName(k) + edgeName(k), title: viewName(k), colour: viewColour(k), ink: viewInk(k), pieces: [data.frequency.map((x, i) => [x, curve[i]])] })),
  });
  const how = { exact: "computed exactly", estimate: "estimated by the kernel polynomial method, blurred by about 0.01" };
  $("response-note").textContent = spectrum
    ? `Below the curves, the share of the graph’s eigenvalues in each part of the axis, ${how[spectrum.method]}: a curve matters only where there are some.`
    : "The eigenvalues of a directed graph are complex, so they are not shown; the curves hold for real λ.";
  if (data.kept) $("response-note").textContent += ` Features are kept undiffused too, with weight ${brief(data.kept)}, which lifts every curve by as much.`;
}

const edgeName = (k) => (k === 0 ? " local" : k === content.views.length - 1 ? " global" : "");

const READING = {
  alignment: "How far apart a node’s vectors lie in neighbouring views; lower is closer agreement.",
  uniformity: "How evenly nodes spread over all directions; lower is more even.",
  "class ratio": "Distance between classes over distance within them, as watched with labels; higher is clearer.",
  "neighbour homophily": "Share of a node’s ten nearest nodes that have its label, as watched with labels.",
  cka: "Similarity of the views as wholes; at 1 they hold the same information.",
};
// Where a measure's axis ends, whatever its values: pictures of different runs can then be compared.
const RANGE = { cka: [0, 1], "neighbour homophily": [0, 1], alignment: [0, 0], "class ratio": [0, 0], uniformity: [0, 0] };
const capital = (text) => (text === "cka" ? "CKA" : text.charAt(0).toUpperCase() + text.slice(1));

function trainingCharts() {
  const data = content.training;
  if (!data) {
    document.querySelectorAll("#training .grid").forEach((grid) => grid.remove());
    $("training").append(el("p", { class: "missing" }, "No epoch was trained, or no history was kept: these are the vectors of the encoder as it was initialised."));
    return;
  }
  const last = Math.max(1, data.epochs);
  const x = { min: 0, max: last, unit: "epochs trained:", name: "epochs trained", whole: true };
  const marks = data.phases.slice(1).map((phase) => ({ x: phase.start, name: `${phase.views} views` }));
  const INK = "var(--ink)", INKS = [INK, "var(--accent)", "#c2571a", "#7b52ab", "#2b8a6b"];
  const lines = data.loss.map((curve, i) => ({ ...curve, colour: INKS[i % INKS.length], dash: i >= INKS.length ? "4 3" : null }));
  const values = (curves) => curves.flatMap((curve) => curve.pieces.flat().map((point) => point[1]));
  const simple = (id, curve, range) =>
    curve ? chart($(id), { told: curve.name, height: 230, x, marks, y: { ...range, format: brief }, lines: [{ ...curve, title: curve.name, name: "", colour: INK }] })
      : missing($(id), "Not recorded.");
  if (lines.length) chart($("loss"), { told: "Loss terms over epochs", height: 230, x, marks, y: { ...padded(extent([0, ...values(data.loss)])), format: brief }, lines });
  else missing($("loss"), "Not recorded.");
  ordersChart(data, x, marks);
  simple("rank", data.rank, data.rank && { min: 0, max: 1.06 * extent(values([data.rank]))[1] || 1 });
  simple("similarity", data.similarity, data.similarity && { min: Math.min(0, ...values([data.similarity])), max: 1 });
  for (const [i, curve] of data.further.entries()) {
    const figure = el("figure", {}, el("figcaption", {}, el("h3", {}, capital(curve.name)), el("p", {}, READING[curve.name] ?? "")));
    figure.id = `further-${i}`;
    $("further").append(figure);
    simple(figure.id, curve, padded(extent([...(RANGE[curve.name] ?? []), ...values([curve])])));
  }
  $("training-note").textContent = data.phases.length > 1
    ? `${data.phases.length} phases: after each, views whose orders had met were pruned and training began anew; dashed lines show where.`
    : "One phase: no two orders met, so no view was pruned.";
}

function ordersChart(data, x, marks) {
  const grey = "var(--faint)";
  const living = data.orders.map((path, k) => ({ name: content.views[k] ? viewName(k) : "", pieces: [path], colour: viewColour(k), ink: viewInk(k) }));
  const gone = data.pruned.map((path) => ({ name: "", title: "pruned", pieces: [path], colour: grey, cross: true }));
  if (!living.length) return missing($("orders"), "Not recorded.");
  chart($("orders"), { told: "Order of each view over epochs", height: 230, x, marks, y: { min: 0, max: 1, format: brief }, lines: [...gone, ...living] });
}

function spectraChart() {
  const figure = $("components");
  const rows = content.spectra.filter((row) => row.shares.some((share) => share > 0));
  if (!rows.length) return missing(figure, "All nodes have the same vector, so there is no variance to share out.");
  const held = (row) => row.shares.reduce((sums, share) => [...sums, (sums.at(-1) ?? 0) + share], []);
  const longest = Math.max(2, ...rows.map((row) => row.shares.length));
  const name = (row) => (row.view === null ? "embedding" : viewName(row.view));
  const line = (row) => {
    const own = row.view === null ? { colour: "var(--ink)", dash: "5 4" } : { colour: viewColour(row.view), ink: viewInk(row.view) };
    return { ...own, name: `${name(row)} · ${percent(held(row).at(-1), 0)}`, title: name(row), pieces: [held(row).map((share, i) => [i + 1, Math.min(1, share)])] };
  };
  chart(figure, {
    told: "Share of variance that the first components of each view hold",
    height: 320,
    x: { min: 1, max: longest, unit: "components:", name: "number of principal components, largest first", shortName: "principal components", whole: true },
    y: { min: 0, max: 1, format: (y) => percent(y, 0) },
    lines: rows.map(line),
  });
  $("components-note").textContent = `Beside each line, what its first ${longest} components hold together. Vectors are scaled to unit length first; ${grouped(content.map.count)} nodes.`;
}

function scoreTable() {
  const data = content.evaluation;
  if (!data) return;
  $("probe").hidden = false;
  const head = el("tr", {}, ...["", `test ${data.metric}, mean ± spread over splits`, "embedding is above it by"].map((text) => el("th", { scope: "col" }, text)));
  const body = data.rows.map((row, i) => {
    const bar = svg("svg", { viewBox: "0 0 100 14", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { x: 0, y: 5, width: 100, height: 4, style: { fill: "var(--shade)" } }),
      svg("rect", { x: 0, y: 3, width: clamp(100 * row.mean, 0, 100), height: 8, style: { fill: i ? "var(--faint)" : "var(--accent)" } }));
    const told = el("span", {}, (100 * row.mean).toFixed(1), row.spread == null ? "" : el("span", { class: "spread" }, ` ± ${(100 * row.spread).toFixed(1)}`));
    return el("tr", { class: i ? "" : "ours" }, el("td", {}, row.name), el("td", { class: "value" }, el("div", { class: "bar" }, bar, told)), el("td", i ? { "data-name": "embedding above it by" } : {}, ...difference(row.above)));
  });
  $("scores").append(el("thead", {}, head), el("tbody", {}, ...body));
  const weights = data.weights ? ` Weights of the views: ${data.weights}.` : "";
  const interval = data.rows.some((row) => row.above?.low != null) ? " In brackets, the 95\u202f% interval of the difference over splits." : "";
  $("probe-note").textContent = `${data.splits ? `Measured on ${data.splits}.` : ""}${weights}${interval}`.trim();
}

function taskTables() {
  for (const task of content.evaluation?.tasks ?? []) {
    const head = el("tr", {}, ...["", ...task.metrics.flatMap((metric) => [metric, "embedding is above it by"])].map((text) => el("th", { scope: "col" }, text)));
    const body = task.names.map((name, i) => el("tr", { class: i ? "" : "ours" }, el("td", {}, name), ...task.cells[i].flatMap((cell, k) => [
      el("td", { "data-name": task.metrics[k] }, (100 * cell.mean).toFixed(1)),
      el("td", i ? { "data-name": "embedding above it by" } : {}, ...difference(cell.above)),
    ])));
    const table = el("table", { class: "scores" }, el("thead", {}, head), el("tbody", {}, ...body));
    $("tasks").append(el("h3", {}, task.name.replace(/^./, (c) => c.toUpperCase())), el("div", { class: "scroll" }, table), el("p", { class: "small" }, `In %: ${task.told}.`));
  }
}

function difference(above) {
  if (!above || above.mean == null) return [""];
  const told = signed(100 * above.mean);
  if (above.low == null || above.high == null) return [told];
  const [word, kind] = above.low > 0 ? ["better", "better"] : above.high < 0 ? ["worse", "worse"] : ["no difference", ""];
  return [`${told} `, el("span", { class: "spread" }, `(${signed(100 * above.low)} to ${signed(100 * above.high)})`), " ", el("span", { class: kind }, word)];
}
