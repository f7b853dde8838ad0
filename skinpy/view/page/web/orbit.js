// The camera that the reader moves, as in skinpy/view/stage/orbit.py: around a target, the horizon level.

const FOV = 30; // degrees, the whole vertical angle
const AZIMUTH = 30; // from straight in front of the model to its left
const ELEVATION = 12;
const MARGIN = 0.06; // of the picture, at each side
const MIN_DISTANCE = 0.02; // from the target, in radii
const MAX_DISTANCE = 50;
const NEAR_PLANE = 0.01; // in distances to the target
const FAR_PLANE = 100; // behind the target, in radii
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

  /** Right, up and back (towards the camera) of the picture in scene space. */
  axes() {
    const around = this.azimuth * RADIANS;
    const rise = this.elevation * RADIANS;
    const level = add(scale(this.front, Math.cos(around)), scale(this.side, Math.sin(around)));
    const back = add(scale(level, Math.cos(rise)), scale(this.up, Math.sin(rise)));
    const right = add(scale(this.side, Math.cos(around)), scale(this.front, -Math.sin(around)));
    return [right, cross(back, right), back];
  }

  /** Fit a box to the picture, seen from this direction, as skinpy's `Camera.frame` does. */
  frame([low, high], aspect) {
    const [right, upward, back] = this.axes();
    const tall = Math.tan((this.fov * RADIANS) / 2) * (1 - 2 * MARGIN);
    const wide = tall * aspect;
    const center = scale(add(low, high), 0.5);
    const extent = { left: -Infinity, right: -Infinity, bottom: -Infinity, top: -Infinity, near: -Infinity };
    for (let corner = 0; corner < 8; corner++) {
      const offset = [0, 1, 2].map((axis) => ((corner >> axis) & 1 ? high : low)[axis] - center[axis]);
      const [x, y, z] = [dot(offset, right), dot(offset, upward), dot(offset, back)];
      extent.left = Math.max(extent.left, z * wide - x);
      extent.right = Math.max(extent.right, z * wide + x);
      extent.bottom = Math.max(extent.bottom, z * tall - y);
      extent.top = Math.max(extent.top, z * tall + y);
      extent.near = Math.max(extent.near, z);
    }
    this.radius = length(subtract(high, low)) / 2 || 1;
    this.distance = Math.max(
      (extent.left + extent.right) / (2 * wide),
      (extent.bottom + extent.top) / (2 * tall),
      extent.near + this.radius * 0.1,
    );
    const across = scale(right, (extent.right - extent.left) / 2);
    this.target = add(add(center, across), scale(upward, (extent.top - extent.bottom) / 2));
  }

  /** Turn around the target and up, in degrees; stops at the top and at the bottom. */
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

  /** Multiply the distance; the point `across` and `upward` from the middle, in heights, stays there. */
  zoom(factor, across = 0, upward = 0) {
    const wanted = clamp(this.distance * factor, this.radius * MIN_DISTANCE, this.radius * MAX_DISTANCE);
    const away = 1 - wanted / this.distance;
    this.pan(-across * away, -upward * away);
    this.distance = wanted;
  }

  /** The camera for the shaders; `matrix` goes from scene to clip space. */
  camera(aspect) {
    const [right, up, back] = this.axes();
    const eye = add(this.target, scale(back, this.distance));
    const near = this.distance * NEAR_PLANE;
    const far = this.distance + this.radius * FAR_PLANE;
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
