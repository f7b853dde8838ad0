#version 330 core
// The shadow on the floor, premultiplied; it fades out with the floor.

in vec3 v_position;
in vec2 v_texel;

uniform sampler2D map; // contact and cover
uniform float strength;
uniform vec3 floor_center; // scene space
uniform float floor_radius;

out vec4 fragment;

const float CONTACT = 0.95; // darkness under a surface that touches the floor
const float COVER = 0.95;   // darkness under a surface that hovers just above it

void main() {
    vec2 shade = texture(map, v_texel).rg;
    float dark = 1.0 - (1.0 - CONTACT * shade.r) * (1.0 - COVER * shade.g);
    float away = length(v_position - floor_center) / floor_radius;
    float darkness = strength * dark * (1.0 - smoothstep(0.5, 1.0, away));
    // Perceived darkness: perceived brightness is about the square root of the light.
    fragment = vec4(0.0, 0.0, 0.0, 1.0 - (1.0 - darkness) * (1.0 - darkness));
}
