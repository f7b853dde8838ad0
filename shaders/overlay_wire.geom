#version 330 core
// An edge of a face as a line with a width in pixels.

layout(lines) in;
layout(triangle_strip, max_vertices = 4) out;

uniform vec2 viewport; // pixels
uniform vec4 color;    // linear RGB and straight alpha
uniform float width;   // pixels

flat out vec4 v_color;
flat out vec2 v_from; // pixels
flat out vec2 v_to;
flat out float v_radius;

#include "overlay_quad.glsl"

void main() {
    vec4 from = gl_in[0].gl_Position, to = gl_in[1].gl_Position;
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
