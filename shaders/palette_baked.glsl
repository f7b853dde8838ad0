// Palette transport "baked": the frames of whole clips lie in one texture, as skinpy/baking.py lays them out.
// An instance says which clip it plays and where in it; the palette is on the line between two frames.

uniform sampler2D baked_texture;
uniform uint baked_slots;

in uvec3 in_clip;  // number of the clip's first frame, how many it has, and the frame within it
in float in_share; // how far on the way to the next frame; the last one has none

// The three rows of a slot in one frame.
mat3x4 baked_matrix(uint frame, uint slot) {
    // Unsigned, because softpipe's signed division traps on the leftovers in lanes that are switched off.
    uint height = uint(textureSize(baked_texture, 0).y);
    uint column = frame / height;
    ivec2 texel = ivec2((column * baked_slots + slot) * 3u, frame - column * height);
    return mat3x4(texelFetch(baked_texture, texel, 0),
                  texelFetch(baked_texture, texel + ivec2(1, 0), 0),
                  texelFetch(baked_texture, texel + ivec2(2, 0), 0));
}

// The slot's 3x4 matrix. Its rows are the columns of the mat3x4, so `vec4(p, 1.0) * m` moves a point.
mat3x4 palette_matrix(uint slot) {
    uint start = in_clip.x, last = in_clip.y - 1u, frame = in_clip.z;
    mat3x4 first = baked_matrix(start + min(frame, last), slot);
    if (in_share == 0.0) return first;
    return first + in_share * (baked_matrix(start + min(frame + 1u, last), slot) - first);
}
