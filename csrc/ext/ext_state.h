/* ext_state.h: the state of the module `_core`, its types, and the functions that its files share.

   csrc/ext is the boundary between Python and the core. Each function of Python does the same five steps: it parses its
   arguments, converts them (holding references), validates the job with the GIL, runs it, and builds the result. It
   releases the GIL while the job runs, if the job takes long enough. */
#ifndef EXT_STATE_H
#define EXT_STATE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdatomic.h>

#include "../core/pose/sk_compile.h"
#include "../core/skin/sk_deform.h"
#include "../core/model/sk_model.h"
#include "../core/pose/sk_palette.h"

/* Releasing the GIL takes about 43 ns, so it is not worth it for jobs below some 5 us. */
#define EXT_RELEASE_NANOSECONDS 5000.0

/* Several threads may run this code at the same time: those that released the GIL, and all threads of a
   free-threaded Python. Objects are complete before another thread can see them and do not change afterwards, except
   for atomic fields. Those are set once: if two threads make a value at the same time, the second one frees its own
   and uses the first. */

/* One state per module object. traverse, clear and free list the same fields in this order. */
typedef struct ext_state {
  PyObject *block_type, *model_type, *clip_type, *pose_type;
  PyObject *load_error;    /* skinpy.errors.LoadError, and the classes that derive from it: */
  PyObject *importer_crashed, *limit_exceeded, *format_refused;
  PyObject *printable;     /* skinpy._text.printable(text) -> str */
  PyObject *unknown_name;  /* skinpy.errors.unknown_name(what, name, names) -> KeyError */
  PyObject *unknown_clip_number; /* skinpy.errors.unknown_clip_number(argument, number, names) -> IndexError */
  PyObject *importer_lock; /* one import at a time: Assimp's error text is global */
  _Atomic(const struct sk_importer *) importer; /* NULL before the first import in this process */
  _Atomic(uint64_t) last_serial;                /* serial number of the newest block */
} ext_state;

ext_state *ext_state_of_module(PyObject *module);
/* The class is one of ours or derives from one. Ours are immutable; classes that Python code makes are not. */
ext_state *ext_state_of_class(PyTypeObject *class);

/* ---- types: each file adds its own to the module ---------------------------------- */

/* The compiled forms of one clip, a list; see ext_compiled.c. */
typedef _Atomic(struct ext_compiled_entry *) ext_compiled_list;

/* A block and its memory, which belongs to it or is a buffer of another object. */
typedef struct ext_block {
  PyObject_HEAD sk_model model;
  void *memory;             /* owned, or NULL */
  void (*release)(void *);  /* frees memory; NULL: memory is mapped, or belongs to buffer */
  size_t mapped;            /* bytes of memory that came from a worker, for worker_unmap; else 0 */
  Py_buffer buffer;         /* held if buffer.obj is not NULL; then it has the block */
  uint64_t serial;          /* no other block of this process has the same number */
  struct ext_block *rig;    /* the block that this one completes, or NULL; see ext_same_rig */
  _Atomic(ext_compiled_list *) compiled; /* one list for each clip; NULL before a clip is first played */
  _Atomic(sk_influences *) influences;   /* of the mesh, for the SIMD kernel of deform; NULL before its first use */
} ext_block;

typedef struct ext_model {
  PyObject_HEAD ext_block *block;
  PyObject *clips;   /* tuple of (name, Block, index in the block) */
  PyObject *numbers; /* dict of name to position in clips; the first of equal names counts */
} ext_model;

/* A clip of a block, which may be bound to a model. */
typedef struct ext_clip {
  PyObject_HEAD ext_block *block;
  ext_block *bound_to; /* the block of the model, or NULL */
  uint32_t index;      /* in block */
  sk_clip clip;
} ext_clip;

/* A pose or many: arrays of the caller, whose shapes are checked again in every call. */
typedef struct ext_pose {
  PyObject_HEAD ext_block *block; /* of the model */
  PyObject *translation, *rotation, *scale, *morph_weights;
  PyObject *root; /* array or None */
} ext_pose;

int ext_block_register(PyObject *module, ext_state *state);
int ext_model_register(PyObject *module, ext_state *state);
int ext_clip_register(PyObject *module, ext_state *state);
int ext_pose_register(PyObject *module, ext_state *state);
int ext_frames_register(PyObject *module);
int ext_goal_register(PyObject *module);
int ext_threads_register(PyObject *module);

/* Whether what belongs to the model of one block belongs to that of the other: both are the same block, or complete the
   same one. A pickle may have a clip or a pose first, with the rig of its model (the joints, slots and morph targets),
   and the whole model later. */
int ext_same_rig(const ext_block *block, const ext_block *other);

/* Whether the clips of one block can be played by the model of another: it must have the same number of joints and at
   least as many morph targets. 0 with a ValueError if not. */
int ext_check_counts(const ext_block *clips, const ext_block *model);

/* Returns clip `index` of `block`, compiled for `model`; the first call compiles it. NULL if the plain path must be
   used. The result belongs to `block`. See ext_compiled.c. */
const sk_compiled *ext_compiled(ext_block *block, uint32_t index, const ext_block *model);
size_t ext_compiled_bytes(const ext_block *block, uint32_t index);
void ext_compiled_free(ext_block *block);

/* Return a new Block, after checking it, or NULL with an exception. They take ownership of `memory`, also when they
   fail. ext_block_new frees it with release(memory), ext_block_map, for the result of a worker, with worker_unmap. */
PyObject *ext_block_new(ext_state *state, void *memory, size_t size, void (*release)(void *));
PyObject *ext_block_map(ext_state *state, void *memory, size_t size);

/* Returns a new tuple of the names of the clips, in order. */
PyObject *ext_clip_names(ext_block *block);

/* Functions of the module; see ext_import.c. */
PyObject *ext_load_file(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *ext_start_importer(PyObject *module, PyObject *args);
PyObject *ext_sandbox(PyObject *module, PyObject *isolation);
PyObject *ext_build_info(PyObject *module, PyObject *unused);
extern const char ext_load_file_doc[], ext_start_importer_doc[], ext_sandbox_doc[], ext_build_info_doc[];

/* Methods of Model and a function of the module; see ext_mix.c and ext_deform.c. */
PyObject *ext_mix_pose(PyObject *model, PyTypeObject *class, PyObject *const *args, Py_ssize_t count,
                       PyObject *keywords);
PyObject *ext_mix_palette(PyObject *model, PyTypeObject *class, PyObject *const *args, Py_ssize_t count,
                          PyObject *keywords);
PyObject *ext_deform(PyObject *model, PyTypeObject *class, PyObject *const *args, Py_ssize_t count, PyObject *keywords);
extern const char ext_deform_doc[];
PyObject *ext_blend(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *keywords);

/* A method of Model; see ext_crowd.c. */
PyObject *ext_crowd_palette(PyObject *model, PyTypeObject *class, PyObject *const *args, Py_ssize_t count,
                            PyObject *keywords);
extern const char ext_crowd_palette_doc[];

#endif
