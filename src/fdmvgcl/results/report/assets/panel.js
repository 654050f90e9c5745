// What stands around the map: tooltip, selected node with its neighbours, search, legend, slider.

function about(i) {
  const parts = [];
  if (labels) parts.push(labels[i] >= 0 ? `label ${data.label.names[labels[i]]}` : "no label");
  parts.push(ONE === "graph" ? `${grouped(degrees[i])} ${degrees[i] === 1 ? "node" : "nodes"}` : `${data.measure} ${brief(degrees[i])}`, `cluster ${clusters[i] + 1}`);
  return parts;
}

function hover(i) {
  const tip = $("tip");
  if (i !== state.hovered) redraw();
  state.hovered = i;
  tip.hidden = i < 0;
  if (i < 0) return;
  const [x, y] = toScreen(i);
  tip.replaceChildren(named(data.ids[i]), ...about(i).map((text) => el("div", {}, named(text))));
  tip.style.left = `${clamp(x + 14 + tip.offsetWidth > size.width ? x - 14 - tip.offsetWidth : x + 14, 4, Math.max(4, size.width - tip.offsetWidth - 4))}px`;
  tip.style.top = `${clamp(y - tip.offsetHeight - 8, 4, size.height - tip.offsetHeight - 4)}px`;
}

function select(i) {
  state.selected = i;
  $("panel").parentNode.classList.toggle("alone", i < 0);
  showPanel();
  redraw();
}

function showPanel() {
  const panel = $("panel"), i = state.selected;
  if (i < 0) {
    panel.replaceChildren(el("p", { class: "hint" }, ONE === "graph" ? "Click a graph, or search for one, to see it drawn, and the graphs most like it." : "Click a node, or search for one, to see the nodes most like it."));
    return;
  }
  const list = near(i).map((each, rank) => {
    const onMap = each < data.count;
    return el("li", {}, el("button", { type: "button", class: "near", disabled: !onMap, on: { click: () => select(each), pointerenter: () => onMap && hover(each), pointerleave: () => hover(-1) } },
      named(data.ids[each]),
      el("span", { class: "cosine" }, (cosines[i * data.each + rank] / 10000).toFixed(3).replace("-", "−")),
      el("small", {}, onMap ? named(about(each).slice(0, labels ? 1 : 2).join(", ")) : "not on the map")));
  });
  const title = el("h3", {}, named(data.ids[i]));
  const nearest = list.length ? [el("h4", {}, `Nearest ${MANY}, by cosine`), el("ol", {}, ...list)] : [el("p", { class: "hint" }, `There is no other ${ONE}.`)];
  panel.replaceChildren(title, el("p", { class: "about" }, named(about(i).join(", "))), ...(pictures ? [picture(i)] : []), ...nearest);
}

// The graph itself: its nodes lie as far apart as they are steps apart, as well as the plane can.
function picture(i) {
  if (!pictures[i]) {
    const why = degrees[i] === 0 ? "It has no nodes." : degrees[i] > data.drawn.most ? `Not drawn: it has more than ${data.drawn.most} nodes.` : "Not drawn: so many graphs would make this page too large.";
    return el("p", { class: "hint" }, why);
  }
  const [places, ends] = pictures[i], count = places.length / 2, r = clamp(22 / Math.sqrt(count), 2, 5);
  const at = (node, axis) => 8 + (places[2 * node + axis] / 255) * 184;
  const root = svg("svg", { class: "picture", viewBox: "0 0 200 200", role: "img", "aria-label": `The graph: ${count} nodes, ${ends.length / 2} edges` });
  for (let k = 0; k < ends.length; k += 2) root.append(svg("line", { x1: at(ends[k], 0), y1: at(ends[k], 1), x2: at(ends[k + 1], 0), y2: at(ends[k + 1], 1) }));
  for (let node = 0; node < count; node++) root.append(svg("circle", { cx: at(node, 0), cy: at(node, 1), r }));
  return root;
}

function listenToSearch() {
  const box = $("search"), list = $("suggestions");
  let found = [], chosen = -1;
  const close = () => { list.hidden = true; box.setAttribute("aria-expanded", "false"); box.removeAttribute("aria-activedescendant"); };
  const choose = (i) => {
    box.value = data.ids[i];
    close();
    select(i);
    bringIntoSight(i);
    // On a narrow screen the answer stands below the map; and a phone's keyboard would cover it.
    if (getComputedStyle($("panel")).borderLeftWidth === "0px") {
      box.blur();
      $("panel").scrollIntoView({ block: "nearest" });
    }
  };
  const mark = (place) => {
    chosen = place;
    [...list.children].forEach((item, k) => item.setAttribute("aria-selected", String(k === place)));
    if (list.children[place]) box.setAttribute("aria-activedescendant", list.children[place].id);
    list.children[place]?.scrollIntoView({ block: "nearest" });
  };
  const show = () => {
    const wanted = box.value.trim().toLowerCase();
    if (!wanted) return close();
    found = matches(wanted);
    list.replaceChildren(...(found.length
      ? found.map((i, k) => el("li", { role: "option", id: `found-${k}`, on: { pointerdown: (event) => { event.preventDefault(); choose(i); } } }, named(data.ids[i])))
      : [el("li", { class: "none" }, nothingFound())]));
    list.hidden = false;
    box.setAttribute("aria-expanded", "true");
    if (found.length) mark(0);
  };
  box.addEventListener("input", show);
  box.addEventListener("focus", show);
  box.addEventListener("blur", close);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !list.hidden && found.length) choose(found[Math.max(0, chosen)]);
    else if (event.key === "ArrowDown" && found.length) mark((chosen + 1) % found.length);
    else if (event.key === "ArrowUp" && found.length) mark((chosen - 1 + found.length) % found.length);
    else if (event.key === "Escape") { box.value = ""; close(); return; }
    else return;
    event.preventDefault();
  });
}

// Equal ids first, then those that begin with it, then those that hold it.
function matches(wanted) {
  const ranks = [[], [], []];
  for (let i = 0; i < data.count; i++) {
    const id = data.ids[i].toLowerCase(), place = id.indexOf(wanted);
    if (place >= 0) ranks[id === wanted ? 0 : place === 0 ? 1 : 2].push(i);
  }
  return ranks.flat().slice(0, 8);
}

const nothingFound = () => data.count < data.total
  ? `No such id among the ${grouped(data.count)} ${MANY} on the map. For the others: fdmvgcl similar DIR --id ID`
  : `No ${ONE} has such an id.`;

function bringIntoSight(i) {
  const [x, y] = toScreen(i);
  if (x > 20 && y > 20 && x < size.width - 20 && y < size.height - 20) return;
  state.camera.x = points[2 * i];
  state.camera.y = points[2 * i + 1];
  settle();
}

function showLegend() {
  const box = $("legend");
  if (state.colouring === "degree") return box.replaceChildren(degreeLegend());
  const shown = groups.filter((group) => group.nodes.length);
  box.replaceChildren(...shown.map((group) => el("button", { type: "button", "aria-pressed": String(state.only === group.name), title: "Show these alone",
    on: { click: () => { state.only = state.only === group.name ? null : group.name; showLegend(); redraw(); } } },
    el("i", { style: { background: group.colour } }), named(group.name))));
}

function degreeLegend() {
  const width = 180, [low, high] = degreeRange(), steps = 36;
  const bar = svg("svg", { width, height: 12, "aria-hidden": "true" });
  for (let i = 0; i < steps; i++) bar.append(svg("rect", { x: (i * width) / steps, width: width / steps + 0.6, height: 12, style: { fill: ramp(i / (steps - 1)) } }));
  const end = (t) => el("span", { style: { color: "var(--soft)", margin: "0 8px" } }, brief(Math.round(Math.expm1(t) * 100) / 100));
  const name = el("span", { style: { color: "var(--faint)", "margin-left": "12px" } }, `${data.measure}, on a logarithmic scale`);
  return el("span", { style: { display: "flex", "flex-wrap": "wrap", "align-items": "center" } }, end(low), bar, end(high), name);
}

function choices(id, entries, current, change) {
  for (const [value, text] of entries) {
    const input = el("input", { type: "radio", name: id, value, checked: value === current, on: { change: () => change(value) } });
    $(id).append(el("label", {}, input, el("span", {}, text)));
  }
  $(id).hidden = entries.length < 2;
}

function showStop() {
  const stops = data.stops, k = state.stop, layout = layouts[state.layout];
  [...$("stops").children].forEach((each, i) => each.classList.toggle("on", i === k));
  const where = k === 0 ? "the most local view" : k === stops.length - 1 ? "the most global view" : "between local and global";
  const told = k === stops.length ? "The embedding: all views together, each with its weight." : `α = ${orderName(stops[k])}: ${where}.`;
  const share = layout.shares ? ` These two components show ${percent(layout.shares[k])} of its variance.` : "";
  $("stop").textContent = stops.length ? told + share : "";
  $("slider").setAttribute("aria-valuetext", told);
  showMapNote();
}

function showMapNote() {
  const layout = layouts[state.layout], parts = [];
  if (layout.name === "neighbours") parts.push(`Layout by t-SNE: neighbourhoods can be trusted, distances between groups and sizes of groups cannot. Each map starts from the next, so that ${MANY} stay where they can.`);
  else parts.push(`Layout by the first two principal components, each map turned to match the next${data.stops.length ? "" : `; they show ${percent(layout.shares[0])} of the variance`}. What lies together here may be apart in further components.`);
  if (data.count < data.total) parts.push(`The map shows ${grouped(data.count)} of ${grouped(data.total)} ${MANY}, evenly spaced in the order of ids; neighbours were sought among all.`);
  parts.push(`Neighbours are those of the embedding. Clusters: k-means with k = ${data.clusters} on the ${MANY} shown.`);
  if (data.stops.length < content.views.length) parts.push(`${data.stops.length} of ${content.views.length} views, evenly chosen.`);
  if (data.idsCut) parts.push(`Ids of more than ${data.idsCut} characters are cut in the middle.`);
  $("map-note").textContent = parts.join(" ");
}

function startMap() {
  regroup();
  const colours = [...(labels ? [["label", "Label"]] : []), ["cluster", "Cluster"], ["degree", ONE === "graph" ? "Size" : "Degree"]];
  choices("colouring", colours, state.colouring, (value) => { state.colouring = value; state.only = null; regroup(); showLegend(); redraw(); });
  const kinds = { neighbours: "Neighbours", components: "Components" };
  choices("layout", layouts.map((layout, i) => [String(i), kinds[layout.name]]), "0", (value) => { moveTo(Number(value), state.stop); showStop(); });
  if (data.stops.length) {
    const slider = $("slider");
    $("slider-box").hidden = false;
    slider.max = data.stops.length;
    slider.value = state.stop;
    slider.addEventListener("input", () => { hover(-1); moveTo(state.layout, Number(slider.value)); showStop(); });
    $("stops").append(...data.stops.map((alpha, k) => el("span", {}, `${k ? "" : "α "}${orderName(alpha)}`)), el("span", {}, "all"));
  }
  select(-1);
  showLegend();
  showStop();
  listen();
  listenToSearch();
  new ResizeObserver(fit).observe($("canvas-box"));
  fit();
}
