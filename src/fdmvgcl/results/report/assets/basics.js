const $ = (id) => document.getElementById(id);
const content = JSON.parse($("content").textContent);

// What has vectors: "node" or "graph".
const ONE = content.map.unit, MANY = `${ONE}s`;

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, run] of Object.entries(value)) node.addEventListener(event, run);
    else if (name === "style") for (const [key, each] of Object.entries(value)) node.style.setProperty(key, each);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}
const el = (tag, attributes = {}, ...children) => build(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// Names are users' own: always text, and a right-to-left one must not turn its surroundings.
const named = (text) => el("bdi", {}, text);

function unpack(text, Type) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Type(bytes.buffer);
}

const grouped = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)}\u202f%`;
const signed = (x) => (x.toFixed(1) < 0 ? "−" : "+") + Math.abs(x).toFixed(1);

function brief(x) {
  const size = Math.abs(x);
  if (size !== 0 && (size < 0.001 || size >= 1e6)) return x.toExponential(1).replace("e", "·10^").replace("+", "").replaceAll("-", "−");
  return String(+x.toPrecision(size >= 1000 ? 4 : 3)).replace("-", "−");
}

const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
const orderName = (alpha) => (alpha < 0.005 ? "≈0" : alpha.toFixed(2));
