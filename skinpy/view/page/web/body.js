// The mesh on the GPU: posed by the baked palettes, or by the stored frames of a vertex animation.

const PALETTE_UNIT = 1;
const SHAPE_UNITS = [2, 3, 4];
const BOTH_SIDES = 0;
const BACK_FACES = 1;
const FRONT_FACES = 2;
const BLENDED = 2; // alpha mode of the shaders
const EDGE_COLOR = [0.02, 0.03, 0.05, 1];

class Body {
  constructor(gl, content) {
    this.gl = gl;
    this.content = content;
    const mesh = (this.mesh = content.mesh);
    this.baked = makeBakedTexture(gl, mesh.palettes, mesh.slots);
    this.images = mesh.images.map((image) => makeImage(gl, image));
    this.white = makeImage(gl, null);
    this.faces = makeBuffer(gl, mesh.faces.data, gl.ELEMENT_ARRAY_BUFFER);
    this.faceType = typeOf(gl, mesh.faces.data);
    this.inputs = vertexInputs(gl, mesh);
    this.morph = mesh.morph && makeMorphTables(gl, mesh.morph);
    this.variants = new Map(); // of the program, by the names of the shaders
    this.stored = new Map(); // tables of the frames of a vertex animation, by clip
    this.changes = mesh.draws.some((draw) => draw.looks); // whether clips show, hide or repaint faces
    this.edges = new Map(); // of the faces from a number on
  }

  /** The program that draws a clip with a fragment shader, and its inputs. */
  variant(clip, fragment) {
    const vertex = clip.stored ? "stored.vert" : "posed.vert";
    const name = `${vertex} ${fragment}`;
    if (!this.variants.has(name)) {
      const { shaders } = this.content;
      const program = new Program(this.gl, shaders[vertex], shaders[fragment]);
      this.variants.set(name, { program, array: makeVertexArray(this.gl, program, this.inputs, this.faces) });
    }
    return this.variants.get(name);
  }

  /** Pose the mesh of a clip at a span of its frames. */
  begin(clip, span, view, fragment = "lit.frag") {
    const { gl, mesh } = this;
    this.clip = clip;
    this.span = span;
    const { program, array } = (this.current = this.variant(clip, fragment));
    program.use();
    program.set(view);
    gl.activeTexture(gl.TEXTURE0 + PALETTE_UNIT);
    gl.bindTexture(gl.TEXTURE_2D, this.baked);
    program.set({ baked_texture: PALETTE_UNIT, baked_slots: mesh.slots });
    const posed = clip.stored ? { first: 0, blend: 0 } : span; // stored frames are not posed
    gl.vertexAttribI4ui(CONSTANT_INPUTS.in_clip, clip.row, clip.frames, posed.first, 0);
    gl.vertexAttrib1f(CONSTANT_INPUTS.in_blend, posed.blend);
    if (clip.stored) this.chooseFrames(clip, span, program);
    else if (this.morph) this.bindMorph(clip, span, program);
    gl.bindVertexArray(array);
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
  }

  bindMorph(clip, span, program) {
    const { targets, weights } = this.mesh.morph;
    const rows = [clip.row + span.first, clip.row + span.second];
    this.morph.weights.write(blendedRow(weights.data, targets, ...rows, span.blend));
    this.morph.deltas.bind(program, "morph_deltas", SHAPE_UNITS[0]);
    this.morph.normals?.bind(program, "morph_normals", SHAPE_UNITS[1]);
    this.morph.weights.bind(program, "morph_weights", SHAPE_UNITS[2]);
  }

  chooseFrames(clip, span, program) {
    if (!this.stored.has(clip)) {
      const { positions, normals } = clip.stored;
      this.stored.set(clip, [positions, normals].map((table) => new TexelTable(this.gl, table.data, 3)));
    }
    const [positions, normals] = this.stored.get(clip);
    positions.bind(program, "frame_positions", SHAPE_UNITS[0]);
    normals.bind(program, "frame_normals", SHAPE_UNITS[1]);
    const vertices = clip.stored.positions.shape[1];
    const texels = [span.first * vertices, span.second * vertices];
    program.set({ frame_texels: texels, frame_blend: span.blend });
  }

  /** The draws of this frame, with the looks that they have in it. */
  draws() {
    if (!this.changes) return this.mesh.draws;
    const { first, second, blend } = this.span;
    const frame = this.clip.stored ? 0 : blend < 1 ? first : second; // looks do not blend
    return this.mesh.draws.map((draw) => lookAt(draw, this.clip.row + frame)).filter(Boolean);
  }

  /** The faces of this frame, in as few parts as can be. */
  parts() {
    return this.changes ? this.draws() : [{ first: 0, count: this.mesh.faces.data.length / 3 }];
  }

  /** Draw all faces, without their materials. */
  drawAll() {
    for (const part of this.parts()) this.drawPart(part);
  }

  drawPart({ first, count }) {
    const start = 3 * first * this.mesh.faces.data.BYTES_PER_ELEMENT;
    this.gl.drawElements(this.gl.TRIANGLES, 3 * count, this.faceType, start);
  }

  drawOpaque(seconds) {
    for (const draw of this.draws()) if (draw.alpha !== BLENDED) this.drawFaces(draw, seconds, BOTH_SIDES);
  }

  /** Draw blended faces, the farthest first; back faces of a submesh before its front faces. */
  drawBlended(seconds, back) {
    const { gl } = this;
    const nearness = (draw) => dot(this.center(draw), back);
    const draws = this.draws().filter((draw) => draw.alpha === BLENDED);
    if (!draws.length) return;
    this.current.program.use();
    gl.bindVertexArray(this.current.array);
    beginBlending(gl);
    for (const draw of draws.sort((a, b) => nearness(a) - nearness(b))) {
      this.drawFaces(draw, seconds, BACK_FACES);
      this.drawFaces(draw, seconds, FRONT_FACES);
    }
    gl.depthMask(true);
  }

  drawFaces(draw, seconds, layer) {
    const { gl } = this;
    const { program } = this.current;
    const { matrix, wrap } = texturing(draw.uvTransform, this.content.uv[draw.uv], seconds, draw.wrap);
    const image = draw.image === null ? this.white : this.images[draw.image];
    useImage(gl, program, image, wrap);
    program.set({
      uv_transform: transposed3(matrix),
      base_color: draw.color,
      alpha_mode: draw.alpha,
      alpha_cutoff: draw.cutoff,
      double_sided: draw.doubleSided,
      layer,
    });
    this.drawPart(draw);
  }

  /** Draw the edges of all faces over the faces. */
  drawEdges() {
    const { gl } = this;
    const { program } = this.current;
    const edges = this.parts().map((part) => this.edgesOf(part));
    gl.bindVertexArray(this.current.array); // making a buffer has unbound it
    useImage(gl, program, this.white, REPEATED);
    program.set({ base_color: EDGE_COLOR, alpha_mode: 0, double_sided: true, layer: BOTH_SIDES });
    gl.depthFunc(gl.LEQUAL);
    for (const { buffer, count } of edges) {
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffer);
      gl.drawElements(gl.LINES, count, gl.UNSIGNED_INT, 0);
    }
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.faces);
    gl.depthFunc(gl.LESS);
  }

  edgesOf({ first, count }) {
    if (!this.edges.has(first)) {
      const faces = this.mesh.faces.data.subarray(3 * first, 3 * (first + count));
      this.edges.set(first, makeEdges(this.gl, faces));
    }
    return this.edges.get(first);
  }

  /** The mean position of a draw's vertices in this pose, without morph targets, which hardly move it. */
  center(draw) {
    const { clip, span, mesh } = this;
    if (clip.stored) return meanPosition(clip.stored.positions, span.first, draw.vertices);
    const start = (clip.row + span.first) * 12 * mesh.slots;
    const sum = [0, 0, 0];
    for (const [slot, ...moment] of draw.moments) {
      for (let i = 0; i < 12; i++) sum[i >> 2] += mesh.palettes.data[start + 12 * slot + i] * moment[i & 3];
    }
    return sum;
  }
}

/** A draw as it looks in a row of the baked frames; null: it is hidden. */
function lookAt(draw, row) {
  if (!draw.looks) return draw;
  const width = draw.looks.shape[1];
  const [shown, ...rest] = draw.looks.data.subarray(row * width, (row + 1) * width);
  if (!shown) return null;
  return { ...draw, color: rest.slice(0, 4), cutoff: rest[4], uvTransform: rest.slice(5) };
}

/** The mean position of a range of vertices in a stored frame. */
function meanPosition(positions, frame, [first, last]) {
  let sum = [0, 0, 0];
  const start = frame * positions.shape[1];
  for (let vertex = first; vertex < last; vertex++) {
    const offset = 3 * (start + vertex);
    sum = add(sum, positions.data.subarray(offset, offset + 3));
  }
  return scale(sum, 1 / (last - first));
}

/** Blend what is drawn next over the picture: its depth is tested, but not written. */
function beginBlending(gl) {
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA); // premultiplied
  gl.depthMask(false);
}

/** The attributes of skin.vert, each with its range of a buffer. */
function vertexInputs(gl, { streams, morph }) {
  const inputs = [];
  for (const [stream, { data, shape }] of Object.entries(streams)) {
    const [buffer, type] = [makeBuffer(gl, data), typeOf(gl, data)];
    const stride = shape[1] * data.BYTES_PER_ELEMENT;
    const integer = stream === "slots";
    const influences = integer || stream === "weights";
    const attributes = influences ? shape[1] / 4 : 1;
    for (let i = 0; i < attributes; i++) {
      const name = influences ? `in_${stream}${i}` : `in_${stream}`;
      const offset = 4 * i * data.BYTES_PER_ELEMENT;
      inputs.push({ name, buffer, size: Math.min(shape[1], 4), type, integer, stride, offset });
    }
  }
  if (morph) {
    const [buffer, type] = [makeBuffer(gl, morph.runs.data), gl.UNSIGNED_INT];
    inputs.push({ name: "in_morph", buffer, size: 2, type, integer: true, stride: 8, offset: 0 });
  }
  return inputs;
}

function makeMorphTables(gl, morph) {
  return {
    deltas: new TexelTable(gl, morph.deltas.data, 4),
    normals: morph.normals && new TexelTable(gl, morph.normals.data, 3),
    weights: new TexelTable(gl, new Float32Array(morph.targets), 1),
  };
}

/** Each edge of the faces once, as lines. */
function makeEdges(gl, faces) {
  const edges = new Set();
  for (let face = 0; face < faces.length; face += 3) {
    for (let side = 0; side < 3; side++) {
      const [a, b] = [faces[face + side], faces[face + ((side + 1) % 3)]];
      edges.add(Math.min(a, b) * 2 ** 26 + Math.max(a, b)); // numbers are exact up to 2 ** 53
    }
  }
  const lines = new Uint32Array(2 * edges.size);
  let next = 0;
  for (const edge of edges) {
    lines[next++] = Math.floor(edge / 2 ** 26);
    lines[next++] = edge % 2 ** 26;
  }
  return { buffer: makeBuffer(gl, lines, gl.ELEMENT_ARRAY_BUFFER), count: lines.length };
}
