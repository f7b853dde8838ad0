// The camera that a hand moves, as skinpy/view/orbit.py has it: round a target, the horizon level.

const FOV = 30; // degrees, the whole vertical angle
const AZIMUTH = 30; // from straight in front of the model to its left
const ELEVATION = 12;
const MARGIN = 0.06; // of the picture, at each side
const NEAREST = 0.02; // of the radius
const FARTHEST = 50;
const NEAR_SHARE = 0.01; // near plane, as a share of the distance
const FAR_RADII = 100;
const RADIANS = Math.PI / 180;

class Orbit {
  /** `up` and `front` are unit vectors of the scene. */
  constructor(up, front) {
    this.up = up;
    this.front = front;
    this.side = cross(up, front);
    this.fov = FOV;
    this.target = [0, 0, 0];
    this.distance = this.radius = 1;
    this.azimuth = AZIMUTH;
    this.elevation = ELEVATION;
  }

  /** Right, up and back (towards the eye) of the picture in scene space. */
  axes() {
    const turn = this.azimuth * RADIANS;
    const rise = this.elevation * RADIANS;
    const level = add(scale(this.front, Math.cos(turn)), scale(this.side, Math.sin(turn)));
    const back = add(scale(level, Math.cos(rise)), scale(this.up, Math.sin(rise)));
    const right = add(scale(this.side, Math.cos(turn)), scale(this.front, -Math.sin(turn)));
    return [right, cross(back, right), back];
  }

  /** The nearest place in this direction from which all of a box is seen: skinpy's `Camera.frame`. */
  frame([low, high], aspect) {
    const [right, upward, back] = this.axes();
    const tall = Math.tan((this.fov * RADIANS) / 2) * (1 - 2 * MARGIN);
    const wide = tall * aspect;
    const center = scale(add(low, high), 0.5);
    const most = { left: -Infinity, right: -Infinity, bottom: -Infinity, top: -Infinity, near: -Infinity };
    for (let corner = 0; corner < 8; corner++) {
      const place = [0, 1, 2].map((axis) => ((corner >> axis) & 1 ? high : low)[axis] - center[axis]);
      const [x, y, z] = [dot(place, right), dot(place, upward), dot(place, back)];
      most.left = Math.max(most.left, z * wide - x);
      most.right = Math.max(most.right, z * wide + x);
      most.bottom = Math.max(most.bottom, z * tall - y);
      most.top = Math.max(most.top, z * tall + y);
      most.near = Math.max(most.near, z);
    }
    this.radius = length(subtract(high, low)) / 2 || 1;
    this.distance = Math.max(
      (most.left + most.right) / (2 * wide),
      (most.bottom + most.top) / (2 * tall),
      most.near + this.radius * 0.1,
    );
    const across = scale(right, (most.right - most.left) / 2);
    this.target = add(add(center, across), scale(upward, (most.top - most.bottom) / 2));
  }

  /** Go round the target by degrees, and up; it stops at the top and at the bottom. */
  turn(azimuth, elevation) {
    this.azimuth = (((this.azimuth + azimuth + 180) % 360) + 360) % 360 - 180;
    this.elevation = clamp(this.elevation + elevation, -90, 90);
  }

  /** Move what lies in the target's plane to the right and up, in heights of the picture. */
  pan(across, upward) {
    const [right, up] = this.axes();
    const height = 2 * this.distance * Math.tan((this.fov * RADIANS) / 2);
    this.target = subtract(this.target, scale(add(scale(right, across), scale(up, upward)), height));
  }

  /** Multiply the distance; what is `across` and `upward` of the middle, in heights, stays there. */
  zoom(factor, across = 0, upward = 0) {
    const wanted = clamp(this.distance * factor, this.radius * NEAREST, this.radius * FARTHEST);
    const away = 1 - wanted / this.distance;
    this.pan(-across * away, -upward * away);
    this.distance = wanted;
  }

  /** What the shaders and other cameras need; `matrix` goes from scene to clip space. */
  camera(aspect) {
    const [right, up, back] = this.axes();
    const eye = add(this.target, scale(back, this.distance));
    const near = this.distance * NEAR_SHARE;
    const far = this.distance + this.radius * FAR_RADII;
    const matrix = multiplied(this.projection(aspect, near, far), viewMatrix(right, up, back, eye));
    return { eye, target: this.target, up, fov: this.fov, near, far, axes: [right, up, back], matrix };
  }

  projection(aspect, near, far) {
    const focal = 1 / Math.tan((this.fov * RADIANS) / 2);
    const depth = near - far;
    const [scaled, moved] = [(far + near) / depth, (2 * far * near) / depth];
    return [focal / aspect, 0, 0, 0, 0, focal, 0, 0, 0, 0, scaled, -1, 0, 0, moved, 0];
  }
}

function viewMatrix(right, up, back, eye) {
  const rows = [right, up, back];
  const columns = [0, 1, 2].map((axis) => [...rows.map((row) => row[axis]), 0]);
  return [...columns.flat(), ...rows.map((row) => -dot(row, eye)), 1];
}
