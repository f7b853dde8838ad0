// Unpacks the numbers and images of the page, which skinpy/view/page/arrays.py has packed.

/** An error with a sentence for the reader of the page. */
class PageError extends Error {}

const ARRAYS = { f4: Float32Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array };
const WORDS = { f4: Uint32Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array };

function bytesOf(base64) {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Undo the packing "tracks": planes of bytes of the differences from row to row, column by column. */
function untracked(bytes, Words, rows) {
  const words = new Words(bytes.length / Words.BYTES_PER_ELEMENT);
  const columns = words.length / rows;
  for (let column = 0, index = 0; column < columns; column++) {
    let sum = 0;
    for (let row = 0; row < rows; row++, index++) {
      let word = 0;
      for (let byte = 0; byte < Words.BYTES_PER_ELEMENT; byte++) {
        word |= bytes[byte * words.length + index] << (8 * byte);
      }
      sum = (sum + word) | 0;
      words[row * columns + column] = sum; // the array keeps the lowest bits
    }
  }
  return words;
}

async function unpackedArray({ type, shape, packing, data }) {
  const bytes = await inflated(bytesOf(data));
  const buffer = packing === "tracks" ? untracked(bytes, WORDS[type], shape[0] || 1).buffer : bytes.buffer;
  return { data: new ARRAYS[type](buffer), shape };
}

/** An image without color management, with straight alpha; null if the browser cannot read it. */
async function unpackedImage({ type, data }) {
  const blob = new Blob([bytesOf(data)], { type });
  const options = { premultiplyAlpha: "none", colorSpaceConversion: "none" };
  try {
    return await createImageBitmap(blob, options);
  } catch {
    return null;
  }
}

/** The content of the page with all arrays and images in it unpacked. */
async function unpacked(value) {
  if (value === null || typeof value !== "object") return value;
  if (value.packing) return unpackedArray(value);
  if (value.data && value.type) return unpackedImage(value);
  if (Array.isArray(value)) {
    return typeof value[0] === "object" ? Promise.all(value.map(unpacked)) : value;
  }
  const entries = Object.entries(value).map(async ([name, member]) => [name, await unpacked(member)]);
  return Object.fromEntries(await Promise.all(entries));
}
