// From a time to the two frames around it, and to the numbers between those.

/** The times of a clip's frames in seconds. Baked frames are 1 / fps apart; the last is the clip's end. */
function frameTimes(clip) {
  if (clip.stored) return clip.stored.times;
  const times = Array.from({ length: clip.frames }, (_, frame) => frame / clip.fps);
  times[clip.frames - 1] = clip.duration;
  return times;
}

/** The span of a time: the frame at or before it, the frame after it, and the blend, 0 to 1, between them. */
function spanOf(times, time, step) {
  let low = 0;
  let high = times.length - 1;
  if (time >= times[high]) return { first: high, second: high, blend: 0 };
  if (time <= times[0]) return { first: 0, second: 0, blend: 0 };
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle;
    else high = middle;
  }
  const blend = step ? 0 : (time - times[low]) / (times[high] - times[low]);
  return { first: low, second: high, blend };
}

/** The row of numbers between two rows of a table (rows, width). */
function blendedRow(table, width, first, second, blend) {
  const result = new Float64Array(width);
  for (let i = 0; i < width; i++) {
    const start = table[first * width + i];
    result[i] = start + blend * (table[second * width + i] - start);
  }
  return result;
}

const fromEnd = (value, period) => ((value % period) + period) % period;

/** The 3x3 of a UV animation, row by row: `UVAnimation.sample` of skinpy. */
function uvMatrix(animation, time) {
  const { scroll, rotate, pivot, times, keys, step } = animation;
  const last = times[times.length - 1];
  const within = last > 0 ? fromEnd(time, last) : 0;
  const span = spanOf(times, within, step);
  const key = (name, absent) => {
    const rows = keys[name];
    if (!rows) return [absent, absent];
    const value = (i) => rows[span.first][i] + span.blend * (rows[span.second][i] - rows[span.first][i]);
    return [value(0), rows[0].length > 1 ? value(1) : 0];
  };
  const offset = key("offset", 0).map((value, i) => value + scroll[i] * time);
  const angle = rotate * time + key("rotation", 0)[0];
  const [su, sv] = key("scale", 1).map((value, i) => value * animation.scale[i]);
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const linear = [c * su, s * sv, -s * su, c * sv];
  const move = [0, 1].map(
    (row) => pivot[row] + offset[row] - linear[2 * row] * pivot[0] - linear[2 * row + 1] * pivot[1],
  );
  return [linear[0], linear[1], move[0], linear[2], linear[3], move[1], 0, 0, 1];
}

const PERIODS = { repeat: 1, mirror: 2 }; // after which a wrapped image repeats

const REPEATED = ["repeat", "repeat"]; // along u and v

/** The matrix of an image at a time, 3x3 row by row, and its wrap modes for u and v. `still` comes first.
 * The modes are those of the animation; without one they are `wraps`. */
function texturing(still, animation, time, wraps = REPEATED) {
  const matrix = animation ? multiplied3(uvMatrix(animation, time), still) : [...still];
  const wrap = animation ? [animation.wrap, animation.wrap] : wraps;
  wrap.forEach((mode, axis) => {
    const i = 2 + 3 * axis; // small numbers keep more digits behind the point
    if (PERIODS[mode]) matrix[i] = fromEnd(matrix[i], PERIODS[mode]);
  });
  return { matrix, wrap };
}

/** The matrix of the floor's image on its disc, after the model has walked for `time` seconds. */
function floorMatrix(floor, time) {
  const rows = floor.uv.map(([x, y, start], axis) => [x, y, start + floor.scroll[axis] * time]);
  return [...rows.flat(), 0, 0, 1];
}
