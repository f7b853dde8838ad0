#version 330 core
// The floor: a disc in scene space. Only its texture moves.

in vec2 in_place; // a point of the unit disc
in float in_alpha;

uniform vec3 center; // scene space
uniform vec3 right;  // from the center to the edge
uniform vec3 near;
uniform vec3 scene_up; // unit
uniform mat3 uv_transform; // from points (x, y, 1) of the unit disc to texture coordinates
uniform mat4 view_projection;

out vec3 v_position;
out vec3 v_normal;
out vec2 v_uv;
out vec4 v_color;
flat out float v_side;

void main() {
    v_position = center + in_place.x * right + in_place.y * near;
    v_normal = scene_up;
    v_uv = (uv_transform * vec3(in_place, 1.0)).xy;
    v_color = vec4(1.0, 1.0, 1.0, in_alpha);
    v_side = 1.0;
    gl_Position = view_projection * vec4(v_position, 1.0);
}
