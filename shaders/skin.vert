#version 330 core
// The shape of a vertex, then linear blend skinning with 4 or 8 influences. A rigid part is the same with one.
// Python sets INFLUENCES, HAS_COLOR, SKINNED, PALETTE (the include of the palette transport) and SHAPE (the
// include that says where a vertex is before the skin). Without SKINNED the shape is in scene space already.
// With INSTANCED each instance stands where its placement says, after the skin. With VALUES each vertex has a
// number for the fragments.

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
in vec4 in_place0; // the rows of the instance's 3x4 placement
in vec4 in_place1;
in vec4 in_place2;
#endif

#ifdef VALUES
in float in_value; // what the color of the surface tells
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
    transform_normal(mat3(skin), normal, v_side); // the skin at rest knows which side is out
#endif
#if INSTANCED
    // Cofactors of a product are the product of the cofactors: the normal takes the same two steps.
    mat3x4 place = mat3x4(in_place0, in_place1, in_place2);
    float place_side;
    v_position = vec4(v_position, 1.0) * place;
    v_normal = transform_normal(mat3(place), v_normal, place_side);
    v_side *= place_side;
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
