#version 330 core
// Writes depth alone: premultiplied, this adds no color.

out vec4 fragment;

void main() {
    fragment = vec4(0.0);
}
