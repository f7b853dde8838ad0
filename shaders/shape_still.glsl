// Shape "still": the vertices of the mesh.

void shape_vertex(inout vec3 position, inout vec3 normal) {
}
