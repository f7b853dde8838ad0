// Mouse, touch, keyboard and the controls below the picture.

const DEGREES = 220; // that a drag over the height of the picture turns
const ZOOM = 1.0015; // per unit of the wheel
const KEY_DEGREES = 10;
const TOGGLES = { KeyJ: "joints", KeyN: "names", KeyW: "edges", KeyF: "floor" };

/** Drags, wheel and touches on the canvas; `changed` is called after each. */
class Hand {
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
    else this.orbit.turn(-x * DEGREES, y * DEGREES);
    this.pointers.set(event.pointerId, now);
    this.changed();
  }

  /** Two fingers: each moves the view by half of its way, and their distance zooms. */
  pinch(id, before, now, x, y) {
    const [, other] = [...this.pointers].find(([pointer]) => pointer !== id);
    const distance = (place) => Math.hypot(place[0] - other[0], place[1] - other[1]) || 1;
    this.orbit.pan(x / 2, -y / 2);
    this.orbit.zoom(distance(before) / distance(now));
  }

  wheel(event) {
    // In another page the wheel is that page's, until this one has been clicked.
    if (window.parent !== window && document.activeElement !== this.canvas) return;
    event.preventDefault();
    const box = this.canvas.getBoundingClientRect();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 33 : 1;
    const across = (event.clientX - box.left - box.width / 2) / box.height;
    const upward = (box.top + box.height / 2 - event.clientY) / box.height;
    this.orbit.zoom(ZOOM ** clamp(event.deltaY * lines, -400, 400), across, upward);
    this.changed();
  }
}

/** The elements of the page by their ids. */
const element = (id) => document.getElementById(id);

class Controls {
  /** `viewer` has player, orbit, show, redraw(), frame() and play(playing). */
  constructor(viewer) {
    this.viewer = viewer;
    this.hand = new Hand(element("picture"), viewer.orbit, () => viewer.moved());
    this.listClips();
    element("play").addEventListener("click", () => viewer.play(!viewer.player.playing));
    element("reset").addEventListener("click", () => viewer.frame());
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

  /** Show what the player has. */
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
    const words = `${player.time.toFixed(2)} / ${duration.toFixed(2)} s`;
    scrub.setAttribute("aria-valuetext", words);
    element("clock").textContent = words;
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
    const taken = event.target.closest("select, input, button, summary");
    // Elements that are in focus keep the keys that they know.
    if (taken && [" ", "Enter", "Home", "End"].includes(event.key)) return;
    if (taken && event.key.startsWith("Arrow") && !taken.matches("button, summary, [type=checkbox]")) return;
    if (this.act(event)) event.preventDefault();
  }

  /** Do what a key means; false where it means nothing. */
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
    else if (event.code === "KeyR") viewer.frame();
    else if (TOGGLES[event.code]) this.toggle(TOGGLES[event.code], !viewer.show[TOGGLES[event.code]]);
    else return false;
    return true;
  }
}
