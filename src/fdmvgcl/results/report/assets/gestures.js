// Mouse, touch, wheel and keys on the map.

function zoomAt(factor, x = size.width / 2, y = size.height / 2) {
  const camera = state.camera, before = camera.zoom;
  camera.zoom = clamp(before * factor, 1, 60);
  const change = (1 / before - 1 / camera.zoom) / size.side;
  camera.x += (x - size.width / 2) * change;
  camera.y += (y - size.height / 2) * change;
  settle();
}

function pan(dx, dy) {
  state.camera.x -= dx / (size.side * state.camera.zoom);
  state.camera.y -= dy / (size.side * state.camera.zoom);
  settle();
}

function settle() {
  const camera = state.camera;
  camera.x = clamp(camera.x, 0, 1);
  camera.y = clamp(camera.y, 0, 1);
  if (camera.zoom === 1) Object.assign(camera, home());
  // Seen whole, the map lets a finger scroll the page; zoomed in, the finger moves the map.
  canvas.style.touchAction = camera.zoom === 1 ? "pan-y" : "none";
  hover(-1);
  redraw();
}

function reset() {
  Object.assign(state.camera, home());
  state.only = null;
  select(-1);
  settle();
  showLegend();
}

function listen() {
  const fingers = new Map();
  let moved = 0, apart = 0;
  const at = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  const span = () => { const [a, b] = [...fingers.values()]; return Math.hypot(a[0] - b[0], a[1] - b[1]); };

  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, at(event));
    canvas.setPointerCapture(event.pointerId);
    moved = 0;
    if (fingers.size === 2) apart = span();
  });
  canvas.addEventListener("pointermove", (event) => {
    const here = at(event), before = fingers.get(event.pointerId);
    if (!before) return hover(event.pointerType === "touch" ? -1 : nodeAt(...here, 12));
    moved += Math.hypot(here[0] - before[0], here[1] - before[1]);
    fingers.set(event.pointerId, here);
    if (fingers.size === 2) {
      const [a, b] = [...fingers.values()], now = span();
      if (apart) zoomAt(now / apart, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      apart = now;
    } else if (moved > 4) {
      canvas.classList.add("grabbing");
      pan(here[0] - before[0], here[1] - before[1]);
    }
  });
  const lift = (event) => {
    const here = fingers.get(event.pointerId);
    fingers.delete(event.pointerId);
    canvas.classList.remove("grabbing");
    if (event.type === "pointerup" && here && moved <= 4 && !fingers.size) select(nodeAt(...here, event.pointerType === "touch" ? 24 : 12));
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => hover(-1));
  canvas.addEventListener("dblclick", (event) => zoomAt(2, ...at(event)));
  listenToWheel(at);
  listenToKeys();
  $("zoom-in").addEventListener("click", () => zoomAt(1.6));
  $("zoom-out").addEventListener("click", () => zoomAt(1 / 1.6));
  $("zoom-reset").addEventListener("click", reset);
}

// A wheel that was scrolling the page goes on scrolling it when the map comes under the pointer.
function listenToWheel(at) {
  let last = -Infinity, onMap = false;
  window.addEventListener("wheel", (event) => {
    if (event.timeStamp - last > 250) onMap = event.target === canvas;
    last = event.timeStamp;
    if (!onMap || event.target !== canvas) return;
    event.preventDefault();
    zoomAt(Math.exp(-clamp(event.deltaY * (event.deltaMode ? 30 : 1), -120, 120) * 0.004), ...at(event));
  }, { passive: false });
}

function listenToKeys() {
  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
    if (moves[event.key]) pan(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") zoomAt(1.4);
    else if (event.key === "-") zoomAt(1 / 1.4);
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") reset(); });
}
