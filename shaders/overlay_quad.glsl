// A line on the screen as a quad with room for a smooth edge. Needs the uniform vec2 viewport, in pixels.

// Cuts a line in clip space at the near plane; returns false if nothing of it is left.
bool clip_line(inout vec4 from, inout vec4 to) {
    float a = from.z + from.w, b = to.z + to.w; // in front of the near plane where positive
    if (a <= 0.0 && b <= 0.0) return false;
    if (a < 0.0) from = mix(from, to, a / (a - b));
    if (b < 0.0) to = mix(to, from, b / (b - a));
    return true;
}

// From clip space to pixels, and to a depth from -1 to 1.
vec3 window_position(vec4 clip) {
    vec3 device = clip.xyz / clip.w;
    return vec3((device.xy * 0.5 + 0.5) * viewport, device.z);
}

// A corner, 0 to 3, of the triangle strip that covers a line with `radius` pixels to each side.
vec4 quad_corner(vec3 start, vec3 end, float radius, int corner) {
    vec2 along = end.xy - start.xy;
    float length_ = length(along);
    along = length_ > 1e-4 ? along / length_ : vec2(1.0, 0.0);
    vec2 across = vec2(-along.y, along.x);
    vec3 near = (corner & 2) == 0 ? start : end;
    vec2 side = ((corner & 2) == 0 ? -along : along) + ((corner & 1) == 0 ? -across : across);
    vec2 pixel = near.xy + side * (radius + 1.0);
    return vec4(pixel / viewport * 2.0 - 1.0, near.z, 1.0);
}
