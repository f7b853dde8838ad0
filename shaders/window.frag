#version 330 core
// An image (row 0 on top) in a window, pixel by pixel. The viewport is the area of the image.

uniform sampler2D image;
uniform ivec2 corner; // lower left of the image, in pixels of the window

out vec4 fragment;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy) - corner;
    pixel.y = textureSize(image, 0).y - 1 - pixel.y; // OpenGL has row 0 at the bottom
    fragment = texelFetch(image, pixel, 0);
}
