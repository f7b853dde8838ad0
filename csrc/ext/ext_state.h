/* ext_state.h: what the module `_core` keeps, and the types of its files. The files below csrc/ext
   are the boundary: each binding parses, converts (holding references), validates with the GIL,
   runs without it where the work is long enough, and builds the answer. */
#ifndef EXT_STATE_H
#define EXT_STATE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdatomic.h>

#include "../core/pose/sk_compile.h"
#include "../core/skin/sk_deform.h"
#include "../core/model/sk_model.h"
#include "../core/pose/sk_palette.h"

/* Releasing the GIL costs about 43 ns; below some 5 us of work it is not worth its while. */
#define EXT_RELEASE_NANOSECONDS 5000.0

/* Threads may be in here at the same time, on a free-threaded Python also those that did not give the GIL away.
   What they share is made before anybody else sees it and never changes afterwards, but for the fields that are
   atomic: these are filled in once, and who comes second takes what the first one made. */

/* One state per module object. traverse, clear and free list the same fields in this order. */
typedef struct ext_state {
  PyObject *block_type, *model_type, *clip_type, *pose_type;
  PyObject *load_error;    /* skinpy.errors.LoadError, and what derives from it: */
  PyObject *importer_crashed, *limit_exceeded, *format_refused;
  PyObject *unknown_name;  /* skinpy.errors.unknown_name(what, name, names) -> KeyError */
  PyObject *unknown_clip_number; /* skinpy.errors.unknown_clip_number(argument, number, names) -> IndexError */
  PyObject *importer_lock; /* one import at a time: Assimp's error text is global */
  _Atomic(const struct sk_importer *) importer; /* NULL before the first import */
  _Atomic(uint64_t) last_serial;                /* of the blocks */
} ext_state;

ext_state *ext_state_of_module(PyObject *module);
ext_state *ext_state_of_class(PyTypeObject *defining_class);

/* ---- types; each file adds its own to the module ---------------------------------- */

/* The forms of one clip, compiled for models; see ext_compiled.c. */
typedef _Atomic(struct ext_compiled_entry *) ext_compiled_list;

/* A block and the memory it shows: taken from the core, or a buffer of somebody else. */
typedef struct ext_block {
  PyObject_HEAD
  sk_model model;
  void *memory;             /* owned: freed by release(memory) */
  void (*release)(void *);
  size_t mapped;            /* of memory: bytes that a worker left, and that are unmapped instead */
  Py_buffer buffer;         /* held where buffer.obj is not NULL */
  uint64_t serial;          /* a number that no other block has */
  _Atomic(ext_compiled_list *) compiled; /* (clips,), or NULL before one is first played */
  _Atomic(sk_influences *) influences;   /* of the mesh, for the SIMD twin of deform; NULL before its first use */
} ext_block;

typedef struct ext_model {
  PyObject_HEAD
  ext_block *block;
  PyObject *clips;   /* tuple of (name, Block, index in it) */
  PyObject *numbers; /* dict: name -> position in clips, the first of equal names */
} ext_model;

/* A clip of a block; bound to the model whose block is `bound_to`, or to none. */
typedef struct ext_clip {
  PyObject_HEAD
  ext_block *block;
  ext_block *bound_to; /* may be NULL */
  uint32_t index;      /* in block */
  sk_clip clip;
} ext_clip;

/* Arrays of the caller's; their shapes are looked at afresh in every call. */
typedef struct ext_pose {
  PyObject_HEAD
  ext_block *block; /* of the model */
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

/* Whether clips of `clips`, whose channels were checked against its own counts, fit the model `model`;
   ValueError where they do not. */
int ext_check_counts(const ext_block *clips, const ext_block *model);

/* Clip `index` of `block`, compiled for the skeleton of `model` when this is first asked; NULL where the plain
   path is to be taken. It lives as long as `block`. See ext_compiled.c. */
const sk_compiled *ext_compiled(ext_block *block, uint32_t index, const ext_block *model);
size_t ext_compiled_bytes(const ext_block *block, uint32_t index);
void ext_compiled_free(ext_block *block);

/* A new Block over `memory`, which it owns from now on (also when this fails). */
PyObject *ext_block_new(ext_state *state, void *memory, size_t size, void (*release)(void *));
PyObject *ext_block_map(ext_state *state, void *memory, size_t size); /* of a worker */

/* A tuple of str, in the order of the clips. */
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
PyObject *ext_deform(PyObject *model, PyTypeObject *class, PyObject *const *args, Py_ssize_t count,
                     PyObject *keywords);
extern const char ext_deform_doc[];
PyObject *ext_blend(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *keywords);

/* A method of Model; see ext_crowd.c. */
PyObject *ext_crowd_palette(PyObject *model, PyTypeObject *class, PyObject *const *args, Py_ssize_t count,
                            PyObject *keywords);
extern const char ext_crowd_palette_doc[];

#endif
