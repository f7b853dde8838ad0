// Palette transport "uniform": one std140 block, three vec4 rows per slot.
// PALETTE_ROWS is set by skinpy/render/scene/palette.py from the limit of the context.

layout(std140) uniform Palette {
    vec4 palette_rows[PALETTE_ROWS];
};

// The slot's 3x4 matrix. Its rows are the columns of the mat3x4, so `vec4(p, 1.0) * m` moves a point.
mat3x4 palette_matrix(uint slot) {
    int row = int(slot) * 3;
    return mat3x4(palette_rows[row], palette_rows[row + 1], palette_rows[row + 2]);
}
