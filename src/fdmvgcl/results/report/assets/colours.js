const dark = matchMedia("(prefers-color-scheme: dark)");
const printing = matchMedia("print");
const isDark = () => dark.matches && !printing.matches;

// Viridis, for what has an order; its dark end is left out on dark paper and its pale end on white.
const VIRIDIS = [[68, 1, 84], [72, 36, 117], [65, 68, 135], [53, 95, 141], [42, 120, 142], [33, 145, 140], [34, 168, 132], [68, 191, 112], [122, 209, 81], [189, 223, 38], [253, 231, 37]];
// Petroff's colours, made to be told apart by colour-blind readers; Okabe and Ito's green and pink for his two greys.
const TEN = [[63, 144, 218], [255, 169, 14], [189, 31, 1], [131, 45, 182], [146, 218, 221], [169, 107, 89], [231, 99, 0], [185, 172, 112], [0, 158, 115], [221, 127, 177]];

const rgb = (c) => `rgb(${c.map(Math.round).join(",")})`;
const mixed = (a, b, t) => a.map((x, i) => x + (b[i] - x) * t);

function rampColour(t) {
  const [low, high] = isDark() ? [0.34, 1] : [0, 0.8];
  const place = (low + clamp(t, 0, 1) * (high - low)) * (VIRIDIS.length - 1);
  const i = Math.min(VIRIDIS.length - 2, Math.floor(place));
  return mixed(VIRIDIS[i], VIRIDIS[i + 1], place - i);
}
const ramp = (t) => rgb(rampColour(t));
const classColour = (i) => rgb(isDark() ? mixed(TEN[i], [255, 255, 255], 0.18) : mixed(TEN[i], [0, 0, 0], 0.06));
const other = () => (isDark() ? "rgb(92,100,110)" : "rgb(196,194,189)");
const themed = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const viewColour = (k) => `var(--view-${k})`;
const viewInk = (k) => `var(--view-ink-${k})`; // for text, which needs more contrast than a line
function paintViews() {
  const last = Math.max(1, content.views.length - 1);
  const style = document.documentElement.style;
  content.views.forEach((_, k) => {
    style.setProperty(`--view-${k}`, ramp(k / last));
    const [towards, share] = isDark() ? [[255, 255, 255], 0.35 * (1 - k / last)] : [[0, 0, 0], (0.42 * k) / last];
    style.setProperty(`--view-ink-${k}`, rgb(mixed(rampColour(k / last), towards, share)));
  });
}
