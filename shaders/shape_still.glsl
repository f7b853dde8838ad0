// Shape "still": the vertex as the mesh has it.

void shape_vertex(inout vec3 position, inout vec3 normal) {
}
