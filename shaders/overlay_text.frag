#version 330 core
// One part of a letter, premultiplied: its ink, or the ground under it and around, which keeps it readable.

in vec2 v_texel;

uniform sampler2D glyphs; // how much of a texel is ink, and how much is ground
uniform int part; // 0 the ink, 1 the ground
uniform vec3 color; // linear RGB

out vec4 fragment;

void main() {
    float alpha = texelFetch(glyphs, ivec2(v_texel), 0)[part];
    fragment = vec4(color * alpha, alpha);
}
