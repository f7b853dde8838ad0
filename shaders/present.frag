#version 330 core
// From averaged samples (linear light, premultiplied) to a picture (sRGB, straight alpha).

uniform sampler2D resolved;

out vec4 fragment;

vec3 srgb_encode(vec3 linear) {
    vec3 low = linear * 12.92;
    vec3 high = 1.055 * pow(max(linear, vec3(0.0031308)), vec3(1.0 / 2.4)) - 0.055;
    return mix(high, low, vec3(lessThanEqual(linear, vec3(0.0031308))));
}

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
#if TOP_FIRST // for reading, not for showing: OpenGL has row 0 at the bottom
    pixel.y = textureSize(resolved, 0).y - 1 - pixel.y;
#endif
    vec4 sum = texelFetch(resolved, pixel, 0);
    float alpha = clamp(sum.a, 0.0, 1.0);
    vec3 color = alpha > 0.0 ? clamp(sum.rgb / alpha, 0.0, 1.0) : vec3(0.0);
    fragment = vec4(srgb_encode(color), alpha);
}
