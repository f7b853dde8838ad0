// The mouse, touch, the keyboard, and the controls below the picture.

const DRAG_DEGREES = 220; // that a drag over the height of the picture turns the camera by
const WHEEL_ZOOM = 1.0015; // factor per unit of the wheel
const KEY_DEGREES = 10; // that an arrow key with Shift turns the camera by
const TOGGLES = { KeyJ: "joints", KeyN: "names", KeyW: "edges", KeyF: "floor" };

/** Turns drags, touches and the wheel into changes of the orbit; `changed` is called after each. */
class PointerInput {
  constructor(canvas, orbit, changed) {
    this.canvas = canvas;
    this.orbit = orbit;
    this.changed = changed;
    this.pointers = new Map();
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    }
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const height = this.canvas.clientHeight;
    const [x, y] = [(now[0] - before[0]) / height, (now[1] - before[1]) / height];
    if (this.pointers.size === 2) this.pinch(event.pointerId, before, now, x, y);
    else if (event.buttons & 6 || event.shiftKey || event.ctrlKey) this.orbit.pan(x, -y);
    else this.orbit.turn(-x * DRAG_DEGREES, y * DRAG_DEGREES);
    this.pointers.set(event.pointerId, now);
    this.changed();
  }

  /** Two fingers pan by the mean of their movements, and zoom by their distance. */
  pinch(id, before, now, x, y) {
    const [, other] = [...this.pointers].find(([pointer]) => pointer !== id);
    const distance = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
    this.orbit.pan(x / 2, -y / 2);
    this.orbit.zoom(distance(before) / distance(now));
  }

  wheel(event) {
    // Inside another page the wheel scrolls that page, until this one has been clicked.
    if (window.parent !== window && document.activeElement !== this.canvas) return;
    event.preventDefault();
    const box = this.canvas.getBoundingClientRect();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 33 : 1;
    const across = (event.clientX - box.left - box.width / 2) / box.height;
    const upward = (box.top + box.height / 2 - event.clientY) / box.height;
    this.orbit.zoom(WHEEL_ZOOM ** clamp(event.deltaY * lines, -400, 400), across, upward);
    this.changed();
  }
}

/** An element of the page by its id. */
const element = (id) => document.getElementById(id);

class Controls {
  /** `viewer` has player, orbit, show, redraw(), resetCamera() and play(playing). */
  constructor(viewer) {
    this.viewer = viewer;
    this.pointerInput = new PointerInput(element("picture"), viewer.orbit, () => viewer.moved());
    this.listClips();
    element("play").addEventListener("click", () => viewer.play(!viewer.player.playing));
    element("reset").addEventListener("click", () => viewer.resetCamera());
    element("scrub").addEventListener("input", (event) => this.scrub(event.target.valueAsNumber));
    element("clip").addEventListener("change", (event) => viewer.choose(event.target.selectedIndex));
    element("speed").addEventListener("change", (event) => {
      viewer.player.speed = Number(event.target.value);
    });
    for (const name of Object.values(TOGGLES)) {
      element(name).checked = Boolean(viewer.show[name]);
      element(name).addEventListener("change", (event) => this.toggle(name, event.target.checked));
    }
    document.addEventListener("keydown", (event) => this.key(event));
    element("controls").hidden = false;
  }

  listClips() {
    const { clips } = this.viewer.player.content;
    clips.forEach((clip, number) => {
      const option = document.createElement("option");
      option.textContent = clip.name || `clip ${number + 1}`; // as text: names may hold anything
      element("clip").append(option);
    });
    element("clip").disabled = clips.length < 2;
  }

  /** Show the state of the player. */
  update() {
    const { player } = this.viewer;
    const { duration } = player.clip;
    const still = duration === 0 && !this.viewer.moves;
    element("play").textContent = player.playing ? "Pause" : "Play";
    element("play").disabled = still;
    const scrub = element("scrub");
    scrub.max = duration || 1;
    scrub.disabled = duration === 0;
    scrub.value = player.time;
    const label = `${player.time.toFixed(2)} / ${duration.toFixed(2)} s`;
    scrub.setAttribute("aria-valuetext", label);
    element("clock").textContent = label;
    element("clip").selectedIndex = player.number;
  }

  scrub(time) {
    this.viewer.play(false);
    this.viewer.seek(time);
  }

  toggle(name, wanted) {
    const { show } = this.viewer;
    show[name] = wanted;
    if (name === "names" && wanted) show.joints = true;
    if (name === "joints" && !wanted) show.names = false;
    for (const one of Object.values(TOGGLES)) element(one).checked = Boolean(show[one]);
    this.viewer.redraw();
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const focused = event.target.closest("select, input, button, summary");
    // A focused element keeps the keys that it uses itself.
    if (focused && [" ", "Enter", "Home", "End"].includes(event.key)) return;
    const usesArrows = focused && !focused.matches("button, summary, [type=checkbox]");
    if (usesArrows && event.key.startsWith("Arrow")) return;
    if (this.act(event)) event.preventDefault();
  }

  /** Do what a key stands for; returns false for a key that has no meaning. */
  act(event) {
    const { viewer } = this;
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (arrow && event.shiftKey) viewer.turn(arrow[0] * KEY_DEGREES, arrow[1] * KEY_DEGREES);
    else if (arrow && arrow[0]) viewer.step(arrow[0]);
    else if (arrow) viewer.choose(viewer.player.number - arrow[1]);
    else if (event.key === " ") viewer.play(!viewer.player.playing);
    else if (event.key === "Home") viewer.seek(0);
    else if (event.key === "+" || event.key === "=") viewer.zoom(1 / 1.2);
    else if (event.key === "-") viewer.zoom(1.2);
    else if (event.code === "KeyR") viewer.resetCamera();
    else if (TOGGLES[event.code]) this.toggle(TOGGLES[event.code], !viewer.show[TOGGLES[event.code]]);
    else return false;
    return true;
  }
}
