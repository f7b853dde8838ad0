// Color, sides and cutouts of a surface, for all shaders that draw it.

in vec2 v_uv;
in vec4 v_color;
flat in float v_side;

uniform sampler2D base_texture; // sRGB, decoded by the sampler
uniform bool mirrored_u;        // every other repetition of the texture is mirrored, along u ...
uniform bool mirrored_v;        // ... and along v
uniform vec4 base_color;        // linear RGB and straight alpha
uniform int alpha_mode;         // 0 opaque, 1 mask, 2 blend
uniform float alpha_cutoff;
uniform bool double_sided;
uniform int layer;              // 0 both sides, 1 back faces only, 2 front faces only

// The sampler repeats or clamps texture coordinates beyond 0 to 1. Mirrored ones are folded here, for a sampler
// that clamps. The gradients are those before folding, because folded coordinates have a seam in theirs.
vec4 base_texel(vec2 uv) {
    if (!mirrored_u && !mirrored_v) return texture(base_texture, uv);
    vec2 folded = 1.0 - abs(mod(uv, 2.0) - 1.0);
    vec2 place = vec2(mirrored_u ? folded.x : uv.x, mirrored_v ? folded.y : uv.y);
    return textureGrad(base_texture, place, dFdx(uv), dFdy(uv));
}

// Linear RGB and straight alpha.
vec4 surface_color() {
    return base_color * v_color * base_texel(v_uv);
}

// Whether the front of the face is seen.
bool surface_front() {
    // Not `gl_FrontFacing == (v_side > 0.0)`: in Mesa's softpipe the two have different values of true.
    return v_side > 0.0 ? gl_FrontFacing : !gl_FrontFacing;
}

// Whether a fragment of that alpha is not drawn at all.
bool surface_missing(float alpha, bool front) {
    if ((layer == 1 && front) || (layer == 2 && !front)) return true;
    if (!double_sided && !front) return true;
    return alpha_mode == 1 && alpha < alpha_cutoff;
}
