#version 330 core
// Linear blend skinning with 4 or 8 influences per vertex. A rigid part is the same with one.
// Python sets INFLUENCES, HAS_COLOR and PALETTE, the include of the palette transport.

#include PALETTE
#include "normal.glsl"

in vec3 in_position;
in vec3 in_normal;
in vec2 in_uv;
#if HAS_COLOR
in vec4 in_color;
#endif
in uvec4 in_slots0;
in vec4 in_weights0;
#if INFLUENCES > 4
in uvec4 in_slots1;
in vec4 in_weights1;
#endif

uniform mat4 view_projection;

out vec3 v_position; // scene space
out vec3 v_normal;   // scene space, unit length or zero
out vec2 v_uv;
out vec4 v_color;
flat out float v_side; // -1 where the vertex is mirrored

mat3x4 blend4(uvec4 slots, vec4 weights) {
    return weights.x * palette_matrix(slots.x) + weights.y * palette_matrix(slots.y)
         + weights.z * palette_matrix(slots.z) + weights.w * palette_matrix(slots.w);
}

void main() {
    mat3x4 skin = blend4(in_slots0, in_weights0);
#if INFLUENCES > 4
    skin += blend4(in_slots1, in_weights1);
#endif
    v_position = vec4(in_position, 1.0) * skin;
    v_normal = transform_normal(mat3(skin), in_normal, v_side);
    v_uv = in_uv;
#if HAS_COLOR
    v_color = in_color;
#else
    v_color = vec4(1.0);
#endif
    gl_Position = view_projection * vec4(v_position, 1.0);
}
