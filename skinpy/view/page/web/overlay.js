// Lines and names of the joints, drawn over the picture, even where the mesh hides the joints.

const HALO = "rgba(10, 14, 20, 0.75)";
const INK = "rgba(255, 214, 102, 0.95)";
// In pixels of the page.
const NAME_SIZE = 11;
const NAME_LINE = 14;
const NAME_GAP = 6; // from a joint to its name
const NAME_WIDTHS = [60, 150]; // longest names in narrow and in wide pictures
const NAME_RATIO = 0.45; // of the width of the picture, between the two
const MAX_NAMES = 400; // that are tried in one frame

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

  /** Draw the joints, or nothing for null; `unit` is the number of canvas pixels per pixel of the page. */
  draw(joints, camera, names, unit) {
    const { context, canvas } = this;
    context.clearRect(0, 0, canvas.width, canvas.height);
    if (!joints) return;
    const points = this.parents.map((_, i) => this.project(joints.subarray(3 * i, 3 * i + 3), camera.matrix));
    context.lineCap = context.lineJoin = "round";
    this.drawLines(points, HALO, 4 * unit);
    this.drawLines(points, INK, 2 * unit);
    this.drawDots(points, unit);
    if (names) this.drawNames(points, unit);
  }

  /** Pixels from the top left, and the distance from the camera; null behind the camera. */
  project([x, y, z], m) {
    const [cx, cy, w] = [0, 1, 3].map((row) => m[row] * x + m[4 + row] * y + m[8 + row] * z + m[12 + row]);
    if (w <= 0) return null;
    return [((cx / w + 1) / 2) * this.canvas.width, ((1 - cy / w) / 2) * this.canvas.height, w];
  }

  drawLines(points, color, width) {
    const { context } = this;
    context.strokeStyle = color;
    context.lineWidth = width;
    context.beginPath();
    this.parents.forEach((parent, joint) => {
      if (parent < 0 || !points[parent] || !points[joint]) return;
      context.moveTo(...points[parent]);
      context.lineTo(...points[joint]);
    });
    context.stroke();
  }

  drawDots(points, unit) {
    const { context } = this;
    for (const [color, radius] of [[HALO, 3.5], [INK, 2.5]]) {
      context.fillStyle = color;
      context.beginPath();
      for (const point of points) {
        if (!point) continue;
        const [x, y] = point;
        context.moveTo(x + radius * unit, y);
        context.arc(x, y, radius * unit, 0, 2 * Math.PI);
      }
      context.fill();
    }
  }

  /** Write names beside their joints, the nearest to the camera first: none lies on another. */
  drawNames(points, unit) {
    const { context } = this;
    context.font = `${NAME_SIZE * unit}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    context.strokeStyle = HALO;
    context.lineWidth = 3 * unit;
    context.fillStyle = "white";
    const nearest = [...points.keys()].filter((joint) => points[joint] && this.names[joint].trim());
    nearest.sort((a, b) => points[a][2] - points[b][2]);
    this.placed = []; // names with their boxes: left, top, right and bottom
    const [shortest, longest] = NAME_WIDTHS;
    const limit = clamp(NAME_RATIO * this.canvas.width, shortest * unit, longest * unit);
    for (const joint of nearest.slice(0, MAX_NAMES)) {
      const { words, width } = this.shortened(joint, limit);
      const box = this.freeBox(points[joint], width, unit);
      if (!box) continue;
      this.placed.push({ words, box });
      const corner = [box[0], (box[1] + box[3]) / 2];
      context.strokeText(words, ...corner);
      context.fillText(words, ...corner);
    }
  }

  /** The name of a joint, cut where it is wider than `limit`, and its width in the font that is set. */
  shortened(joint, limit) {
    const key = `${limit} ${this.context.font}`;
    if (this.cutFor !== key) [this.cutFor, this.cut] = [key, new Map()];
    if (!this.cut.has(joint)) {
      const letters = [...this.names[joint]];
      const measured = (words) => ({ words, width: this.context.measureText(words).width });
      let found = measured(letters.join(""));
      if (found.width > limit) {
        let [fits, tooLong] = [0, letters.length];
        while (tooLong - fits > 1) {
          const middle = (fits + tooLong) >> 1;
          const { width } = measured(`${letters.slice(0, middle).join("")}\u2026`);
          if (width > limit) tooLong = middle;
          else fits = middle;
        }
        found = measured(`${letters.slice(0, fits).join("")}\u2026`);
      }
      this.cut.set(joint, found);
    }
    return this.cut.get(joint);
  }

  /** A box right or left of a joint, or a line higher or lower, that no name has taken; null without one. */
  freeBox([x, y], width, unit) {
    const [gap, line] = [NAME_GAP * unit, NAME_LINE * unit];
    for (const down of [0, -1, 1]) {
      for (const left of [x + gap, x - gap - width]) {
        const top = y - line / 2 + down * line;
        const box = [left, top, left + width, top + line];
        if (this.isFree(box)) return box;
      }
    }
    return null;
  }

  /** Whether a box is inside the picture, and on no name. */
  isFree([left, top, right, bottom]) {
    if (left < 0 || top < 0 || right > this.canvas.width || bottom > this.canvas.height) return false;
    const apart = ({ box }) => right <= box[0] || box[2] <= left || bottom <= box[1] || box[3] <= top;
    return this.placed.every(apart);
  }
}
