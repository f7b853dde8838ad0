#version 330 core
// A ghost: a transparent figure in one color, denser towards its outline; premultiplied.

in vec3 v_position;
in vec3 v_normal;

uniform vec3 eye;   // scene space
uniform vec4 color; // linear RGB and straight alpha

out vec4 fragment;

void main() {
    float length2 = dot(v_normal, v_normal);
    float facing = length2 < 1e-12 ? 0.5 : abs(dot(v_normal * inversesqrt(length2), normalize(eye - v_position)));
    float alpha = color.a * mix(1.0, 0.5, facing);
    fragment = vec4(color.rgb * mix(0.7, 1.0, facing) * alpha, alpha);
}
