/* import_fbx.h: an FBX file, which is read again for what Assimp does not deliver.

   Binary and text are the same tree of records: a name, values, and a list of records or none. Nothing here copies the
   file: records are known by their offsets in it, which are checked whenever one is read. */
#ifndef IMPORT_FBX_H
#define IMPORT_FBX_H

#include "../import_clip.h"
#include "../import_morph.h"

#define FBX_SECOND 46186158000.0 /* FBX counts time in whole numbers of which this many are a second */
#define FBX_NONE   UINT32_MAX

/* ---- what the steps of the format's row do --------------------------------------- */

/* Before Assimp: puts a file in the model's place in which the ranges of the stacks drop no keys. Makes job->fbx. */
sk_status import_fbx_open(import_job *job);
/* When the joints are there: axes without a curve get the value that the file gives them. */
sk_status import_fbx_correct(import_job *job);
/* The range of the stack that an animation of the scene was made of; all time where no stack fits. */
import_range import_fbx_range(const import_job *job, unsigned animation);
/* Sets job->shapes_between. */
void import_fbx_look_at_shapes(import_job *job);
/* The weights of a submesh's targets at rest, and those in keys that show all of a target: 1, or less. */
void import_fbx_weights(import_job *job, const import_submesh *submesh, import_weight_rule *weights, uint32_t count);
/* Unit and axes. */
void import_fbx_space(import_job *job);
/* Notes what FBX has and Assimp does not tell: layers, and scale that is not inherited. */
void import_fbx_note(import_job *job);
void import_fbx_close(import_job *job);

/* ---- import_fbx.c: records ------------------------------------------------------ */

typedef struct fbx_file {
  const uint8_t *data;
  size_t size;
  size_t width; /* bytes of each number of a record's head; 0: it is text */
} fbx_file;

typedef struct fbx_record {
  const char *name;
  size_t length;             /* of the name */
  size_t values, values_end; /* offsets of its values */
  size_t inside, inside_end; /* offsets of the records in it; equal: it has no list */
  size_t end;                /* offset behind the record */
  uint32_t count;            /* of its values; 0 in text, where it is not known */
} fbx_record;

typedef struct fbx_value {
  const char *text; /* NULL: a number */
  size_t length;
  double number;
  int64_t whole;    /* the number, or the id of an object */
} fbx_value;

bool fbx_is_binary(const import_source *file);
fbx_file fbx_open(const import_source *source);
/* The offset of the first record. */
size_t fbx_first(const fbx_file *file);
/* Reads the record at `at`; false where the list ends, or the record does not end before `limit`. */
bool fbx_read_record(const fbx_file *file, size_t at, size_t limit, fbx_record *record);
/* Finds the first record of a name in a list. */
bool fbx_find(const fbx_file *file, size_t at, size_t limit, const char *name, fbx_record *record);
/* The same in the file's own list, from `at` on. In a text the end of the record is not looked for. */
bool fbx_enter(const fbx_file *file, size_t at, const char *name, fbx_record *record);
/* The offset behind a list of which `at` was read last. */
size_t fbx_behind_list(const fbx_file *file, const fbx_record *list, size_t at);
bool fbx_is_named(const fbx_record *record, const char *name);
/* Reads the first values, `room` of them at most, and returns how many there are; of an array the first number counts.
   */
size_t fbx_read_values(const fbx_file *file, const fbx_record *record, fbx_value *values, size_t room);
/* Reads `count` numbers of a property in an object's Properties70; false leaves `out` as it is. */
bool fbx_property(const fbx_file *file, size_t inside, size_t inside_end, const char *name, fbx_value *out,
                  size_t count);
bool fbx_text_is(const fbx_value *value, const char *word);

/* ---- import_fbx_range.c: what part of its curves a clip is ------------------------ */

/* Seconds: the time that Assimp takes for 0 in the file that import_fbx_open wrote. A power of 2, so that little is
   rounded away; keys before it are lost. */
#define FBX_EARLIEST (-16384.0)

typedef struct fbx_range { /* of an AnimationStack, in units of FBX_SECOND */
  double start; /* the clip's time 0 */
  double stop;
  bool ends;    /* false: no range is stated, and the clip goes to its last key */
} fbx_range;

typedef struct import_fbx { /* what the job keeps */
  sk_array ranges;  /* fbx_range of each stack, in the file's order */
  sk_array objects; /* fbx_object */
  sk_array links;   /* fbx_link */
  sk_array stacks;  /* uint32_t: of which stack each animation of the scene was made */
  import_names models; /* of each name the first object */
  size_t lookup_budget; /* look-ups left: a mesh is looked up again for each of its nodes */
  size_t layers;    /* AnimationLayers of all stacks */
  bool widened;     /* Assimp was given a file whose stacks have another range */
} import_fbx;

/* ---- import_fbx_index.c: which object has what --------------------------------------- */

typedef enum fbx_kind {
  FBX_OTHER,
  FBX_ROOT,
  FBX_MODEL,
  FBX_STACK,
  FBX_LAYER,
  FBX_CURVE_NODE,
  FBX_CURVE,
  FBX_MESH,
  FBX_SHAPE,
  FBX_BLEND,
  FBX_BLEND_CHANNEL
} fbx_kind;

typedef struct fbx_object {
  int64_t id;
  const char *name;          /* without its class */
  size_t length;
  size_t inside, inside_end; /* its records */
  uint32_t order;            /* in the file; of a stack: among the stacks */
  uint32_t owner; /* object, or FBX_NONE: of a layer its stack, of a node its layer, of a model the one above */
  uint32_t target; /* of a curve node: the model that it moves, or FBX_NONE */
  uint8_t kind;
  uint8_t path; /* of a curve node: sk_path */
  bool shares_name; /* a model that is not alone with its name */
  uint8_t axes; /* of a curve node: a bit for each axis that has a curve */
} fbx_object;

typedef struct fbx_link {
  uint32_t to, from, order;
} fbx_link; /* the object `from` belongs to the object `to` */

/* Lists the objects, sorted by their ids, and the links, sorted by `to`. */
sk_status fbx_index(import_job *job);
/* The next object of a kind that belongs to `to`, or FBX_NONE. `*at` is 0 at the first call and is kept between calls.
   */
uint32_t fbx_next_part(const import_job *job, uint32_t to, fbx_kind kind, size_t *at);
/* The only model of that name, or FBX_NONE. */
uint32_t fbx_find_model(const import_job *job, const char *name, size_t length);

#define FBX_HELPER "_$AssimpFbx$_" /* stands between the name of a model and the purpose of its helper node */

#endif
