/* import_fbx_scene.h: the nodes of an FBX file, and where they are at any time of any stack.

   A node is a model of the file. The local transform of a node is (column vectors)

       T * Roff * Rp * Rpre * R * inverse(Rpost) * inverse(Rp) * Soff * Sp * S * inverse(Sp)

   with the offsets and pivots of rotation and scale (FBX SDK, "Transformations"). It is a translation, a rotation and a
   scale along the rotated axes, so that T, R and S of one joint hold it without rest. */
#ifndef IMPORT_FBX_SCENE_H
#define IMPORT_FBX_SCENE_H

#include "import_fbx_curve.h"

typedef enum fbx_inherit { /* what a node does with the scale of its parent */
                           FBX_INHERIT_COMPONENTS, /* RrSs: multiplies its own scale by it */
                           FBX_INHERIT_ALL,        /* RSrs: the usual */
                           FBX_INHERIT_NONE        /* Rrs: does without it ("segment scale compensate") */
} fbx_inherit;

typedef struct fbx_trs { /* a transform of a joint */
  double t[3], r[4], s[3]; /* the rotation is a unit quaternion, x y z w */
} fbx_trs;

typedef struct fbx_node {
  uint32_t object;
  int32_t parent;         /* node, or SK_NONE for one below the root */
  int32_t scale_node;     /* node whose scale multiplies the own one, or SK_NONE; only for other kinds than ALL */
  double values[3][3];    /* Lcl Translation, Rotation (degrees), Scaling at rest; by sk_path */
  double pre[4], post_inverse[4]; /* rotations, unit quaternions */
  double rotation_offset[3], rotation_pivot[3], scaling_offset[3], scaling_pivot[3];
  double geometric[12];   /* affine: from the vertices of the node's mesh to the node */
  uint8_t order;          /* of the rotation: XYZ, XZY, YZX, YXZ, ZXY, ZYX; the first is applied first */
  uint8_t inherit;        /* fbx_inherit */
  bool is_scaled;         /* its own scale is not always 1 */
  bool is_split;          /* has a joint without its scale, for children that do not inherit all of it */
  bool has_geometric;
  bool is_hidden;         /* its own mesh is not drawn: it is not visible, or Show is 0 */
  bool is_visible;        /* Visibility, of a node that inherits it also that of its parent */
  bool has_pivots;        /* the translation depends on rotation and scale */
  int32_t joint;          /* that has the node's name and its global transform */
  int32_t unscaled;       /* the joint without the scale; the same as `joint` if the node is not split */
} fbx_node;

typedef struct fbx_layer { /* of a stack */
  uint32_t object;
  double weight;        /* 0 to 1, at rest */
  uint32_t weight_curve; /* or FBX_NONE */
  bool is_first, adds, blends, multiplies_rotation, multiplies_scale, is_off;
} fbx_layer;

typedef struct fbx_value_source { /* what one layer says of one property: three curves, or values without a curve */
  uint32_t layer;              /* number within the stack */
  uint32_t curves[3];          /* in scene.curves, or FBX_NONE */
  double fixed[3];
} fbx_value_source;

typedef struct fbx_track { /* a property that a stack animates */
  uint32_t object;         /* a model, or a channel of a blend shape: an object, or an inner shape */
  uint8_t path;            /* sk_path; SK_PATH_WEIGHT: DeformPercent */
  size_t first, count;     /* in stack.sources, in the order of the layers */
} fbx_track;

typedef struct fbx_stack {
  uint32_t object;
  double start, stop;      /* units of time of the file */
  bool is_animated;        /* a layer has a curve, of any property */
  bool has_range;          /* the file states the range; else it is that of the keys */
  sk_array layers;         /* fbx_layer */
  sk_array sources;        /* fbx_value_source */
  sk_array tracks;         /* fbx_track, by object, then by path */
} fbx_stack;

typedef struct fbx_inner_shape { /* a shape inside a geometry, as version 7.1 has them; it is its own channel */
  uint32_t geometry;
  const char *name; /* in the bytes of the file; also the property of the geometry that is its percent */
  size_t name_length, inside, inside_end;
} fbx_inner_shape;

typedef struct fbx_scene {
  fbx_document document;
  sk_array inner_shapes; /* fbx_inner_shape; as channels they have the numbers after those of the objects */
  sk_array nodes;   /* fbx_node: depth first, children in file order */
  sk_array stacks;  /* fbx_stack, in file order */
  sk_array playing; /* uint32_t: numbers of the stacks that animate something */
  sk_array curves;  /* fbx_curve */
  uint32_t *curve_of; /* of each object its number in curves, or FBX_NONE */
  int32_t *node_of;   /* of each object its node, or SK_NONE */
  double axes[12];    /* affine: from the axes of the file to +Y up */
  bool turns_axes;
} fbx_scene;

/* The two steps of fbx_open_scene that are in import_fbx_node.c: the tree of nodes, and, once the stacks are known, which
   nodes are split. */
sk_status fbx_read_nodes(fbx_scene *scene);
void fbx_split_nodes(fbx_scene *scene);

sk_status fbx_open_scene(import_job *job, fbx_scene *scene);
/* The number of the geometry's first inner shape; its others follow. One too many if there is none. */
size_t fbx_first_inner_shape(const fbx_scene *scene, uint32_t geometry);
/* The percent of a channel at rest: of an object, or of an inner shape. */
double fbx_rest_percent(const fbx_scene *scene, uint32_t channel);
void fbx_close_scene(fbx_scene *scene);

static inline fbx_node *fbx_node_at(const fbx_scene *scene, size_t node) {
  return (fbx_node *)scene->nodes.data + node;
}
static inline fbx_stack *fbx_stack_at(const fbx_scene *scene, size_t stack) {
  return (fbx_stack *)scene->stacks.data + stack;
}

/* The weight of a layer, 0 to 1, from the percent of the file. */
double fbx_layer_weight(double percent);
/* The track of a property, or NULL if the stack does not animate it. A stack of NULL animates nothing. */
const fbx_track *fbx_find_track(const fbx_stack *stack, uint32_t object, sk_path path);
/* The value of a property at a time, in units of the file; `values` holds the value at rest, and gets the result. */
void fbx_track_values(const fbx_scene *scene, const fbx_stack *stack, const fbx_track *track, double time,
                      const fbx_node *node, double values[3]);
/* The transform of a node from the joint of its parent: pivots, rotation order, and scale inheritance included. `wanted`
   has a bit for each sk_path that is needed; the others may be undefined. */
void fbx_node_trs(const fbx_scene *scene, const fbx_stack *stack, size_t node, double time, unsigned wanted,
                  fbx_trs *trs);
#define FBX_ALL_PATHS 7u
/* Calls `take` for each track on which a component of a node's transform depends. */
void fbx_node_tracks(const fbx_scene *scene, const fbx_stack *stack, size_t node, sk_path path,
                     void (*take)(void *context, const fbx_track *track), void *context);

/* Rotation of Euler angles in degrees, in an order of fbx_node. */
void fbx_quat_from_euler(const double degrees[3], int order, double out[4]);

#endif
