// The rest of the page, and the start.

function describe(id, pairs) {
  for (const [name, text] of pairs) $(id).append(el("dt", {}, name), el("dd", {}, named(text)));
}

function showSummary() {
  const total = grouped(data.total), what = `${total} ${data.total === 1 ? "node" : "nodes"}`;
  $("title").textContent = content.title || `Embedding of ${what}`;
  document.title = content.title ? `${content.title} · fdmvgcl report` : "fdmvgcl report";
  const views = content.views.length;
  $("lead").textContent = `${what}, each turned into a vector from ${views} views of the graph, local to global, learned without labels.`;
  const { health, text } = content.verdict;
  $("verdict").classList.add(health);
  $("verdict").querySelector(".badge").textContent = { healthy: "✓ healthy", narrowed: "! narrowed", collapsed: "× collapsed" }[health];
  $("verdict").querySelector("p").textContent = text.slice(text.indexOf(":") + 1).trim().replace(/^./, (c) => c.toUpperCase()).replaceAll("--", "\u2011\u2011");
  describe("facts-in", content.facts.in);
  describe("facts-out", content.facts.out);
  $("notes").append(...content.facts.notes.map((note) => el("li", {}, named(note))));
}

function showAgain() {
  $("command").textContent = content.again.command;
  describe("settings", content.again.settings);
  describe("versions", content.again.versions.length ? content.again.versions : [["–", "not recorded"]]);
}

function showSections() {
  const names = { map: "Map", probe: "Probe", views: "Views", training: "Training", spectra: "Spectra", again: "Run it again" };
  for (const [id, name] of Object.entries(names)) if (!$(id).hidden) $("sections").append(el("a", { href: `#${id}` }, name));
}

function repaint() {
  paintViews();
  regroup();
  showLegend();
  draw();
}

paintViews();
showSummary();
scoreTable();
showSections();
startMap();
responseChart();
trainingCharts();
spectraChart();
showAgain();
for (const query of [dark, printing]) query.addEventListener("change", repaint);
