#version 330 core
// A number per vertex as a color from a scale. Surfaces that face the eye have the color of the scale; they are
// darker where seen from the side, so that the form can be seen.

#include "surface.glsl"

in vec3 v_position;
in vec3 v_normal;
in float v_value;

uniform vec3 eye; // scene space
uniform sampler2D scale; // linear RGB for 0 to 1
uniform vec3 none; // linear RGB of values of `none_below` or less
uniform float none_below;

out vec4 fragment;

const float FACING = 0.6; // cosine to the view above which the color is that of the scale
const float MIN_VALUE = 0.02; // value above none_below from which the color is that of the scale

void main() {
    bool front = surface_front();
    if (surface_missing(surface_color().a, front)) discard;
    vec3 color = texture(scale, vec2(clamp(v_value, 0.0, 1.0), 0.5)).rgb;
    color = mix(none, color, clamp((v_value - none_below) / MIN_VALUE, 0.0, 1.0));
    float length2 = dot(v_normal, v_normal);
    float facing = length2 < 1e-12 ? 1.0 : abs(dot(v_normal * inversesqrt(length2), normalize(eye - v_position)));
    fragment = vec4(color * mix(0.2, 1.0, smoothstep(0.0, FACING, facing)), 1.0);
}
