// Palette transport "texture": RGBA32F texels, three per slot, PALETTE_SLOTS_PER_ROW slots in a row
// of the texture. A 2D texture has room for any number of joints in practice.

uniform sampler2D palette_texture;

// The slot's 3x4 matrix. Its rows are the columns of the mat3x4, so `vec4(p, 1.0) * m` moves a point.
mat3x4 palette_matrix(uint slot) {
    ivec2 texel = ivec2(int(slot) % PALETTE_SLOTS_PER_ROW * 3, int(slot) / PALETTE_SLOTS_PER_ROW);
    return mat3x4(texelFetch(palette_texture, texel, 0),
                  texelFetch(palette_texture, texel + ivec2(1, 0), 0),
                  texelFetch(palette_texture, texel + ivec2(2, 0), 0));
}
