// The rest of the page, and the start.

function describe(id, pairs) {
  for (const [name, text] of pairs) $(id).append(el("dt", {}, name), el("dd", {}, named(text)));
}

function showSummary() {
  const total = grouped(data.total), what = `${total} ${data.total === 1 ? ONE : MANY}`;
  $("title").textContent = content.title || `Embedding of ${what}`;
  document.title = content.title ? `${content.title} · fdmvgcl report` : "fdmvgcl report";
  const views = content.views.length;
  $("lead").textContent = `${what}, each turned into a vector from ${views} views of the graph, local to global, learned without labels.`;
  const { health, text } = content.verdict;
  $("verdict").classList.add(health.replace(" ", "-"));
  $("verdict").querySelector(".badge").textContent = { healthy: "✓ healthy", behind: "! behind a control", narrowed: "! narrowed", collapsed: "× collapsed" }[health] ?? health;
  $("verdict").querySelector("p").textContent = text.slice(text.indexOf(":") + 1).trim().replace(/^./, (c) => c.toUpperCase()).replaceAll("--", "\u2011\u2011");
  if (ONE === "graph") {
    $("lead").textContent = `${what}, each turned into a vector from ${views} views of its nodes, local to global, learned without labels.`;
    $("map-how").textContent = "Each dot is a graph; dots that lie together have similar vectors. Click one to see it drawn and which graphs are most like it, or move the slider to see the same graphs through each view, from local to global.";
    $("probe-how").textContent = "A support vector machine is trained on frozen vectors and tested on graphs it has not seen. The embedding is worth its training only where it is above the controls below it; labels were used here and nowhere else.";
  }
  describe("facts-in", content.facts.in);
  describe("facts-out", content.facts.out);
  $("notes").append(...content.facts.notes.map((note) => el("li", {}, named(note))));
  $("reasons").append(...content.chosen.reasons.map((reason) => el("li", {}, reason)));
  describe("chosen", content.chosen.settings);
}

function showAgain() {
  for (const [what, command, page] of content.again.next)
    $("steps").append(el("dt", {}, el("a", { href: page }, what)), el("dd", {}, el("code", {}, command)));
  $("command").append(...content.again.command.split(/(?<= )/).map((word) => el("span", {}, word)));
  describe("settings", content.again.settings);
  describe("versions", content.again.versions.length ? content.again.versions : [["–", "not recorded"]]);
}

function showSections() {
  for (const section of document.querySelectorAll("main > section:not([hidden])"))
    $("sections").append(el("a", { href: `#${section.id}` }, section.querySelector("h2").textContent));
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
taskTables();
showSections();
startMap();
sizesChart();
responseChart();
trainingCharts();
spectraChart();
showAgain();
for (const query of [dark, printing]) query.addEventListener("change", repaint);
