#version 330 core
// Vertices that are in scene space already: the drawn skeleton of a model without a mesh.

in vec3 in_position;
in vec3 in_normal;
in vec3 in_color;

uniform mat4 view_projection;

out vec3 v_position;
out vec3 v_normal;
out vec2 v_uv;
out vec4 v_color;
flat out float v_side;

void main() {
    v_position = in_position;
    v_normal = in_normal;
    v_uv = vec2(0.0);
    v_color = vec4(in_color, 1.0);
    v_side = 1.0;
    gl_Position = view_projection * vec4(in_position, 1.0);
}
