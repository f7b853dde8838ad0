/* import_collada_xml.h: a COLLADA file as a tree of elements, in the order of the file.

   Element 0 is the document. An element stands before all elements inside it, so that these are a range of indices. Of
   names, only those that the reader uses are kept. Only elements without children have text, without the white space
   around it. The file is not trusted: declarations of entities are refused, and nothing recurses. */
#ifndef IMPORT_COLLADA_XML_H
#define IMPORT_COLLADA_XML_H

#include "../import_job.h"

/* Names of elements and attributes; dae_word has DAE_<name> for each. */
/* clang-format off */
#define DAE_WORD_TABLE(WORD) \
  WORD(COLLADA) WORD(asset) WORD(unit) WORD(up_axis) WORD(meter) WORD(id) WORD(sid) WORD(name) WORD(url) \
  WORD(source) WORD(target) WORD(semantic) WORD(offset) WORD(set) WORD(count) WORD(stride) WORD(symbol) \
  WORD(material) WORD(opaque) WORD(texture) WORD(texcoord) WORD(input_semantic) WORD(input_set) WORD(start) \
  WORD(end) WORD(profile) WORD(method) WORD(pre_behavior) WORD(post_behavior) WORD(param) WORD(ref) \
  WORD(geometry) WORD(mesh) WORD(convex_mesh) WORD(spline) WORD(brep) WORD(float_array) WORD(int_array) \
  WORD(bool_array) WORD(Name_array) WORD(IDREF_array) WORD(SIDREF_array) WORD(accessor) WORD(technique) \
  WORD(technique_common) WORD(vertices) WORD(input) WORD(triangles) WORD(polylist) WORD(polygons) \
  WORD(tristrips) WORD(trifans) WORD(lines) WORD(linestrips) WORD(p) WORD(ph) WORD(h) WORD(v) WORD(vcount) \
  WORD(controller) WORD(skin) WORD(morph) WORD(bind_shape_matrix) WORD(joints) WORD(vertex_weights) \
  WORD(targets) WORD(animation) WORD(sampler) WORD(channel) WORD(library_animations) WORD(animation_clip) \
  WORD(instance_animation) WORD(visual_scene) WORD(scene) WORD(instance_visual_scene) \
  WORD(instance_kinematics_scene) WORD(node) WORD(translate) WORD(rotate) WORD(scale) WORD(matrix) WORD(lookat) \
  WORD(skew) WORD(instance_node) WORD(instance_geometry) WORD(instance_controller) WORD(instance_camera) \
  WORD(instance_light) WORD(skeleton) WORD(bind_material) WORD(instance_material) WORD(bind_vertex_input) \
  WORD(instance_effect) WORD(effect) WORD(profile_COMMON) WORD(setparam) WORD(surface) WORD(sampler2D) \
  WORD(init_from) WORD(instance_image) WORD(image) WORD(data) WORD(hex) WORD(diffuse) WORD(emission) WORD(color) \
  WORD(float) WORD(float3) WORD(float4) WORD(transparent) WORD(transparency) WORD(constant) WORD(lambert) \
  WORD(phong) WORD(blinn) WORD(bump) WORD(specular) WORD(reflective) WORD(extra) WORD(double_sided) \
  WORD(visibility) WORD(wrap_s) WORD(wrap_t) WORD(repeatU) WORD(repeatV) WORD(offsetU) WORD(offsetV) \
  WORD(rotateUV)
/* clang-format on */

typedef enum dae_word {
  DAE_OTHER, /* any other name */
#define DAE_WORD_NAME(name) DAE_##name,
  DAE_WORD_TABLE(DAE_WORD_NAME)
#undef DAE_WORD_NAME
      DAE_WORD_COUNT
} dae_word;

#define DAE_NONE 0u /* in place of the index of an element: there is none */

typedef struct dae_element {
  uint16_t word;             /* dae_word */
  uint16_t attribute_count;
  uint32_t parent, end;      /* elements up to `end`, without it, are inside this one */
  uint32_t first_attribute;
  uint32_t text, length;     /* in the tree's text */
  uint32_t data;             /* an index plus 1, for the code that reads this kind of element; 0: none yet */
} dae_element;

typedef struct dae_tree {
  sk_array elements;   /* dae_element */
  sk_array attributes; /* private */
  sk_array text;       /* char */
  import_names ids;    /* of elements */
  import_span file;    /* the file's name, by which it may refer to itself */
} dae_tree;

/* Reads the model's file. The tree is freed with dae_free_tree, also on failure. */
sk_status dae_read_tree(import_job *job, dae_tree *tree);
void dae_free_tree(dae_tree *tree);

static inline dae_element *dae_at(const dae_tree *tree, uint32_t element) {
  return (dae_element *)tree->elements.data + element;
}
static inline dae_word dae_word_of(const dae_tree *tree, uint32_t element) {
  return (dae_word)dae_at(tree, element)->word;
}

/* for (DAE_EACH(tree, parent, child)): the children of an element. */
#define DAE_EACH(tree, parent, child) \
  child = (parent) + 1;               \
  child < dae_at(tree, parent)->end;  \
  child = dae_at(tree, child)->end

/* The first child of that name, or DAE_NONE; that of DAE_NONE is DAE_NONE. */
uint32_t dae_child(const dae_tree *tree, uint32_t parent, dae_word word);
/* The first element of that name inside, at any depth, or DAE_NONE. Only the first elements of a large one are searched. */
uint32_t dae_inside(const dae_tree *tree, uint32_t parent, dae_word word);
/* This element, its parent or its grandparent, whichever first has the name; or DAE_NONE. */
uint32_t dae_around(const dae_tree *tree, uint32_t element, dae_word word);
import_span dae_text(const dae_tree *tree, uint32_t element);
import_span dae_attribute(const dae_tree *tree, uint32_t element, dae_word name); /* empty if it is absent */
uint32_t dae_attribute_number(const dae_tree *tree, uint32_t element, dae_word name, uint32_t absent);
/* The element with this id, or DAE_NONE. */
uint32_t dae_find(const dae_tree *tree, import_span id);
/* The same for a reference within the file: "#id", "id" or "file.dae#id" with its own name. */
uint32_t dae_follow(const dae_tree *tree, import_span reference);
/* The name for people: the attribute `name`, else `id`, else `sid`. */
import_span dae_title(const dae_tree *tree, uint32_t element);

bool dae_is(import_span span, const char *text);
/* The next word of a text between white space; false at its end. */
bool dae_next_word(import_span *rest, import_span *word);
/* The next number; NAN where the word is not one, as it is for INF. */
bool dae_next_number(import_span *rest, double *number);
/* The next whole number; UINT32_MAX where the word is not one, or is negative. */
bool dae_next_index(import_span *rest, uint32_t *index);
/* Reads up to `count` numbers and returns how many there are. */
int dae_numbers_of(import_span text, double *numbers, int count);

#endif
