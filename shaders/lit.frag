#version 330 core
// A distant light, soft light from the sky and the ground, and a highlight.
// All in linear light. The result is premultiplied by alpha, so that the mean of samples and layers is right.

#include "surface.glsl"

in vec3 v_position;
in vec3 v_normal;

uniform vec3 eye;               // scene space
uniform vec3 scene_up;          // unit
uniform vec3 light_direction;   // unit, from the model towards the light
uniform vec3 light_color;
uniform vec3 sky_color;
uniform vec3 ground_color;

out vec4 fragment;

const float SHININESS = 40.0;
const float REFLECTANCE = 0.04; // of a common dielectric at normal incidence

vec3 shade(vec3 albedo, vec3 normal, vec3 to_eye) {
    float sky = 0.5 + 0.5 * dot(normal, scene_up);
    vec3 ambient = mix(ground_color, sky_color, sky);
    float facing = max(dot(normal, light_direction), 0.0);
    vec3 halfway = normalize(light_direction + to_eye);
    float highlight = pow(max(dot(normal, halfway), 0.0), SHININESS);
    // (n + 8) / 8 keeps the energy of a Blinn-Phong lobe the same for every shininess.
    float specular = REFLECTANCE * (SHININESS + 8.0) / 8.0 * highlight * facing;
    return albedo * (ambient + light_color * facing) + light_color * specular;
}

void main() {
    vec3 to_eye = normalize(eye - v_position);
    vec3 face_normal = cross(dFdx(v_position), dFdy(v_position));
    vec4 color = surface_color();
    bool front = surface_front();
    if (surface_missing(color.a, front)) discard;

    vec3 normal = front ? v_normal : -v_normal;
    float length2 = dot(normal, normal);
    if (length2 < 1e-12) { // without a usable normal: take that of the face, towards the eye
        normal = dot(face_normal, to_eye) < 0.0 ? -face_normal : face_normal;
        length2 = max(dot(normal, normal), 1e-30);
    }
    float alpha = alpha_mode == 2 ? clamp(color.a, 0.0, 1.0) : 1.0;
    // Clamped before samples are averaged: a highlight brighter than white would have a hard edge.
    vec3 light = clamp(shade(color.rgb, normal * inversesqrt(length2), to_eye), 0.0, 1.0);
    fragment = vec4(light * alpha, alpha);
}
