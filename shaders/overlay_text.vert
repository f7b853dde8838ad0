#version 330 core
// Letters: one instance each, a texel for a pixel.

in vec4 in_place; // left, top, width, height in pixels of the picture, from its top left
in vec2 in_texel; // left and top in the table of glyphs

uniform vec2 viewport; // pixels

out vec2 v_texel;

void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * in_place.zw;
    v_texel = in_texel + corner;
    vec2 place = (in_place.xy + corner) / viewport * 2.0 - 1.0;
    gl_Position = vec4(place.x, -place.y, 0.0, 1.0);
}
