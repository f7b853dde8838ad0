#version 330 core
// A line with round ends and a soft edge of one pixel, premultiplied.

flat in vec4 v_color;
flat in vec2 v_from; // pixels
flat in vec2 v_to;
flat in float v_radius;

out vec4 fragment;

void main() {
    vec2 along = v_to - v_from, away = gl_FragCoord.xy - v_from;
    float nearest = clamp(dot(away, along) / max(dot(along, along), 1e-8), 0.0, 1.0);
    float distance_ = length(away - nearest * along);
    float alpha = v_color.a * clamp(v_radius + 0.5 - distance_, 0.0, 1.0);
    if (alpha == 0.0) discard;
    fragment = vec4(v_color.rgb * alpha, alpha);
}
