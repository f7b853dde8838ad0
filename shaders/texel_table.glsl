// A long list of float texels in the rows and layers of an array texture: skinpy/render/uploads.py.

vec4 table_texel(sampler2DArray table, int index) {
    ivec2 size = textureSize(table, 0).xy;
    int row = index / size.x;
    return texelFetch(table, ivec3(index - row * size.x, row % size.y, row / size.y), 0);
}
