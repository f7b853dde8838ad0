#version 330 core
// A line with a width in pixels and round ends: one instance each, two triangles. A line of length 0 is a dot.

in vec3 in_from; // scene space
in vec3 in_to;
in vec4 in_color; // linear RGB and straight alpha
in float in_width; // pixels

uniform mat4 view_projection;
uniform vec2 viewport; // pixels
uniform float halo; // pixels around the line

flat out vec4 v_color;
flat out vec2 v_from; // pixels
flat out vec2 v_to;
flat out float v_radius;

#include "overlay_quad.glsl"

void main() {
    v_color = in_color;
    v_radius = 0.5 * in_width + halo;
    vec4 from = view_projection * vec4(in_from, 1.0), to = view_projection * vec4(in_to, 1.0);
    bool seen = clip_line(from, to);
    vec3 start = window_position(from), end = window_position(to);
    v_from = start.xy;
    v_to = end.xy;
    gl_Position = seen ? quad_corner(start, end, v_radius, gl_VertexID) : vec4(2.0, 2.0, 2.0, 1.0);
}
