// Joins the parts of the page, and draws when something has changed.

const MAX_STEP = 0.25; // seconds from one frame to the next: a page that was hidden does not jump
const MAX_PIXEL_RATIO = 2; // pixels of the canvas per pixel of the page

class Viewer {
  constructor(content) {
    this.content = content;
    this.player = new Player(content);
    this.orbit = new Orbit(content.up, content.front);
    this.stage = new Stage(element("picture"), content);
    this.overlay = new Overlay(element("marks"), content);
    this.show = { joints: false, names: false, edges: false, floor: true, ...content.show };
    this.moves = content.uv.length > 0 || content.floor.uv !== null; // textures move, even without a clip
    this.untouched = true; // until the reader moves the camera
    this.player.seek(content.time);
    this.controls = new Controls(this);
    this.watch();
    this.resize();
    this.resetCamera();
    const calm = matchMedia("(prefers-reduced-motion: reduce)");
    calm.addEventListener("change", () => calm.matches && this.play(false));
    this.play(!calm.matches);
  }

  watch() {
    new ResizeObserver(() => this.resize()).observe(element("view"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    const canvas = element("picture");
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault(); // asks the browser to restore the context
      this.lost = true;
      say("The browser has taken the graphics card away from this page; the model comes back with it.");
    });
    canvas.addEventListener("webglcontextrestored", () => this.restored());
  }

  restored() {
    this.lost = false;
    say("");
    attempt(() => {
      this.stage.restore();
      this.resize();
    });
  }

  resize() {
    const { clientWidth, clientHeight } = element("view");
    this.pixels = Math.min(devicePixelRatio || 1, MAX_PIXEL_RATIO);
    const size = [clientWidth, clientHeight].map((side) => Math.max(Math.round(side * this.pixels), 1));
    this.aspect = size[0] / size[1];
    if (this.lost) return;
    this.stage.resize(...size);
    this.overlay.resize(...size);
    if (this.untouched) this.resetCamera();
    this.draw(); // at once: a canvas is empty after a change of its size
  }

  /** Show the whole clip from the usual direction. */
  resetCamera() {
    this.untouched = true;
    [this.orbit.azimuth, this.orbit.elevation] = [AZIMUTH, ELEVATION];
    this.orbit.frame(this.player.clip.extent, this.aspect);
    this.redraw();
  }

  moved() {
    this.untouched = false;
    this.redraw();
  }

  turn(azimuth, elevation) {
    this.orbit.turn(azimuth, elevation);
    this.moved();
  }

  zoom(factor) {
    this.orbit.zoom(factor);
    this.moved();
  }

  play(playing) {
    this.player.playing = playing && (this.player.clip.duration > 0 || this.moves);
    this.last = null;
    this.redraw();
  }

  seek(time) {
    this.player.seek(time);
    this.redraw();
  }

  step(frames) {
    this.play(false);
    this.player.step(frames);
    this.redraw();
  }

  choose(number) {
    const { length } = this.content.clips;
    this.player.choose((number + length) % length);
    if (this.untouched) this.resetCamera();
    this.redraw();
  }

  /** Draw at the browser's next frame. */
  redraw() {
    this.asked ??= requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    this.asked = null;
    const { player } = this;
    if (player.playing) {
      const step = this.last === null ? 0 : Math.min((now - this.last) / 1000, MAX_STEP);
      player.advance(step);
      this.last = now;
    }
    attempt(() => this.draw());
    if (player.playing && !this.lost) this.redraw();
  }

  draw() {
    if (this.lost) return;
    const { player, show } = this;
    const camera = this.orbit.camera(this.aspect);
    const joints = player.jointPositions();
    this.stage.draw({
      camera,
      clip: player.clip,
      span: player.span,
      seconds: player.seconds,
      show,
      background: this.content.background ?? schemeColor(),
      joints,
    });
    const marked = show.joints && !player.clip.stored;
    this.overlay.draw(marked ? joints : null, camera, show.names, this.pixels);
    this.controls.update();
  }
}

/** The background of the page in its light or dark scheme: sRGB, 0 to 1. */
function schemeColor() {
  const components = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g);
  return components.slice(0, 3).map((value) => value / 255);
}

/** Show a sentence in the middle of the page; an empty one removes it. */
function say(text) {
  element("message").textContent = text;
  element("message").hidden = !text;
}

/** Run a function, and show its failure in the page. */
function attempt(run) {
  try {
    return run();
  } catch (error) {
    say(error instanceof PageError ? error.message : `This page failed: ${error.message}`);
    if (!(error instanceof PageError)) console.error(error);
    return null;
  }
}

async function start() {
  if (typeof DecompressionStream === "undefined") {
    return say("This browser is too old for this page: it has no DecompressionStream.");
  }
  const content = await unpacked(JSON.parse(element("content").textContent));
  return attempt(() => {
    const viewer = new Viewer(content);
    say("");
    return viewer;
  });
}

/** For scripts that control the page: a promise of the viewer, or of null if the page cannot draw. */
globalThis.skinpyViewer = start();
