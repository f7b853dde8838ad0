// Vectors are arrays of 3 numbers. 4x4 matrices are column by column, as WebGL takes them.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const length = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => scale(a, 1 / (length(a) || 1));
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** The product a * b of two 4x4 matrices. */
function multiplied(a, b) {
  const result = new Float64Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      for (let k = 0; k < 4; k++) result[4 * column + row] += a[4 * k + row] * b[4 * column + k];
    }
  }
  return result;
}

/** The product a * b of two 3x3 matrices, row by row. */
function multiplied3(a, b) {
  const result = [];
  for (let row = 0; row < 3; row++) {
    for (let column = 0; column < 3; column++) {
      result.push(a[3 * row] * b[column] + a[3 * row + 1] * b[3 + column] + a[3 * row + 2] * b[6 + column]);
    }
  }
  return result;
}

/** A 3x3 matrix column by column, from one row by row. */
const transposed3 = (m) => [m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]];
