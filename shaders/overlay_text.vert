#version 330 core
// Letters: one instance each, one texel per pixel.

in vec4 in_box; // left, top, width, height in pixels from the top left of the picture
in vec2 in_texel; // left and top in the table of glyphs

uniform vec2 viewport; // pixels

out vec2 v_texel;

void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * in_box.zw;
    v_texel = in_texel + corner;
    vec2 device = (in_box.xy + corner) / viewport * 2.0 - 1.0;
    gl_Position = vec4(device.x, -device.y, 0.0, 1.0);
}
