#version 330 core
// The face that is seen, and its side, as a number of four bytes, the lowest first: 0 is no face, 2 n + 2 the
// front of face n, and 2 n + 1 its back. Bytes, because every OpenGL can draw into them and clear them.

// The inputs come from faces.geom.
#define v_uv g_uv
#define v_color g_color
#define v_side g_side

#include "surface.glsl"

flat in int g_face; // within the draw call

uniform int first_face; // of the draw call

out vec4 fragment;

void main() {
    float alpha = surface_color().a;
    bool front = surface_front();
    if (surface_missing(alpha, front)) discard;
    uint code = 2u * uint(first_face + g_face) + (front ? 2u : 1u);
    fragment = vec4(code & 255u, (code >> 8) & 255u, (code >> 16) & 255u, code >> 24) / 255.0;
}
