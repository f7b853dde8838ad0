#version 330 core
// One direction of a Gaussian blur, narrow for contact and wide for cover.

uniform sampler2D sharp;
uniform ivec2 direction;
uniform vec2 deviations; // texels
uniform int reach;       // texels to each side

out vec2 fragment;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy), last = textureSize(sharp, 0) - 1;
    vec2 sum = vec2(0.0), weights = vec2(0.0);
    for (int away = -reach; away <= reach; ++away) {
        vec2 scaled = float(away) / deviations;
        vec2 weight = exp(-0.5 * scaled * scaled);
        sum += weight * texelFetch(sharp, clamp(texel + away * direction, ivec2(0), last), 0).rg;
        weights += weight;
    }
    fragment = sum / weights;
}
