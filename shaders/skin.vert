#version 330 core
// The shape of a vertex, then linear blend skinning with 4 or 8 influences; a rigid submesh has one influence.
// Python sets INFLUENCES, HAS_COLOR, SKINNED, PALETTE (the include of the palette transport) and SHAPE (the
// include that computes a vertex before skinning). Without SKINNED the shape is in scene space already. With
// INSTANCED each instance is moved by its placement after skinning. With VALUES each vertex has a number for
// the fragments.

#include PALETTE
#include SHAPE
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
#if INSTANCED
in vec4 in_placement0; // the rows of the instance's 3x4 placement
in vec4 in_placement1;
in vec4 in_placement2;
#endif

#ifdef VALUES
in float in_value; // shown as the color of the surface
out float v_value;
#endif

uniform mat4 view_projection;
uniform mat3 uv_transform; // of the columns (u, v, 1)

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
    vec3 position = in_position;
    vec3 normal = in_normal;
    shape_vertex(position, normal);
#if SKINNED
    v_position = vec4(position, 1.0) * skin;
    v_normal = transform_normal(mat3(skin), normal, v_side);
#else
    v_position = position;
    v_normal = unit_or_zero(normal);
    transform_normal(mat3(skin), normal, v_side); // the rest palette decides which side is the front
#endif
#if INSTANCED
    // The cofactors of a product are the product of the cofactors: the normal takes the same two steps.
    mat3x4 placement = mat3x4(in_placement0, in_placement1, in_placement2);
    float placement_side;
    v_position = vec4(v_position, 1.0) * placement;
    v_normal = transform_normal(mat3(placement), v_normal, placement_side);
    v_side *= placement_side;
#endif
#ifdef VALUES
    v_value = in_value;
#endif
    v_uv = (uv_transform * vec3(in_uv, 1.0)).xy;
#if HAS_COLOR
    v_color = in_color;
#else
    v_color = vec4(1.0);
#endif
    gl_Position = view_projection * vec4(v_position, 1.0);
}
