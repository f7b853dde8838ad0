#version 330 core
// One component of a letter, premultiplied: its ink, or the ink with a rim that keeps it readable.

in vec2 v_texel;

uniform sampler2D glyphs; // coverage of a texel: by ink, and by ink with its rim
uniform int component; // 0 the ink, 1 the ink with its rim
uniform vec3 color; // linear RGB

out vec4 fragment;

void main() {
    float alpha = texelFetch(glyphs, ivec2(v_texel), 0)[component];
    fragment = vec4(color * alpha, alpha);
}
