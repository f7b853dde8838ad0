#version 330 core
// Passes the number of a face to its fragments: softpipe has no gl_PrimitiveID in fragment shaders.

layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;

in vec2 v_uv[];
in vec4 v_color[];
flat in float v_side[];

out vec2 g_uv;
out vec4 g_color;
flat out float g_side;
flat out int g_face;

void main() {
    for (int corner = 0; corner < 3; ++corner) {
        g_uv = v_uv[corner];
        g_color = v_color[corner];
        g_side = v_side[2]; // that of the last corner, as it is without this shader
        g_face = gl_PrimitiveIDIn;
        gl_Position = gl_in[corner].gl_Position;
        EmitVertex();
    }
    EndPrimitive();
}
