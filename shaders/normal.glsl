// Normals under a linear map that need not be a rotation.

// The vector's direction; the zero vector stays what it is.
vec3 unit_or_zero(vec3 vector) {
    vec3 magnitude = abs(vector);
    float scale = max(magnitude.x, max(magnitude.y, magnitude.z));
    if (!(scale > 0.0)) return vec3(0.0);
    vector /= scale;
    return vector / sqrt(dot(vector, vector));
}

// The normal under a linear map: multiplied by the inverse transpose of the map, by cofactors, with the sign of
// the determinant. The three columns of `rows` are the rows of the map. `side` becomes -1 if the map mirrors,
// which also reverses the winding of faces. A zero result stays the zero vector.
vec3 transform_normal(mat3 rows, vec3 normal, out float side) {
    // Scaled to about 1 first, so that the products neither overflow nor vanish.
    vec3 largest = max(abs(rows[0]), max(abs(rows[1]), abs(rows[2])));
    float size = max(largest.x, max(largest.y, largest.z));
    mat3 unit = rows / (size > 0.0 ? size : 1.0);
    mat3 cofactors = mat3(cross(unit[1], unit[2]), cross(unit[2], unit[0]), cross(unit[0], unit[1]));
    side = dot(unit[0], cofactors[0]) < 0.0 ? -1.0 : 1.0;
    return unit_or_zero(side * (normal * cofactors));
}
