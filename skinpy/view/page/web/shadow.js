// The soft shadow on the floor below the model, as skinpy/render/scene/shadow.py draws it.

class Shadow {
  constructor(gl, { shaders, floor, size, up }) {
    this.gl = gl;
    this.look = floor.shadow;
    this.size = size || 1;
    this.up = up;
    this.maps = [0, 1].map(() => makeMap(gl, this.look.texels));
    this.blur = new Program(gl, shaders["present.vert"], shaders["shadow_blur.frag"]);
    this.program = new Program(gl, shaders["shadow.vert"], shaders["shadow.frag"]);
  }

  /** The square of the ground that the model may darken: its center, its axes, and half its side. */
  square({ boxes, floor }, { first, second }) {
    const box = (frame) => boxes.data.subarray(6 * frame, 6 * frame + 6);
    const [a, b] = [box(first), box(second)];
    const low = [0, 1, 2].map((axis) => Math.min(a[axis], b[axis]));
    const high = [3, 4, 5].map((axis) => Math.max(a[axis], b[axis]));
    const [right, near, up] = [unit(floor.right), unit(floor.near), this.up];
    const half = scale(subtract(high, low), 0.5);
    const wide = (axis) => dot(half, axis.map(Math.abs));
    const { step, margin, deviations } = this.look;
    const widest = Math.max(wide(right), wide(near)) + margin * deviations[1] * this.size;
    const middle = scale(add(low, high), 0.5);
    const center = add(middle, scale(up, dot(subtract(floor.center, middle), up)));
    return { center, right, near, reach: Math.ceil(widest / (step * this.size)) * step * this.size };
  }

  /** Draw the shadow map; `draw` poses and draws the model with the uniforms that it is given. */
  cast(clip, span, draw) {
    const { gl, look, size } = this;
    if (look.strength === 0) return;
    this.area = this.square(clip, span);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.maps[0].framebuffer);
    gl.viewport(0, 0, look.texels, look.texels);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    draw({
      view_projection: this.fromAbove(),
      ground_center: this.area.center,
      ground_up: this.up,
      fades: look.fades.map((fade) => fade * size),
    });
    gl.blendEquation(gl.FUNC_ADD);
    gl.disable(gl.BLEND);
    gl.bindVertexArray(null);
    const texels = (wide) => Math.max(((wide * size) / (2 * this.area.reach)) * look.texels, 0.3);
    const deviations = look.deviations.map(texels);
    this.blur.use();
    this.blur.set({ sharp: 0, deviations, reach: Math.ceil(2.5 * deviations[1]) });
    this.blurAlong([1, 0], this.maps[0], this.maps[1]);
    this.blurAlong([0, 1], this.maps[1], this.maps[0]);
  }

  /** Keep the lowest surface over each point of the ground. */
  beginCast() {
    const { gl } = this;
    gl.disable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendEquation(gl.MAX);
  }

  /** From scene space to the map, column by column: right and near go from -1 to 1, heights to 0. */
  fromAbove() {
    const { center, right, near, reach } = this.area;
    const rows = [scale(right, 1 / reach), scale(near, 1 / reach)];
    const columns = [0, 1, 2].flatMap((axis) => [rows[0][axis], rows[1][axis], 0, 0]);
    return [...columns, -dot(rows[0], center), -dot(rows[1], center), 0, 1];
  }

  blurAlong(direction, source, target) {
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, target.framebuffer);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, source.texture);
    this.blur.set({ direction });
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  /** Darken the floor, which is drawn already, by the map; from below there is no shadow. */
  draw(floor, view) {
    const { gl, program, area, look } = this;
    if (look.strength === 0 || dot(subtract(view.eye, area.center), this.up) <= 0) return;
    program.use();
    program.set(view);
    program.set({ center: area.center, strength: look.strength, map: 0 });
    program.set({ right: scale(area.right, area.reach), near: scale(area.near, area.reach) });
    program.set({ floor_center: floor.center, floor_radius: length(floor.right) });
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.maps[0].texture);
    gl.bindVertexArray(null);
    gl.enable(gl.DEPTH_TEST);
    beginBlending(gl);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.depthMask(true);
  }
}

function makeMap(gl, texels) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RG8, texels, texels);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
  for (const axis of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) {
    gl.texParameteri(gl.TEXTURE_2D, axis, gl.CLAMP_TO_EDGE);
  }
  const framebuffer = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
  return { texture, framebuffer };
}
