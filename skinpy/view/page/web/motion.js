// Where a time stands among the frames of a clip, and what the frames hold there.

/** The frames of a clip: seconds of each. Baked ones are 1 / fps apart, and the last is the clip's end. */
function frameTimes(clip) {
  if (clip.stored) return clip.stored.times;
  const times = Array.from({ length: clip.frames }, (_, frame) => frame / clip.fps);
  times[clip.frames - 1] = clip.duration;
  return times;
}

/** The frame at or before `time`, the one after it, and the share of that one. */
function placeOf(times, time, step) {
  let low = 0;
  let high = times.length - 1;
  if (time >= times[high]) return { first: high, second: high, share: 0 };
  if (time <= times[0]) return { first: 0, second: 0, share: 0 };
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle;
    else high = middle;
  }
  const share = step ? 0 : (time - times[low]) / (times[high] - times[low]);
  return { first: low, second: high, share };
}

/** A row of numbers between two rows of a table, (rows, width). */
function blendedRow(table, width, first, second, share) {
  const result = new Float64Array(width);
  for (let i = 0; i < width; i++) {
    const start = table[first * width + i];
    result[i] = start + share * (table[second * width + i] - start);
  }
  return result;
}

const fromEnd = (value, period) => ((value % period) + period) % period;

/** The 3x3 of a UV animation, row by row: `UVAnimation.sample` of skinpy. */
function uvMatrix(animation, time) {
  const { scroll, rotate, pivot, times, keys, step } = animation;
  const last = times[times.length - 1];
  const within = last > 0 ? fromEnd(time, last) : 0;
  const place = placeOf(times, within, step);
  const key = (name, absent) => {
    const rows = keys[name];
    if (!rows) return [absent, absent];
    const blend = (i) => rows[place.first][i] + place.share * (rows[place.second][i] - rows[place.first][i]);
    return [blend(0), rows[0].length > 1 ? blend(1) : 0];
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

const PERIODS = { repeat: 1, mirror: 2 }; // after which a wrapped image is what it was

/** How an image lies on a surface at a time: a 3x3 row by row, and the wrap mode. `still` comes first. */
function texturing(still, animation, time) {
  const matrix = animation ? multiplied3(uvMatrix(animation, time), still) : [...still];
  const wrap = animation ? animation.wrap : "repeat";
  // Fewer digits before the point leave more behind it.
  if (PERIODS[wrap]) for (const place of [2, 5]) matrix[place] = fromEnd(matrix[place], PERIODS[wrap]);
  return { matrix, wrap };
}

/** How the floor's image lies on its disc when the model has walked for `time` seconds. */
function floorMatrix(floor, time) {
  const rows = floor.uv.map(([x, y, start], axis) => [x, y, start + floor.scroll[axis] * time]);
  return [...rows.flat(), 0, 0, 1];
}
