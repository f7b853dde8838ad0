// A long list of float texels in the rows and layers of an array texture: skinpy/render/gpu/uploads.py.

vec4 table_texel(sampler2DArray table, int index) {
    // Unsigned, because softpipe's signed division traps on leftover values in lanes that are switched off.
    uvec2 size = uvec2(textureSize(table, 0).xy);
    uint row = uint(index) / size.x;
    return texelFetch(table, ivec3(uint(index) - row * size.x, row % size.y, row / size.y), 0);
}
