#version 330 core
// Contact and cover over a point of the ground, from the height of a surface there: how nearly it touches, and
// how much of the sky it covers. Blending by the maximum keeps those of the lowest surface.

in vec3 v_position; // scene space

uniform vec3 ground_center; // scene space
uniform vec3 ground_up;     // unit
uniform vec2 fades;         // scene units over which contact and cover fade with the height

out vec2 fragment;

void main() {
    float height = max(dot(v_position - ground_center, ground_up), 0.0);
    vec2 scaled = height / fades;
    fragment = vec2(exp(-scaled.x * scaled.x), exp(-scaled.y));
}
