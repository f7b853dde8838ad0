// Palette transport "instances": the palettes of a whole crowd in one RGBA32F texture, one after another, with
// three texels per slot and PALETTE_SLOTS_PER_ROW slots (a power of two) in a row of the texture.

uniform sampler2D palette_texture;
uniform int palette_slots; // of one instance

// The slot's 3x4 matrix. Its rows are the columns of the mat3x4, so `vec4(p, 1.0) * m` moves a point.
mat3x4 palette_matrix(uint slot) {
    int index = gl_InstanceID * palette_slots + int(slot);
    ivec2 texel = ivec2(index % PALETTE_SLOTS_PER_ROW * 3, index / PALETTE_SLOTS_PER_ROW);
    return mat3x4(texelFetch(palette_texture, texel, 0),
                  texelFetch(palette_texture, texel + ivec2(1, 0), 0),
                  texelFetch(palette_texture, texel + ivec2(2, 0), 0));
}
