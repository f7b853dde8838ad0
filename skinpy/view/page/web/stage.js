// Draws into the canvas: the mesh or the skeleton, and the floor.

const WHITE = { base_color: [1, 1, 1, 1], alpha_cutoff: 0.5, layer: 0 };
const FLOAT_BYTES = 4;

class Stage {
  constructor(canvas, content) {
    this.canvas = canvas;
    this.content = content;
    const options = { alpha: false, antialias: false, depth: false };
    this.gl = canvas.getContext("webgl2", options);
    if (!this.gl) {
      throw new PageError("The model cannot be drawn: this browser has no WebGL 2, or WebGL is turned off.");
    }
    this.restore();
  }

  /** Send everything to the GPU: at the start, and again after a lost context. */
  restore() {
    const { gl, content } = this;
    const { shaders } = content;
    this.target = null;
    this.present = new Program(gl, shaders["present.vert"], shaders["present.frag"]);
    this.floor = makeFloor(gl, content);
    this.shadow = new Shadow(gl, content);
    this.body = content.mesh && new Body(gl, content);
    this.skeleton = content.mesh ? null : new SkeletonBody(gl, content);
  }

  resize(width, height) {
    if (this.target && this.target.size[0] === width && this.target.size[1] === height) return;
    this.target?.free();
    this.canvas.width = width;
    this.canvas.height = height;
    this.target = new Target(this.gl, width, height);
  }

  /** Draw a frame: a camera of Orbit, a clip, the span of its time, and the seconds since the start. */
  draw({ camera, clip, span, seconds, show, background, joints }) {
    const { gl, target } = this;
    const view = this.viewUniforms(camera);
    if (this.skeleton) this.skeleton.write(joints);
    if (show.floor && clip.floor) this.castShadow(clip, span);
    target.begin(background);
    // Faces are moved back a little, so that they do not hide their own edges.
    gl.polygonOffset(1, 1);
    if (show.edges) gl.enable(gl.POLYGON_OFFSET_FILL);
    if (this.body) {
      this.body.begin(clip, span, view);
      this.body.drawOpaque(seconds);
      if (show.edges) this.body.drawEdges();
    } else {
      this.skeleton.begin(view);
      this.skeleton.draw();
    }
    gl.disable(gl.POLYGON_OFFSET_FILL);
    if (show.floor && clip.floor) {
      this.drawFloor(clip.floor, seconds, view);
      this.shadow.draw(clip.floor, view);
    }
    this.body?.drawBlended(seconds, camera.axes[2]);
    target.finish(this.present);
  }

  viewUniforms(camera) {
    const { up, lights } = this.content;
    const components = camera.axes.map((axis, i) => scale(axis, lights.from[i]));
    const light = unit(components.reduce(add));
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

  castShadow(clip, span) {
    this.shadow.cast(clip, span, (uniforms) => {
      if (this.body) this.body.begin(clip, span, uniforms, "shadow_cast.frag");
      else this.skeleton.begin(uniforms, "shadow_cast.frag");
      this.shadow.beginCast();
      if (this.body) this.body.drawAll();
      else this.skeleton.draw();
    });
  }
}

function makeFloor(gl, { floor, shaders }) {
  const program = new Program(gl, shaders["floor.vert"], shaders["lit.frag"]);
  const inputs = [
    { name: "in_place", size: 2, offset: 0 },
    { name: "in_alpha", size: 1, offset: 2 * FLOAT_BYTES },
  ];
  const buffer = makeBuffer(gl, floor.disc.data);
  return {
    program,
    array: makeVertexArray(gl, program, interleaved(gl, buffer, inputs, 3)),
    image: makeImage(gl, floor.image, 1),
    count: floor.disc.shape[0],
  };
}

/** The skeleton of a model without a mesh, on the GPU. */
class SkeletonBody {
  constructor(gl, content) {
    this.gl = gl;
    this.content = content;
    this.buffer = makeBuffer(gl, new Float32Array(CORNER_FLOATS));
    this.white = makeImage(gl, null);
    this.variants = new Map(); // of the program, by the fragment shader
  }

  variant(fragment) {
    if (!this.variants.has(fragment)) {
      const { gl, content, buffer } = this;
      const program = new Program(gl, content.shaders["plain.vert"], content.shaders[fragment]);
      const names = ["in_position", "in_normal", "in_color"];
      const inputs = names.map((name, i) => ({ name, size: 3, offset: 3 * i * FLOAT_BYTES }));
      const array = makeVertexArray(gl, program, interleaved(gl, buffer, inputs, CORNER_FLOATS));
      this.variants.set(fragment, { program, array });
    }
    return this.variants.get(fragment);
  }

  /** Send the joints of a frame to the GPU. */
  write(joints) {
    const { gl, content } = this;
    const { parents, style } = content.joints;
    const corners = skeletonCorners(joints, parents, content.size, style);
    this.count = corners.length / CORNER_FLOATS;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, corners, gl.DYNAMIC_DRAW);
  }

  begin(uniforms, fragment = "lit.frag") {
    const { gl } = this;
    const { program, array } = this.variant(fragment);
    program.use();
    program.set(uniforms);
    program.set({ ...WHITE, alpha_mode: 0, double_sided: true });
    useImage(gl, program, this.white, REPEATED);
    gl.bindVertexArray(array);
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
  }

  draw() {
    this.gl.drawArrays(this.gl.TRIANGLES, 0, this.count);
  }
}

const interleaved = (gl, buffer, inputs, floats) =>
  inputs.map((input) => ({ ...input, buffer, type: gl.FLOAT, integer: false, stride: floats * FLOAT_BYTES }));
