// Lines and names of the joints, over the picture and whatever stands before them.

const HALO = "rgba(10, 14, 20, 0.75)";
const INK = "rgba(255, 214, 102, 0.95)";

class Overlay {
  constructor(canvas, { joints }) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.parents = joints.parents;
    this.names = joints.names;
  }

  resize(width, height) {
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
  }

  /** Draw the joints, or nothing without any; `unit` is pixels of the canvas in one of the page. */
  draw(joints, camera, names, unit) {
    const { context, canvas } = this;
    context.clearRect(0, 0, canvas.width, canvas.height);
    if (!joints) return;
    const places = this.parents.map((_, i) => this.project(joints.subarray(3 * i, 3 * i + 3), camera.matrix));
    context.lineCap = context.lineJoin = "round";
    this.drawLines(places, HALO, 4 * unit);
    this.drawLines(places, INK, 2 * unit);
    this.drawDots(places, unit);
    if (names) this.drawNames(places, unit);
  }

  /** Pixels from the top left; null for what lies behind the eye. */
  project([x, y, z], m) {
    const [cx, cy, w] = [0, 1, 3].map((row) => m[row] * x + m[4 + row] * y + m[8 + row] * z + m[12 + row]);
    if (w <= 0) return null;
    return [((cx / w + 1) / 2) * this.canvas.width, ((1 - cy / w) / 2) * this.canvas.height];
  }

  drawLines(places, color, width) {
    const { context } = this;
    context.strokeStyle = color;
    context.lineWidth = width;
    context.beginPath();
    this.parents.forEach((parent, joint) => {
      if (parent < 0 || !places[parent] || !places[joint]) return;
      context.moveTo(...places[parent]);
      context.lineTo(...places[joint]);
    });
    context.stroke();
  }

  drawDots(places, unit) {
    const { context } = this;
    for (const [color, radius] of [[HALO, 3.5], [INK, 2.5]]) {
      context.fillStyle = color;
      context.beginPath();
      for (const place of places) {
        if (!place) continue;
        context.moveTo(place[0] + radius * unit, place[1]);
        context.arc(...place, radius * unit, 0, 2 * Math.PI);
      }
      context.fill();
    }
  }

  drawNames(places, unit) {
    const { context } = this;
    context.font = `${11 * unit}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    context.strokeStyle = HALO;
    context.lineWidth = 3 * unit;
    context.fillStyle = "white";
    places.forEach((place, joint) => {
      if (!place) return;
      const spot = [place[0] + 6 * unit, place[1]];
      context.strokeText(this.names[joint], ...spot);
      context.fillText(this.names[joint], ...spot);
    });
  }
}
