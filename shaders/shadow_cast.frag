#version 330 core
// What stands over a place on the ground, seen from above: how near it is to touching, and how much sky it
// covers there. Blended by the maximum, so that the lowest counts.

in vec3 v_position; // scene space

uniform vec3 ground_center; // scene space
uniform vec3 ground_up;     // unit
uniform vec2 fades;         // scene units over which contact and cover fade with the height

out vec2 fragment;

void main() {
    float height = max(dot(v_position - ground_center, ground_up), 0.0);
    vec2 share = height / fades;
    fragment = vec2(exp(-share.x * share.x), exp(-share.y));
}
