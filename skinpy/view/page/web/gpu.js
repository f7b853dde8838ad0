// WebGL 2: programs, buffers, textures and the framebuffers of a picture.

const ANISOTROPY = 8;
const SAMPLES = 4;
// Inputs with one value for all vertices have locations after those that read a buffer.
const CONSTANT_INPUTS = { in_clip: 14, in_blend: 15 };

class Program {
  constructor(gl, vertex, fragment) {
    this.gl = gl;
    this.handle = gl.createProgram();
    const shaders = [
      [gl.VERTEX_SHADER, vertex],
      [gl.FRAGMENT_SHADER, fragment],
    ].map(([kind, text]) => this.attach(kind, text));
    for (const [name, location] of Object.entries(CONSTANT_INPUTS)) {
      gl.bindAttribLocation(this.handle, location, name);
    }
    gl.linkProgram(this.handle);
    if (!gl.getProgramParameter(this.handle, gl.LINK_STATUS) && !gl.isContextLost()) {
      const logs = shaders.map((shader) => gl.getShaderInfoLog(shader)).filter(Boolean);
      const log = [...logs, gl.getProgramInfoLog(this.handle)].join(" ").trim();
      throw new PageError(`The graphics driver refuses a shader: ${log}`);
    }
    this.uniforms = this.findUniforms();
  }

  attach(kind, text) {
    const shader = this.gl.createShader(kind);
    this.gl.shaderSource(shader, text);
    this.gl.compileShader(shader);
    this.gl.attachShader(this.handle, shader);
    return shader;
  }

  findUniforms() {
    const { gl, handle } = this;
    const uniforms = new Map();
    const count = gl.getProgramParameter(handle, gl.ACTIVE_UNIFORMS) ?? 0;
    for (let i = 0; i < count; i++) {
      const { name, type } = gl.getActiveUniform(handle, i);
      uniforms.set(name, { type, location: gl.getUniformLocation(handle, name) });
    }
    return uniforms;
  }

  use() {
    this.gl.useProgram(this.handle);
  }

  /** Set uniforms by name; names that the program does not use are skipped. */
  set(values) {
    for (const [name, value] of Object.entries(values)) {
      const uniform = this.uniforms.get(name);
      if (uniform) this.setOne(uniform, value);
    }
  }

  setOne({ type, location }, value) {
    const { gl } = this;
    if (type === gl.FLOAT) gl.uniform1f(location, value);
    else if (type === gl.FLOAT_VEC2) gl.uniform2fv(location, value);
    else if (type === gl.FLOAT_VEC3) gl.uniform3fv(location, value);
    else if (type === gl.FLOAT_VEC4) gl.uniform4fv(location, value);
    else if (type === gl.FLOAT_MAT3) gl.uniformMatrix3fv(location, false, value);
    else if (type === gl.FLOAT_MAT4) gl.uniformMatrix4fv(location, false, value);
    else if (type === gl.INT_VEC2) gl.uniform2iv(location, value);
    else if (type === gl.UNSIGNED_INT) gl.uniform1ui(location, value);
    else gl.uniform1i(location, value); // integers, samplers, booleans
  }
}

function makeBuffer(gl, data, target = gl.ARRAY_BUFFER) {
  const buffer = gl.createBuffer();
  gl.bindVertexArray(null); // a bound one would take an element buffer for its own
  gl.bindBuffer(target, buffer);
  gl.bufferData(target, data, gl.STATIC_DRAW);
  return buffer;
}

/** The inputs of a vertex shader: each is { name, buffer, size, type, integer, stride, offset }. */
function makeVertexArray(gl, program, inputs, faces = null) {
  const array = gl.createVertexArray();
  gl.bindVertexArray(array);
  for (const { name, buffer, size, type, integer, stride, offset } of inputs) {
    const location = gl.getAttribLocation(program.handle, name);
    if (location < 0) continue;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(location);
    if (integer) gl.vertexAttribIPointer(location, size, type, stride, offset);
    else gl.vertexAttribPointer(location, size, type, false, stride, offset);
  }
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, faces);
  gl.bindVertexArray(null);
  return array;
}

/** WebGL's type for the numbers of an array. */
function typeOf(gl, data) {
  if (data instanceof Float32Array) return gl.FLOAT;
  return { 1: gl.UNSIGNED_BYTE, 2: gl.UNSIGNED_SHORT, 4: gl.UNSIGNED_INT }[data.BYTES_PER_ELEMENT];
}

/** A mipmapped texture of an sRGB image: an ImageBitmap, { data, shape } with RGBA, or null for white. */
function makeImage(gl, image, anisotropy = ANISOTROPY) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  gl.pixelStorei(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.NONE);
  const [format, bytes] = [gl.SRGB8_ALPHA8, gl.UNSIGNED_BYTE];
  if (image === null) {
    gl.texImage2D(gl.TEXTURE_2D, 0, format, 1, 1, 0, gl.RGBA, bytes, new Uint8Array([255, 255, 255, 255]));
  } else if (image.shape) {
    const [height, width] = image.shape;
    gl.texImage2D(gl.TEXTURE_2D, 0, format, width, height, 0, gl.RGBA, bytes, image.data);
  } else {
    gl.texImage2D(gl.TEXTURE_2D, 0, format, gl.RGBA, bytes, image);
  }
  gl.generateMipmap(gl.TEXTURE_2D);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
  const finer = gl.getExtension("EXT_texture_filter_anisotropic");
  if (finer) {
    const most = gl.getParameter(finer.MAX_TEXTURE_MAX_ANISOTROPY_EXT);
    gl.texParameterf(gl.TEXTURE_2D, finer.TEXTURE_MAX_ANISOTROPY_EXT, Math.min(anisotropy, most));
  }
  return texture;
}

/** Bind an image, and make it and a program of lit.frag treat u and v beyond the edge as `wrap` says. */
function useImage(gl, program, texture, wrap) {
  gl.activeTexture(gl.TEXTURE0);
  gl.bindTexture(gl.TEXTURE_2D, texture);
  const modes = wrap.map((word) => (word === "repeat" ? gl.REPEAT : gl.CLAMP_TO_EDGE)); // the shader mirrors
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, modes[0]);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, modes[1]);
  program.set({ base_texture: 0, mirrored_u: wrap[0] === "mirror", mirrored_v: wrap[1] === "mirror" });
}

function nearest(gl, target) {
  gl.texParameteri(target, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(target, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
}

/** The palettes of all frames, (frames, 12 * slots), as palette_baked.glsl reads them. */
function makeBakedTexture(gl, palettes, slots) {
  const frames = palettes.shape[0];
  const width = 3 * slots; // texels of a frame: the rows of each slot's 3x4 matrix
  const side = gl.getParameter(gl.MAX_TEXTURE_SIZE);
  const columns = Math.ceil(frames / side);
  if (columns * width > side) {
    throw new PageError(
      `This browser allows textures of at most ${side} texels per side, but the clips have ` +
        `${frames} frames of ${slots} palette slots. Make a page with fewer clips or at a lower fps.`,
    );
  }
  const height = Math.ceil(frames / columns);
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  nearest(gl, gl.TEXTURE_2D);
  gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA32F, columns * width, height);
  for (let column = 0; column < columns; column++) {
    const start = column * height;
    const rows = Math.min(height, frames - start);
    const data = palettes.data.subarray(4 * width * start, 4 * width * (start + rows));
    gl.texSubImage2D(gl.TEXTURE_2D, 0, column * width, 0, width, rows, gl.RGBA, gl.FLOAT, data);
  }
  return texture;
}

/** A long list of texels of 1, 3 or 4 numbers, as texel_table.glsl reads it. */
class TexelTable {
  constructor(gl, data, components) {
    this.gl = gl;
    const kinds = { 1: [gl.R32F, gl.RED], 3: [gl.RGB32F, gl.RGB], 4: [gl.RGBA32F, gl.RGBA] };
    const [kind, format] = kinds[components];
    const side = gl.getParameter(gl.MAX_TEXTURE_SIZE);
    const count = Math.max(data.length / components, 1);
    const width = Math.min(count, side);
    const rows = Math.ceil(count / width);
    const layers = Math.ceil(rows / side);
    if (layers > gl.getParameter(gl.MAX_ARRAY_TEXTURE_LAYERS)) {
      throw new PageError(`The frames have ${count} vertices in all, more than a texture can hold.`);
    }
    this.size = [width, Math.ceil(rows / layers), layers];
    this.padded = new Float32Array(this.size.reduce((a, b) => a * b) * components);
    this.format = format;
    this.texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, this.texture);
    nearest(gl, gl.TEXTURE_2D_ARRAY);
    gl.texStorage3D(gl.TEXTURE_2D_ARRAY, 1, kind, ...this.size);
    this.write(data);
  }

  write(data) {
    const { gl } = this;
    this.padded.set(data);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, this.texture);
    gl.texSubImage3D(gl.TEXTURE_2D_ARRAY, 0, 0, 0, 0, ...this.size, this.format, gl.FLOAT, this.padded);
  }

  bind(program, name, textureUnit) {
    this.gl.activeTexture(this.gl.TEXTURE0 + textureUnit);
    this.gl.bindTexture(this.gl.TEXTURE_2D_ARRAY, this.texture);
    program.set({ [name]: textureUnit });
  }
}

/** Framebuffers of one size. Samples are averaged in linear light, as on the desktop. */
class Target {
  constructor(gl, width, height) {
    this.gl = gl;
    this.size = [width, height];
    const most = gl.getInternalformatParameter(gl.RENDERBUFFER, gl.SRGB8_ALPHA8, gl.SAMPLES)?.[0] ?? 0;
    const samples = Math.min(SAMPLES, most);
    this.buffers = [gl.SRGB8_ALPHA8, gl.DEPTH_COMPONENT24].map((format) => {
      const buffer = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
      gl.renderbufferStorageMultisample(gl.RENDERBUFFER, samples, format, width, height);
      return buffer;
    });
    this.drawn = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.drawn);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, this.buffers[0]);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, this.buffers[1]);
    this.texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    nearest(gl, gl.TEXTURE_2D);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.SRGB8_ALPHA8, width, height);
    this.resolved = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.resolved);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.texture, 0);
  }

  /** Bind and clear; `background` is red, green and blue, sRGB from 0 to 1. */
  begin(background) {
    const { gl } = this;
    const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.drawn);
    gl.viewport(0, 0, ...this.size);
    gl.depthMask(true);
    gl.clearColor(...background.map(linear), 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  }

  /** Average the samples and show the picture. */
  finish(program) {
    const { gl } = this;
    const [width, height] = this.size;
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.drawn);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, this.resolved);
    gl.blitFramebuffer(0, 0, width, height, 0, 0, width, height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    program.use();
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    program.set({ resolved: 0 });
    gl.bindVertexArray(null);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  free() {
    const { gl } = this;
    for (const buffer of this.buffers) gl.deleteRenderbuffer(buffer);
    for (const framebuffer of [this.drawn, this.resolved]) gl.deleteFramebuffer(framebuffer);
    gl.deleteTexture(this.texture);
  }
}
