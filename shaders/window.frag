#version 330 core
// An image (row 0 on top) in a window, pixel by pixel; the viewport is where it lies.

uniform sampler2D image;
uniform ivec2 corner; // lower left of the image, in pixels of the window

out vec4 fragment;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy) - corner;
    pixel.y = textureSize(image, 0).y - 1 - pixel.y; // OpenGL's row 0 is at the bottom
    fragment = texelFetch(image, pixel, 0);
}
