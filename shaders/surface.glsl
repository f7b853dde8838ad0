// What all fragments of a surface have in common, whatever is made of them: color, sides, and where it is cut.

in vec2 v_uv;
in vec4 v_color;
flat in float v_side;

uniform sampler2D base_texture; // sRGB, decoded by the sampler
uniform bool mirrored;          // every other repetition of the texture is turned round
uniform vec4 base_color;        // linear RGB and straight alpha
uniform int alpha_mode;         // 0 opaque, 1 mask, 2 blend
uniform float alpha_cutoff;
uniform bool double_sided;
uniform int layer;              // 0 both sides, 1 back faces only, 2 front faces only

// Texture coordinates beyond 0 to 1 are the sampler's to repeat or clamp, but for mirrored ones: folded here
// for a sampler that clamps. The gradients are those from before the fold, which has a seam in its own.
vec4 base_texel(vec2 uv) {
    if (!mirrored) return texture(base_texture, uv);
    vec2 folded = 1.0 - abs(mod(uv, 2.0) - 1.0);
    return textureGrad(base_texture, folded, dFdx(uv), dFdy(uv));
}

// Linear RGB and straight alpha.
vec4 surface_color() {
    return base_color * v_color * base_texel(v_uv);
}

// Whether the outside is seen.
bool surface_front() {
    // Not `gl_FrontFacing == (v_side > 0.0)`: Mesa's softpipe takes the two for different kinds of true.
    return v_side > 0.0 ? gl_FrontFacing : !gl_FrontFacing;
}

// Whether a fragment of that alpha is not there at all.
bool surface_missing(float alpha, bool front) {
    if ((layer == 1 && front) || (layer == 2 && !front)) return true;
    if (!double_sided && !front) return true;
    return alpha_mode == 1 && alpha < alpha_cutoff;
}
