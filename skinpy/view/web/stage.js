// What is drawn into the canvas: the mesh or the skeleton, and the floor.

const WHITE = { base_color: [1, 1, 1, 1], alpha_cutoff: 0.5, layer: 0 };
const FLOATS = 4; // bytes of one

class Stage {
  constructor(canvas, content) {
    this.canvas = canvas;
    this.content = content;
    const options = { alpha: false, antialias: false, depth: false };
    this.gl = canvas.getContext("webgl2", options);
    if (!this.gl) {
      throw new PageError("This browser has no WebGL 2, or it is turned off: the model cannot be drawn.");
    }
    this.restore();
  }

  /** Send everything to the GPU: at first, and again when the browser has taken it away. */
  restore() {
    const { gl, content } = this;
    const { shaders } = content;
    this.target = null;
    this.present = new Program(gl, shaders["present.vert"], shaders["present.frag"]);
    this.floor = makeFloor(gl, content);
    this.body = content.mesh && new Body(gl, content);
    this.bare = content.mesh ? null : makeSkeleton(gl, content);
  }

  resize(width, height) {
    if (this.target && this.target.size[0] === width && this.target.size[1] === height) return;
    this.target?.free();
    this.canvas.width = width;
    this.canvas.height = height;
    this.target = new Target(this.gl, width, height);
  }

  /** Draw a frame: a camera of Orbit, a clip, where its time stands, and seconds that go on for ever. */
  draw({ camera, clip, place, seconds, show, background, joints }) {
    const { gl, target } = this;
    const view = this.viewUniforms(camera);
    target.begin(background);
    // What is seen as lines lies a little before the faces.
    gl.polygonOffset(1, 1);
    if (show.edges) gl.enable(gl.POLYGON_OFFSET_FILL);
    if (this.body) {
      this.body.begin(clip, place, view);
      this.body.drawOpaque(seconds);
      if (show.edges) this.body.drawEdges();
    } else {
      this.drawSkeleton(joints, view);
    }
    gl.disable(gl.POLYGON_OFFSET_FILL);
    if (show.floor && clip.floor) this.drawFloor(clip.floor, seconds, view);
    this.body?.drawBlended(seconds, camera.axes[2]);
    target.finish(this.present);
  }

  viewUniforms(camera) {
    const { up, lights } = this.content;
    const parts = camera.axes.map((axis, i) => scale(axis, lights.from[i]));
    const light = unit(parts.reduce(add));
    return {
      view_projection: camera.matrix,
      eye: camera.eye,
      scene_up: up,
      light_direction: light,
      light_color: lights.light_color,
      sky_color: lights.sky_color,
      ground_color: lights.ground_color,
    };
  }

  drawFloor(floor, seconds, view) {
    const { gl } = this;
    const { program, array, image, count } = this.floor;
    program.use();
    program.set(view);
    program.set({ ...WHITE, alpha_mode: BLENDED, double_sided: false });
    program.set({ center: floor.center, right: floor.right, near: floor.near });
    const { matrix, wrap } = texturing(floorMatrix(floor, seconds), this.content.floor.uv, seconds);
    program.set({ uv_transform: transposed3(matrix) });
    useImage(gl, program, image, wrap);
    gl.bindVertexArray(array);
    gl.enable(gl.DEPTH_TEST);
    beginBlending(gl);
    gl.drawArrays(gl.TRIANGLES, 0, count);
    gl.depthMask(true);
  }

  drawSkeleton(joints, view) {
    const { gl } = this;
    const { program, array, buffer, white } = this.bare;
    const { parents, style } = this.content.joints;
    const corners = skeletonCorners(joints, parents, this.content.size, style);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, corners, gl.DYNAMIC_DRAW);
    program.use();
    program.set(view);
    program.set({ ...WHITE, alpha_mode: 0, double_sided: true });
    useImage(gl, program, white, "repeat");
    gl.bindVertexArray(array);
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    gl.drawArrays(gl.TRIANGLES, 0, corners.length / CORNER_FLOATS);
  }
}

function makeFloor(gl, { floor, shaders }) {
  const program = new Program(gl, shaders["floor.vert"], shaders["lit.frag"]);
  const inputs = [
    { name: "in_place", size: 2, offset: 0 },
    { name: "in_alpha", size: 1, offset: 2 * FLOATS },
  ];
  const buffer = makeBuffer(gl, floor.disc.data);
  return {
    program,
    array: makeVertexArray(gl, program, interleaved(gl, buffer, inputs, 3)),
    image: makeImage(gl, floor.image, 1),
    count: floor.disc.shape[0],
  };
}

function makeSkeleton(gl, { shaders }) {
  const program = new Program(gl, shaders["plain.vert"], shaders["lit.frag"]);
  const names = ["in_position", "in_normal", "in_color"];
  const inputs = names.map((name, i) => ({ name, size: 3, offset: 3 * i * FLOATS }));
  const buffer = makeBuffer(gl, new Float32Array(CORNER_FLOATS));
  const array = makeVertexArray(gl, program, interleaved(gl, buffer, inputs, CORNER_FLOATS));
  return { program, array, buffer, white: makeImage(gl, null) };
}

const interleaved = (gl, buffer, inputs, floats) =>
  inputs.map((input) => ({ ...input, buffer, type: gl.FLOAT, whole: false, stride: floats * FLOATS }));
