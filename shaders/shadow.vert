#version 330 core
// The square of the ground that a shadow map covers; no vertex buffer.

uniform vec3 center; // scene space
uniform vec3 right;  // to the edge
uniform vec3 near;
uniform mat4 view_projection;

out vec3 v_position; // scene space
out vec2 v_texel;    // 0 to 1

void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    v_position = center + (2.0 * corner.x - 1.0) * right + (2.0 * corner.y - 1.0) * near;
    v_texel = corner;
    gl_Position = view_projection * vec4(v_position, 1.0);
}
