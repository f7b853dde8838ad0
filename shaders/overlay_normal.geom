#version 330 core
// The normal of a vertex as a line with a width in pixels.

layout(points) in;
layout(triangle_strip, max_vertices = 4) out;

in vec3 v_position[]; // scene space
in vec3 v_normal[];   // unit, or zero

uniform mat4 view_projection;
uniform vec2 viewport; // pixels
uniform vec4 color;    // linear RGB and straight alpha
uniform float width;   // pixels
uniform float normal_length; // scene units

flat out vec4 v_color;
flat out vec2 v_from; // pixels
flat out vec2 v_to;
flat out float v_radius;

#include "overlay_quad.glsl"

void main() {
    if (v_normal[0] == vec3(0.0)) return;
    vec4 from = view_projection * vec4(v_position[0], 1.0);
    vec4 to = view_projection * vec4(v_position[0] + normal_length * v_normal[0], 1.0);
    if (!clip_line(from, to)) return;
    vec3 start = window_position(from), end = window_position(to);
    for (int corner = 0; corner < 4; ++corner) {
        v_color = color;
        v_radius = 0.5 * width;
        v_from = start.xy;
        v_to = end.xy;
        gl_Position = quad_corner(start, end, v_radius, corner);
        EmitVertex();
    }
    EndPrimitive();
}
