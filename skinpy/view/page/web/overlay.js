// Lines and names of the joints, drawn over the picture, even where the mesh hides the joints.

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

  /** Pixels from the top left; null behind the camera. */
  project([x, y, z], m) {
    const [cx, cy, w] = [0, 1, 3].map((row) => m[row] * x + m[4 + row] * y + m[8 + row] * z + m[12 + row]);
    if (w <= 0) return null;
    return [((cx / w + 1) / 2) * this.canvas.width, ((1 - cy / w) / 2) * this.canvas.height];
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
        context.moveTo(point[0] + radius * unit, point[1]);
        context.arc(...point, radius * unit, 0, 2 * Math.PI);
      }
      context.fill();
    }
  }

  drawNames(points, unit) {
    const { context } = this;
    context.font = `${11 * unit}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    context.strokeStyle = HALO;
    context.lineWidth = 3 * unit;
    context.fillStyle = "white";
    points.forEach((point, joint) => {
      if (!point) return;
      const corner = [point[0] + 6 * unit, point[1]];
      context.strokeText(this.names[joint], ...corner);
      context.fillText(this.names[joint], ...corner);
    });
  }
}
