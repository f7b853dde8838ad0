// Shape "frames": a vertex animation. The tables have all frames; uniforms select two of them and a blend.

#include "texel_table.glsl"

uniform sampler2DArray frame_positions;
uniform sampler2DArray frame_normals;
uniform ivec2 frame_texels;  // first texel of either frame
uniform float frame_blend;   // from the first frame (0) to the second (1)

vec3 frame_vector(sampler2DArray table) {
    vec3 first = table_texel(table, frame_texels.x + gl_VertexID).xyz;
    if (frame_blend == 0.0) return first;
    return mix(first, table_texel(table, frame_texels.y + gl_VertexID).xyz, frame_blend);
}

void shape_vertex(inout vec3 position, inout vec3 normal) {
    position = frame_vector(frame_positions);
    normal = frame_vector(frame_normals);
}
