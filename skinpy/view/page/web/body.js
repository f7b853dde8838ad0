// The mesh on the GPU: posed by the baked palettes, or by the stored frames of a vertex animation.

const PALETTE_UNIT = 1;
const SHAPE_UNITS = [2, 3, 4];
const BOTH_SIDES = 0;
const BACK_FACES = 1;
const FRONT_FACES = 2;
const BLENDED = 2; // alpha mode
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
    this.forms = new Map(); // of the vertex shader, by its name
    this.stored = new Map(); // tables of the frames of a vertex animation, by clip
  }

  /** The program that draws a clip with a fragment shader, and its inputs. */
  form(clip, fragment) {
    const vertex = clip.stored ? "stored.vert" : "posed.vert";
    const name = `${vertex} ${fragment}`;
    if (!this.forms.has(name)) {
      const { shaders } = this.content;
      const program = new Program(this.gl, shaders[vertex], shaders[fragment]);
      this.forms.set(name, { program, array: makeVertexArray(this.gl, program, this.inputs, this.faces) });
    }
    return this.forms.get(name);
  }

  /** Pose the mesh: `place` is where the clip's time stands among its frames. */
  begin(clip, place, view, fragment = "lit.frag") {
    const { gl, mesh } = this;
    this.clip = clip;
    this.place = place;
    const { program, array } = (this.current = this.form(clip, fragment));
    program.use();
    program.set(view);
    gl.activeTexture(gl.TEXTURE0 + PALETTE_UNIT);
    gl.bindTexture(gl.TEXTURE_2D, this.baked);
    program.set({ baked_texture: PALETTE_UNIT, baked_slots: mesh.slots });
    const posed = clip.stored ? { first: 0, share: 0 } : place; // stored frames have the rest pose alone
    gl.vertexAttribI4ui(CONSTANT_INPUTS.in_clip, clip.row, clip.frames, posed.first, 0);
    gl.vertexAttrib1f(CONSTANT_INPUTS.in_blend, posed.share);
    if (clip.stored) this.chooseFrames(clip, place, program);
    else if (this.morph) this.bindMorph(clip, place, program);
    gl.bindVertexArray(array);
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
  }

  bindMorph(clip, place, program) {
    const { targets, weights } = this.mesh.morph;
    const rows = [clip.row + place.first, clip.row + place.second];
    this.morph.weights.write(blendedRow(weights.data, targets, ...rows, place.share));
    this.morph.deltas.bind(program, "morph_deltas", SHAPE_UNITS[0]);
    this.morph.normals?.bind(program, "morph_normals", SHAPE_UNITS[1]);
    this.morph.weights.bind(program, "morph_weights", SHAPE_UNITS[2]);
  }

  chooseFrames(clip, place, program) {
    if (!this.stored.has(clip)) {
      const { positions, normals } = clip.stored;
      this.stored.set(clip, [positions, normals].map((table) => new TexelTable(this.gl, table.data, 3)));
    }
    const [positions, normals] = this.stored.get(clip);
    positions.bind(program, "frame_positions", SHAPE_UNITS[0]);
    normals.bind(program, "frame_normals", SHAPE_UNITS[1]);
    const vertices = clip.stored.positions.shape[1];
    const texels = [place.first * vertices, place.second * vertices];
    program.set({ frame_texels: texels, frame_blend: place.share });
  }

  /** All faces at once, whatever they look like. */
  drawAll() {
    this.gl.drawElements(this.gl.TRIANGLES, this.mesh.faces.data.length, this.faceType, 0);
  }

  drawOpaque(seconds) {
    for (const draw of this.mesh.draws) if (draw.alpha !== BLENDED) this.drawFaces(draw, seconds, BOTH_SIDES);
  }

  /** The farthest first; within a double-sided one, what faces away lies behind what faces us. */
  drawBlended(seconds, back) {
    const { gl } = this;
    const nearness = (draw) => dot(this.center(draw), back);
    const draws = this.mesh.draws.filter((draw) => draw.alpha === BLENDED);
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
    const { matrix, wrap } = texturing(draw.uvTransform, this.content.uv[draw.uv], seconds);
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
    const first = 3 * draw.first * this.mesh.faces.data.BYTES_PER_ELEMENT;
    gl.drawElements(gl.TRIANGLES, 3 * draw.count, this.faceType, first);
  }

  /** The edges of all faces, over the faces that were drawn. */
  drawEdges() {
    const { gl } = this;
    const { program } = this.current;
    this.edges ??= makeEdges(gl, this.mesh.faces.data);
    gl.bindVertexArray(this.current.array); // which making a buffer lets go
    useImage(gl, program, this.white, "repeat");
    program.set({ base_color: EDGE_COLOR, alpha_mode: 0, double_sided: true, layer: BOTH_SIDES });
    gl.depthFunc(gl.LEQUAL);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.edges.buffer);
    gl.drawElements(gl.LINES, this.edges.count, gl.UNSIGNED_INT, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.faces);
    gl.depthFunc(gl.LESS);
  }

  /** The center of a draw's vertices in this pose; morph targets hardly move it. */
  center(draw) {
    const { clip, place, mesh } = this;
    if (clip.stored) return middleOf(clip.stored.positions, place.first, draw.vertices);
    const start = (clip.row + place.first) * 12 * mesh.slots;
    const sum = [0, 0, 0];
    for (const [slot, ...moment] of draw.moments) {
      for (let i = 0; i < 12; i++) sum[i >> 2] += mesh.palettes.data[start + 12 * slot + i] * moment[i & 3];
    }
    return sum;
  }
}

function middleOf(positions, frame, [first, last]) {
  let sum = [0, 0, 0];
  const start = frame * positions.shape[1];
  for (let vertex = first; vertex < last; vertex++) {
    const place = 3 * (start + vertex);
    sum = add(sum, positions.data.subarray(place, place + 3));
  }
  return scale(sum, 1 / (last - first));
}

/** Lay what follows over what is there, tested against its depth but adding none of its own. */
function beginBlending(gl) {
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA); // premultiplied
  gl.depthMask(false);
}

/** The attributes of skin.vert, each with its part of a buffer. */
function vertexInputs(gl, { streams, morph }) {
  const inputs = [];
  for (const [stream, { data, shape }] of Object.entries(streams)) {
    const [buffer, type] = [makeBuffer(gl, data), typeOf(gl, data)];
    const stride = shape[1] * data.BYTES_PER_ELEMENT;
    const whole = stream === "slots";
    const influences = whole || stream === "weights";
    const parts = influences ? shape[1] / 4 : 1;
    for (let part = 0; part < parts; part++) {
      const name = influences ? `in_${stream}${part}` : `in_${stream}`;
      const offset = 4 * part * data.BYTES_PER_ELEMENT;
      inputs.push({ name, buffer, size: Math.min(shape[1], 4), type, whole, stride, offset });
    }
  }
  if (morph) {
    const [buffer, type] = [makeBuffer(gl, morph.runs.data), gl.UNSIGNED_INT];
    inputs.push({ name: "in_morph", buffer, size: 2, type, whole: true, stride: 8, offset: 0 });
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
      edges.add(Math.min(a, b) * 2 ** 26 + Math.max(a, b)); // whole to 2 ** 53
    }
  }
  const lines = new Uint32Array(2 * edges.size);
  let place = 0;
  for (const edge of edges) {
    lines[place++] = Math.floor(edge / 2 ** 26);
    lines[place++] = edge % 2 ** 26;
  }
  return { buffer: makeBuffer(gl, lines, gl.ELEMENT_ARRAY_BUFFER), count: lines.length };
}
