#version 330 core
// Which face is seen, and from which side: four bytes, the least first. 0 is nothing; face n is 2 n + 2 from
// its front and 2 n + 1 from its back. Bytes, because every OpenGL draws into them and clears them.

// What comes here has gone through faces.geom.
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
