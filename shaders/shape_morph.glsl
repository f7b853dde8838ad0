// Shape "morph": adds the deltas of morph targets to a vertex, each times its weight, before skinning. A vertex
// has one entry for each target that moves it, whatever the number of targets. An entry of weight 0 costs two
// reads. Python sets MORPH_NORMALS: 1 if a target has normals.

#include "texel_table.glsl"

in uvec2 in_morph; // first entry of the vertex, and number of its entries

uniform sampler2DArray morph_deltas;  // per entry: the delta of the position, and the index of the target
#if MORPH_NORMALS
uniform sampler2DArray morph_normals; // per entry: the delta of the normal
#endif
uniform sampler2DArray morph_weights; // per target

void shape_vertex(inout vec3 position, inout vec3 normal) {
    int end = int(in_morph.x + in_morph.y);
    for (int entry = int(in_morph.x); entry < end; ++entry) {
        vec4 delta = table_texel(morph_deltas, entry);
        float weight = table_texel(morph_weights, int(delta.w)).r;
        if (weight == 0.0) continue;
        position += weight * delta.xyz;
#if MORPH_NORMALS
        normal += weight * table_texel(morph_normals, entry).xyz;
#endif
    }
}
