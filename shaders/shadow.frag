#version 330 core
// The shadow on the floor, premultiplied; gone where the floor fades out.

in vec3 v_position;
in vec2 v_texel;

uniform sampler2D map; // contact and cover
uniform float strength;
uniform vec3 floor_center; // scene space
uniform float floor_radius;

out vec4 fragment;

const float CONTACT = 0.95; // darkness under what touches
const float COVER = 0.95;   // under what hovers just above

void main() {
    vec2 shade = texture(map, v_texel).rg;
    float dark = 1.0 - (1.0 - CONTACT * shade.r) * (1.0 - COVER * shade.g);
    float away = length(v_position - floor_center) / floor_radius;
    float share = strength * dark * (1.0 - smoothstep(0.5, 1.0, away));
    // Shares of what the eye sees, which is about the square root of the light.
    fragment = vec4(0.0, 0.0, 0.0, 1.0 - (1.0 - share) * (1.0 - share));
}
