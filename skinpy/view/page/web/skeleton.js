// The skeleton as octahedra, for models without a mesh: skeleton_corners of skinpy/render/scene/skeleton.py.

const CORNER_FLOATS = 9; // position, normal, color

/** Corners of triangles; `joints` are posed positions (3 * J), `size` is the extent of the rest pose. */
function skeletonCorners(joints, parents, size, style) {
  const corners = [];
  const position = (joint) => [...joints.subarray(3 * joint, 3 * joint + 3)];
  parents.forEach((parent, joint) => {
    if (parent < 0) return;
    const [tail, head] = [position(parent), position(joint)];
    const far = length(subtract(head, tail));
    if (far <= 1e-6 * size) return;
    octahedron(corners, tail, head, far * style.linkWidth, style.linkWaist, style.linkColor);
  });
  const radius = (size || 1) * style.jointShare;
  for (let joint = 0; joint < parents.length; joint++) {
    const [tail, head] = [-radius, radius].map((z) => add(position(joint), [0, 0, z]));
    octahedron(corners, tail, head, radius, 0.5, style.jointColor);
  }
  return new Float32Array(corners);
}

/** Add the corners of an octahedron, wound counterclockwise seen from outside. */
function octahedron(corners, tail, head, width, waist, color) {
  const axis = subtract(head, tail);
  // Any direction across the axis: its cross product with the coordinate axis that it is farthest from.
  const sizes = axis.map(Math.abs);
  const farthest = sizes.indexOf(Math.min(...sizes));
  const across = unit(cross(axis, [0, 1, 2].map((i) => Number(i === farthest))));
  const beside = unit(cross(axis, across));
  const middle = add(tail, scale(axis, waist));
  const directions = [across, beside, scale(across, -1), scale(beside, -1)];
  const ring = directions.map((direction) => add(middle, scale(direction, width)));
  for (let i = 0; i < 4; i++) {
    const next = ring[(i + 1) % 4];
    triangle(corners, [ring[i], next, head], color);
    triangle(corners, [next, ring[i], tail], color);
  }
}

function triangle(corners, positions, color) {
  const [a, b, c] = positions;
  const normal = unit(cross(subtract(b, a), subtract(c, a)));
  for (const position of positions) corners.push(...position, ...normal, ...color);
}
