/* sk_block.h: the model block: one flat, versioned, position-independent piece of memory.

    header | table of sections | section | section | ...      little-endian, sections aligned to 64 bytes

   The importer writes a block; sk_block_open reads it and trusts nothing in it. Files (.skn), pickles and other
   processes carry it unchanged. A block holds either a whole model or only clips (sk_info.kind). A block of clips names
   its joints, morph targets and materials, and has neither parents nor a rest pose.

   Matrices are row-major for column vectors, quaternions are x y z w, times are seconds. */
#ifndef SK_BLOCK_H
#define SK_BLOCK_H

#include "../base/sk_base.h"

#define SK_BLOCK_MAGIC   "SKNBLK\r\n" /* 8 bytes; CR LF reveals a transfer that converted line ends */
#define SK_BLOCK_VERSION 5u

/* ---- sections -------------------------------------------------------------- */

/* One line per section: name, type of an element, elements per row, and the rule for the number of rows
   (sk_row_rule in sk_block_layout.h). J joints, V vertices, F faces, S slots, M morph targets; K = info.influences. A
   section without rows is absent. */
#define SK_SECTION_TABLE(ROW)                                                           \
  ROW(INFO, sk_info, 1, ONE)                    /* what the block is, and its counts */ \
  ROW(TEXT, char, 1, OWN)                       /* all strings, addressed by sk_text */ \
  ROW(JOINT_NAMES, sk_text, 1, JOINTS)                                                  \
  ROW(JOINT_PARENTS, int32_t, 1, JOINTS)        /* -1 = a root; parents come first */   \
  ROW(REST_TRANSLATION, float, 3, JOINTS)                                               \
  ROW(REST_ROTATION, float, 4, JOINTS)          /* unit quaternions */                  \
  ROW(REST_SCALE, float, 3, JOINTS)                                                     \
  ROW(REST_LOCAL, float, 16, JOINTS)            /* may hold shear that T*R*S cannot */  \
  ROW(SLOT_JOINTS, int32_t, 1, SLOTS)                                                   \
  ROW(SLOT_INVERSE_BIND, float, 16, SLOTS)                                              \
  ROW(POSITIONS, float, 3, VERTICES)                                                    \
  ROW(NORMALS, float, 3, VERTICES)                                                      \
  ROW(UVS, float, 2, VERTICES_OR_NONE)                                                  \
  ROW(COLORS, float, 4, VERTICES_OR_NONE)                                               \
  ROW(TANGENTS, float, 4, VERTICES_OR_NONE)                                             \
  ROW(VERTEX_SLOTS, uint16_t, 0, INFLUENCES)    /* (V,K) */                             \
  ROW(VERTEX_WEIGHTS, float, 0, INFLUENCES)     /* (V,K), descending, sum 1 */          \
  ROW(FACES, uint32_t, 3, FACES)                                                        \
  ROW(TARGETS, sk_target, 1, TARGETS)                                                   \
  ROW(TARGET_VERTICES, uint32_t, 1, OWN)        /* which vertices the targets move */   \
  ROW(TARGET_POSITIONS, float, 3, MOVED)        /* by how much */                       \
  ROW(TARGET_NORMALS, float, 3, MOVED_OR_NONE)                                          \
  ROW(SUBMESHES, sk_submesh, 1, OWN)                                                    \
  ROW(MATERIALS, sk_material, 1, OWN)                                                   \
  ROW(TEXTURES, sk_texture, 1, OWN)                                                     \
  ROW(TEXTURE_DATA, uint8_t, 1, OWN)            /* encoded images, one after another */ \
  ROW(CLIPS, sk_clip_record, 1, OWN)                                                    \
  ROW(CHANNELS, sk_channel, 1, OWN)                                                     \
  ROW(TIMES, double, 1, OWN)                    /* key times, seconds */                \
  ROW(VALUES, float, 1, OWN)                    /* keys and tangents */                 \
  ROW(REPORT, sk_report_entry, 1, OWN)                                                  \
  ROW(EVENTS, sk_event, 1, OWN)                                                         \
  ROW(EXTRAS, char, 1, OWN)                     /* a JSON object: docs/block.md */

typedef enum sk_section_kind {
#define SK_SECTION_NAME(name, type, width, rows) SK_SECTION_##name,
  SK_SECTION_TABLE(SK_SECTION_NAME)
#undef SK_SECTION_NAME
      SK_SECTION_COUNT
} sk_section_kind;

/* ---- records: fixed sizes, no hidden padding -------------------------------- */

typedef struct sk_text { /* a string: bytes as the file has them, usually UTF-8; no final zero */
  uint32_t offset, length; /* in SK_SECTION_TEXT */
} sk_text;

typedef enum sk_block_kind { SK_BLOCK_MODEL = 1, SK_BLOCK_CLIPS = 2 } sk_block_kind;

typedef enum sk_axis {
  SK_AXIS_UNKNOWN,
  SK_AXIS_POS_X,
  SK_AXIS_NEG_X,
  SK_AXIS_POS_Y,
  SK_AXIS_NEG_Y,
  SK_AXIS_POS_Z,
  SK_AXIS_NEG_Z,
  SK_AXIS_COUNT
} sk_axis;

typedef struct sk_info {
  uint32_t kind;         /* sk_block_kind */
  uint32_t influences;   /* K, 1 to SK_MAX_INFLUENCES */
  uint32_t joints, slots;
  uint64_t vertices, faces;
  double unit_meters;    /* meters in one unit of scene space; 0 = unknown */
  uint32_t up;           /* sk_axis */
  sk_text source_format; /* such as "gltf" */
  uint32_t targets;      /* M */
  uint32_t reserved[2];  /* 0 */
} sk_info;

typedef enum sk_submesh_flag {
  SK_SUBMESH_HIDDEN = 1 /* not drawn; its vertices are posed and stored as all others are */
} sk_submesh_flag;

typedef struct sk_submesh {
  sk_text name;
  int32_t node;     /* the joint of the node that has the mesh */
  int32_t material; /* SK_NONE = none */
  uint32_t first_vertex, vertex_count;
  uint32_t first_face, face_count;
  uint32_t flags;    /* sk_submesh_flag */
  uint32_t reserved; /* 0 */
} sk_submesh;

typedef enum sk_alpha { SK_ALPHA_OPAQUE, SK_ALPHA_MASK, SK_ALPHA_BLEND, SK_ALPHA_COUNT } sk_alpha;

/* A morph target: differences for some vertices, in units of the mesh, which are added in proportion to a weight. A
   target belongs to the mesh of one node: two nodes with the same mesh have separate targets. In a block of clips,
   targets only have names. */
typedef struct sk_target {
  sk_text name;
  int32_t node;         /* the joint of the node whose mesh it changes */
  float default_weight;
  uint64_t first, count; /* rows of TARGET_VERTICES and its neighbors; vertices increase */
} sk_target;

typedef enum sk_wrap { SK_WRAP_REPEAT, SK_WRAP_CLAMP_TO_EDGE, SK_WRAP_MIRRORED_REPEAT, SK_WRAP_COUNT } sk_wrap;

typedef enum sk_filter { /* of a texture, as in glTF; DEFAULT leaves the choice to the renderer */
                         SK_FILTER_DEFAULT,
                         SK_FILTER_NEAREST,
                         SK_FILTER_LINEAR,
                         SK_FILTER_MAG_COUNT, /* those that follow use mipmaps, and are for `min_filter` alone */
                         SK_FILTER_NEAREST_MIPMAP_NEAREST = SK_FILTER_MAG_COUNT,
                         SK_FILTER_LINEAR_MIPMAP_NEAREST,
                         SK_FILTER_NEAREST_MIPMAP_LINEAR,
                         SK_FILTER_LINEAR_MIPMAP_LINEAR,
                         SK_FILTER_MIN_COUNT
} sk_filter;

typedef struct sk_material {
  sk_text name;
  float base_color[4];  /* linear RGB and alpha; multiplies the texture */
  int32_t texture;      /* base-color texture in TEXTURES; SK_NONE = none */
  uint32_t double_sided;
  uint32_t alpha;       /* sk_alpha */
  float alpha_cutoff;   /* for SK_ALPHA_MASK */
  float uv_transform[6]; /* two rows of a 3x3 for columns (u, v, 1); applied to the uvs */
  uint8_t wrap_u, wrap_v;         /* sk_wrap of the texture */
  uint8_t min_filter, mag_filter; /* sk_filter of the texture */
} sk_material;

typedef struct sk_texture {
  sk_text name;          /* the file's path as the model gives it, or "*0" for an embedded one */
  sk_text format;        /* "png", "jpg", ..., from its content; "rgba8" = raw rows, top first */
  uint32_t width, height; /* for "rgba8" alone, else 0 */
  uint64_t offset, length; /* in TEXTURE_DATA */
} sk_texture;

/* What a channel changes. One line per path: name, floats in one key, and what the channel's index refers to. A pose
   consists of the first four; poses, palettes and compiled clips ignore the others. All are glTF's: metallic_factor and
   the like of its materials, and uv_... of KHR_texture_transform of the base color. */
#define SK_PATH_TABLE(ROW)                                                   \
  ROW(TRANSLATION, 3, JOINT)                                                 \
  ROW(ROTATION, 4, JOINT)                                                    \
  ROW(SCALE, 3, JOINT)                                                       \
  ROW(WEIGHT, 1, TARGET)                                                     \
  ROW(VISIBILITY, 1, JOINT) /* 0: the node and all below it are not drawn */ \
  ROW(BASE_COLOR_FACTOR, 4, MATERIAL)                                        \
  ROW(METALLIC_FACTOR, 1, MATERIAL)                                          \
  ROW(ROUGHNESS_FACTOR, 1, MATERIAL)                                         \
  ROW(EMISSIVE_FACTOR, 3, MATERIAL)                                          \
  ROW(EMISSIVE_STRENGTH, 1, MATERIAL)                                        \
  ROW(ALPHA_CUTOFF, 1, MATERIAL)                                             \
  ROW(NORMAL_SCALE, 1, MATERIAL)                                             \
  ROW(OCCLUSION_STRENGTH, 1, MATERIAL)                                       \
  ROW(UV_OFFSET, 2, MATERIAL)                                                \
  ROW(UV_ROTATION, 1, MATERIAL) /* radians */                                \
  ROW(UV_SCALE, 2, MATERIAL)

typedef enum sk_path {
#define SK_PATH_NAME(name, width, owner) SK_PATH_##name,
  SK_PATH_TABLE(SK_PATH_NAME)
#undef SK_PATH_NAME
      SK_PATH_COUNT
} sk_path;

typedef enum sk_path_owner { SK_OWNER_JOINT, SK_OWNER_TARGET, SK_OWNER_MATERIAL } sk_path_owner;

typedef enum sk_interpolation { SK_STEP, SK_LINEAR, SK_CUBIC, SK_INTERPOLATION_COUNT } sk_interpolation;

typedef enum sk_clip_flag {
  SK_CLIP_ADDITIVE = 1 /* its channels hold differences: T and weights to add, R and S to multiply */
} sk_clip_flag;

typedef struct sk_clip_record {
  sk_text name;
  double duration;         /* seconds, >= 0 */
  double ticks_per_second; /* > 0 */
  uint32_t first_channel, channel_count; /* in CHANNELS; every channel belongs to one clip */
  uint32_t flags;                        /* sk_clip_flag */
  uint32_t first_event, event_count;     /* in EVENTS; every event belongs to one clip */
  uint32_t motion_count;   /* keys of the root motion, 0 = none */
  uint64_t motion_times;   /* index of the first key in TIMES; SK_NONE64 = none */
  uint64_t motion_values;  /* index of the first float in VALUES: per key a translation and a unit quaternion */
} sk_clip_record;

#define SK_MOTION_WIDTH 7u /* floats in one key of the root motion */

typedef struct sk_event { /* something that happens in a clip, such as a footstep */
  double time;            /* seconds, 0 to the clip's duration; the events of a clip are sorted */
  sk_text name;
} sk_event;

typedef struct sk_channel {
  int32_t joint;         /* or the morph target or material, by sk_owner_of(path) */
  uint8_t path;          /* sk_path */
  uint8_t interpolation; /* sk_interpolation */
  uint16_t in_cells; /* 1: each key fills a cell (three numbers are followed by 0), and the last is stored twice */
  uint32_t key_count; /* > 0 */
  uint32_t stride; /* floats from one key to the next; 0: one value is stored for all keys */
  uint64_t times; /* first key in TIMES; channels with equal times may share them */
  uint64_t values; /* first float in VALUES */
  uint64_t in_tangents, out_tangents; /* likewise, units per second; SK_NONE64 unless cubic */
} sk_channel;

#define SK_CELL           4 /* floats of a cell: x y z and w or 0 */
/* Maximum number of keys in all channels that store one value: they need no memory, but checking their times needs
   time. */
#define SK_MAX_STILL_KEYS (UINT64_C(1) << 28)

/* Floats in one key of the path; 0 for a path that does not exist. */
uint32_t sk_path_width(sk_path path);
/* What the index of a channel with this path refers to, and the name of that for messages. */
sk_path_owner sk_owner_of(sk_path path);
const char *sk_owner_name(sk_path path);
/* Whether the path is a component of a joint's transform. */
static inline bool sk_path_moves_joint(sk_path path) { return path < SK_PATH_WEIGHT; }

/* Number of values that a channel stores: one per key, or one for all keys. */
static inline uint32_t sk_channel_stored(const sk_channel *channel) { return channel->stride ? channel->key_count : 1; }

/* Key k of an array of the channel in VALUES; `array` is the channel's values, in_tangents or out_tangents. */
static inline const float *sk_channel_key(const float *values, const sk_channel *channel, uint64_t array, uint32_t k) {
  return values + array + (uint64_t)k * channel->stride;
}

typedef enum sk_severity { SK_REPAIRED, SK_LOST, SK_SEVERITY_COUNT } sk_severity;

typedef struct sk_report_entry {
  sk_text code; /* stable, such as "weights_normalized" */
  uint32_t severity; /* sk_severity */
  uint32_t reserved; /* 0 */
  uint64_t count;
  sk_text first; /* the first case, as a text such as "joint 'Hips'" */
  sk_text message; /* one sentence */
} sk_report_entry;

/* ---- writing --------------------------------------------------------------- */

/* One section to write; `data` is borrowed and may be NULL where count is 0. */
typedef struct sk_block_part {
  uint32_t kind; /* sk_section_kind */
  uint32_t stride; /* bytes of one row */
  uint64_t count; /* rows */
  const void *data;
} sk_block_part;

/* Bytes of one row of a section. `influences` matters only for VERTEX_SLOTS and VERTEX_WEIGHTS. */
uint32_t sk_section_stride(sk_section_kind kind, uint32_t influences);
const char *sk_section_name(sk_section_kind kind);

/* Joins the sections into one new block, which sk_free frees. Sections of 0 rows are left out. The contents are copied
   and not checked: sk_block_open checks them. */
sk_status sk_block_write(const sk_block_part *parts, size_t part_count, void **block, size_t *size, sk_error *error);

/* A range of bytes of a block that is being written; borrowed. */
typedef struct sk_block_piece {
  const void *data;
  size_t size;
} sk_block_piece;

/* A destination for a block that is not written to memory of sk_alloc. */
typedef struct sk_block_sink {
  /* Receives the whole block at once, in order. Returns false if it runs out of memory. */
  bool (*take)(void *context, const sk_block_piece *pieces, size_t count, size_t size);
  void *context;
} sk_block_sink;

/* Gives the block that sk_block_write would make to `sink`, without copying the sections first. */
sk_status sk_block_pour(const sk_block_part *parts, size_t part_count, const sk_block_sink *sink, size_t *size,
                        sk_error *error);

/* Appends a string to the section TEXT of a block under construction, and writes its offset and length to `text`. False
   if there is no memory. */
bool sk_text_append(sk_array *pool, const char *bytes, size_t length, sk_text *text);

/* ---- reading --------------------------------------------------------------- */

/* A section of an opened block; `data` is NULL and `rows` 0 if the section is absent. */
typedef struct sk_section {
  const void *data; /* in block */
  uint64_t rows;
  uint32_t stride;
} sk_section;

/* A checked block: pointers into the memory of the caller. It owns nothing. */
typedef struct sk_block {
  const void *memory; /* not owned */
  size_t size;
  const sk_info *info;
  sk_section sections[SK_SECTION_COUNT];
} sk_block;

/* Opens and checks a block: magic, version, lengths, offsets, alignment, every index, parents before children, keys in
   order, finite values, unit rest rotations, weights that sum to 1. `memory` must be aligned to 8 bytes, stays the
   caller's, and must be valid until the last use of `block`; it is never written. */
sk_status sk_block_open(const void *memory, size_t size, sk_block *block, sk_error *error);

#endif
