// Palette transport "baked": one texture has the frames of whole clips, in the layout of
// skinpy/kinds/baking.py. An instance has a clip and a time in it; its palette is interpolated linearly
// between two frames.

uniform sampler2D baked_texture;
uniform uint baked_slots;

in uvec3 in_clip;  // index of the clip's first frame, its number of frames, and the frame within it
in float in_blend; // from this frame (0) to the next (1)

// The three rows of a slot in one frame.
mat3x4 baked_matrix(uint frame, uint slot) {
    // Unsigned, because softpipe's signed division traps on leftover values in lanes that are switched off.
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
    if (in_blend == 0.0) return first;
    return first + in_blend * (baked_matrix(start + min(frame + 1u, last), slot) - first);
}
