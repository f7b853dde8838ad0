/* ext_block.c: the type `_core.Block`, a checked model block that supports the buffer protocol. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../core/model/sk_pack.h"
#include "../worker/worker_spawn.h"
#include "ext_args.h"
#include "ext_error.h"

/* ---- making ----------------------------------------------------------------------------- */

static ext_block *block_alloc(PyTypeObject *type) {
  ext_block *self = (ext_block *)PyType_GenericAlloc(type, 0);
  if (self) {
    self->memory = NULL;
    self->release = NULL;
    self->mapped = 0;
    self->buffer.obj = NULL;
    self->rig = NULL;
  }
  return self;
}

static PyObject *block_open(ext_state *state, ext_block *self, const void *memory, size_t size) {
  sk_error error;
  sk_status status;
  self->serial = atomic_fetch_add(&state->last_serial, 1) + 1;
  Py_BEGIN_ALLOW_THREADS status = sk_model_open(memory, size, &self->model, &error);
  Py_END_ALLOW_THREADS if (!status) return (PyObject *)self;
  ext_raise(state, &error, NULL);
  Py_DECREF(self);
  return NULL;
}

PyObject *ext_block_new(ext_state *state, void *memory, size_t size, void (*release)(void *)) {
  ext_block *self = block_alloc((PyTypeObject *)state->block_type);
  if (!self) {
    release(memory);
    return NULL;
  }
  self->memory = memory;
  self->release = release;
  return block_open(state, self, memory, size);
}

PyObject *ext_block_map(ext_state *state, void *memory, size_t size) {
  ext_block *self = block_alloc((PyTypeObject *)state->block_type);
  if (!self) {
    worker_unmap(memory, size);
    return NULL;
  }
  self->memory = memory;
  self->mapped = size;
  return block_open(state, self, memory, size);
}

static PyObject *new_from_copy(ext_state *state, const Py_buffer *buffer) {
  void *memory = sk_alloc((size_t)buffer->len);
  if (!memory) return PyErr_NoMemory();
  memcpy(memory, buffer->buf, (size_t)buffer->len);
  return ext_block_new(state, memory, (size_t)buffer->len, sk_free);
}

int ext_same_rig(const ext_block *block, const ext_block *other) {
  return (block->rig ? block->rig : block) == (other->rig ? other->rig : other);
}

/* Makes the block complete `rig`, which must have as many joints, slots and morph targets: jobs take the poses of one
   with the mesh of the other. Takes the reference to `block`. */
static PyObject *complete(ext_block *block, ext_block *rig) {
  const sk_info *info = block->model.block.info, *old = rig->model.block.info;
  if (info->joints == old->joints && info->slots == old->slots && info->targets == old->targets) {
    block->rig = (ext_block *)Py_NewRef((PyObject *)(rig->rig ? rig->rig : rig));
    return (PyObject *)block;
  }
  PyErr_Format(PyExc_ValueError,
               "the block has %u joints, %u slots and %u morph targets; expected %u, %u and %u as its rig has",
               info->joints, info->slots, info->targets, old->joints, old->slots, old->targets);
  Py_DECREF(block);
  return NULL;
}

static PyObject *new_from_buffer(PyTypeObject *type, ext_state *state, PyObject *data, int copy) {
  PyObject *result;
  ext_block *self;
  Py_buffer buffer;
  if (PyObject_GetBuffer(data, &buffer, PyBUF_SIMPLE)) return NULL;
  if (copy) {
    result = new_from_copy(state, &buffer);
    PyBuffer_Release(&buffer);
    return result;
  }
  self = block_alloc(type);
  if (!self) {
    PyBuffer_Release(&buffer);
    return NULL;
  }
  self->buffer = buffer;
  return block_open(state, self, buffer.buf, (size_t)buffer.len);
}

static PyObject *block_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static char *names[] = {"data", "copy", "rig", NULL};
  PyObject *data, *rig = Py_None, *block;
  int copy = 1;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$pO:Block", names, &data, &copy, &rig)) return NULL;
  if (rig != Py_None && Py_TYPE(rig) != type) {
    ext_refuse_type("rig", rig, "a Block or None");
    return NULL;
  }
  block = new_from_buffer(type, ext_state_of_class(type), data, copy);
  return block && rig != Py_None ? complete((ext_block *)block, (ext_block *)rig) : block;
}

#define READ_BYTES ((size_t)8 << 20) /* read between two checks for signals */

/* Reads `size` bytes, or fewer if the file is shorter, and returns their number; -1 with an exception. */
static Py_ssize_t read_file(int file, char *to, size_t size) {
  size_t had = 0;
  ssize_t got = 1;
  while (had < size && got) {
    size_t step = size - had < READ_BYTES ? size - had : READ_BYTES;
    int number;
    Py_BEGIN_ALLOW_THREADS got = read(file, to + had, step);
    number = errno;
    Py_END_ALLOW_THREADS errno = number;
    if (got < 0 && number != EINTR) {
      PyErr_SetFromErrno(PyExc_OSError);
      return -1;
    }
    if (got > 0) had += (size_t)got;
    if (PyErr_CheckSignals()) return -1;
  }
  return (Py_ssize_t)had;
}

static const char read_doc[] =
    "read($type, descriptor, size, /)\n--\n\n"
    "Return a Block from the next `size` bytes of an open file, or fewer if the file ends before.";

static PyObject *block_read(PyObject *class, PyObject *args) {
  ext_state *state = ext_state_of_class((PyTypeObject *)class);
  Py_ssize_t size, had;
  void *memory;
  int file;
  if (!PyArg_ParseTuple(args, "in:read", &file, &size)) return NULL;
  if (size < 0) {
    PyErr_Format(PyExc_ValueError, "size is %zd; expected 0 or more", size);
    return NULL;
  }
  memory = sk_alloc((size_t)size);
  if (!memory) return PyErr_NoMemory();
  had = read_file(file, memory, (size_t)size);
  if (had >= 0) return ext_block_new(state, memory, (size_t)had, sk_free);
  sk_free(memory);
  return NULL;
}

/* ---- packing ------------------------------------------------------------------------------ */

static int find_section(PyObject *name) {
  int kind;
  for (kind = 0; kind < SK_SECTION_COUNT; kind++)
    if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, sk_section_name(kind)) == 0) return kind;
  PyErr_Format(PyExc_ValueError, "there is no section %R", name);
  return -1;
}

static int pack_section(PyObject *name, Py_buffer *buffer, uint32_t influences, sk_block_part *part) {
  int kind = find_section(name);
  if (kind < 0) return 0;
  part->kind = (uint32_t)kind;
  part->stride = sk_section_stride(kind, influences);
  if ((size_t)buffer->len % part->stride) {
    PyErr_Format(PyExc_ValueError, "section %U has %zd bytes; expected rows of %u", name, buffer->len, part->stride);
    return 0;
  }
  part->count = (uint64_t)buffer->len / part->stride;
  part->data = buffer->buf;
  return 1;
}

/* Returns the block with packed clips, which is `block` itself if they are packed already. Takes the reference to
   `block`, which may be NULL. */
static PyObject *pack_clips(ext_state *state, PyObject *block) {
  void *memory;
  size_t size;
  sk_error error;
  sk_status status;
  if (!block) return NULL;
  Py_BEGIN_ALLOW_THREADS status = sk_pack_block(&((ext_block *)block)->model.block, &memory, &size, &error);
  Py_END_ALLOW_THREADS if (!status && !memory) return block;
  Py_DECREF(block);
  if (!status) return ext_block_new(state, memory, size, sk_free);
  ext_raise(state, &error, NULL);
  return NULL;
}

static const char pack_doc[] =
    "pack($type, sections, influences, /)\n--\n\n"
    "Return a new Block from a dict of C-contiguous buffers with the rows of sections, by names of sections.\n\n"
    "Its clips are packed: CLIPS, CHANNELS and VALUES may change, but not the keys. The block is checked like one\n"
    "from a file; LoadError says what is wrong.";

static PyObject *block_pack(PyObject *class, PyObject *args) {
  ext_state *state = ext_state_of_class((PyTypeObject *)class);
  Py_buffer buffers[SK_SECTION_COUNT];
  sk_block_part parts[SK_SECTION_COUNT];
  PyObject *sections, *items, *result = NULL;
  unsigned influences;
  size_t count = 0, size;
  sk_error error;
  void *memory;
  if (!PyArg_ParseTuple(args, "O!I:pack", &PyDict_Type, &sections, &influences)) return NULL;
  if (influences < 1 || influences > SK_MAX_INFLUENCES) {
    PyErr_Format(PyExc_ValueError, "influences is %u; expected 1 to %d", influences, SK_MAX_INFLUENCES);
    return NULL;
  }
  items = PyDict_Items(sections); /* a new list, which no other thread can change */
  if (!items) return NULL;
  if (PyList_Size(items) > SK_SECTION_COUNT) {
    PyErr_SetString(PyExc_ValueError, "there are more sections than kinds of sections");
    goto done;
  }
  while ((Py_ssize_t)count < PyList_Size(items)) {
    PyObject *item = PyList_GetItem(items, (Py_ssize_t)count);
    if (PyObject_GetBuffer(PyTuple_GetItem(item, 1), &buffers[count], PyBUF_SIMPLE)) goto done;
    count++;
    if (!pack_section(PyTuple_GetItem(item, 0), &buffers[count - 1], influences, &parts[count - 1])) goto done;
  }
  if (sk_block_write(parts, count, &memory, &size, &error)) ext_raise(state, &error, NULL);
  else result = pack_clips(state, ext_block_new(state, memory, size, sk_free));
done:
  while (count) PyBuffer_Release(&buffers[--count]);
  Py_DECREF(items);
  return result;
}

/* ---- showing ------------------------------------------------------------------------------- */

static PyObject *block_sections(PyObject *object, void *unused) {
  const sk_block *block = &((ext_block *)object)->model.block;
  PyObject *sections = PyDict_New();
  int kind;
  (void)unused;
  for (kind = 0; sections && kind < SK_SECTION_COUNT; kind++) {
    const sk_section *section = &block->sections[kind];
    PyObject *location;
    if (!section->data) continue;
    location = Py_BuildValue("(nKI)", (Py_ssize_t)((const char *)section->data - (const char *)block->memory),
                             (unsigned long long)section->rows, section->stride);
    if (!location || PyDict_SetItemString(sections, sk_section_name(kind), location)) Py_CLEAR(sections);
    Py_XDECREF(location);
  }
  return sections;
}

/* Returns a string of the block as a new str. `text` may be NULL if all strings are empty. */
static PyObject *decode(const char *text, sk_text span) {
  return PyUnicode_DecodeUTF8(span.length ? text + span.offset : "", (Py_ssize_t)span.length, "surrogateescape");
}

PyObject *ext_clip_names(ext_block *block) {
  const sk_model *model = &block->model;
  const sk_clip_record *clips = model->block.sections[SK_SECTION_CLIPS].data;
  const char *text = model->block.sections[SK_SECTION_TEXT].data;
  PyObject *names = PyTuple_New((Py_ssize_t)model->clip_count);
  uint32_t i;
  for (i = 0; names && i < model->clip_count; i++) {
    PyObject *decoded = decode(text, clips[i].name);
    if (!decoded) {
      Py_CLEAR(names);
      break;
    }
    PyTuple_SetItem(names, i, decoded);
  }
  return names;
}

static PyObject *block_clip_names(PyObject *object, void *unused) {
  (void)unused;
  return ext_clip_names((ext_block *)object);
}

/* The words are those of skinpy.ReportEntry. */
static PyObject *loss_words(const char *text, const sk_report_entry *entry) {
  PyObject *message = decode(text, entry->message), *first = decode(text, entry->first), *words = NULL;
  if (message && first)
    words = PyUnicode_FromFormat("%U (%llu times, first: %U)", message, (unsigned long long)entry->count, first);
  Py_XDECREF(message);
  Py_XDECREF(first);
  return words;
}

static PyObject *block_losses(PyObject *object, void *unused) {
  const sk_block *block = &((ext_block *)object)->model.block;
  const sk_section *section = &block->sections[SK_SECTION_REPORT];
  const sk_report_entry *entry = section->data, *end = entry + section->rows;
  PyObject *list, *losses;
  (void)unused;
  while (entry < end && entry->severity != SK_LOST) entry++;
  if (entry == end) return PyTuple_New(0);
  list = PyList_New(0);
  for (; list && entry < end; entry++) {
    PyObject *words;
    if (entry->severity != SK_LOST) continue;
    words = loss_words(block->sections[SK_SECTION_TEXT].data, entry);
    if (!words || PyList_Append(list, words)) Py_CLEAR(list);
    Py_XDECREF(words);
  }
  losses = list ? PyList_AsTuple(list) : NULL;
  Py_XDECREF(list);
  return losses;
}

static PyObject *block_rig(PyObject *object, void *unused) {
  ext_block *self = (ext_block *)object;
  (void)unused;
  return Py_NewRef(self->rig ? (PyObject *)self->rig : object);
}

static PyObject *block_nbytes(PyObject *object, void *unused) {
  (void)unused;
  return PyLong_FromSize_t(((ext_block *)object)->model.block.size);
}

static int block_getbuffer(PyObject *object, Py_buffer *view, int flags) {
  const sk_block *block = &((ext_block *)object)->model.block;
  return PyBuffer_FillInfo(view, object, (void *)block->memory, (Py_ssize_t)block->size, 1, flags);
}

static void block_dealloc(PyObject *object) {
  ext_block *self = (ext_block *)object;
  PyTypeObject *type = Py_TYPE(object);
  ext_compiled_free(self);
  sk_free(atomic_load(&self->influences));
  if (self->release) self->release(self->memory);
  if (self->mapped) worker_unmap(self->memory, self->mapped);
  if (self->buffer.obj) PyBuffer_Release(&self->buffer);
  Py_CLEAR(self->rig);
  PyObject_Free(object);
  Py_DECREF(type);
}

/* ---- the type -------------------------------------------------------------------------------- */

static PyGetSetDef block_getset[] = {
    {"sections", block_sections, NULL,
     "dict of str to (int, int, int): offset, rows and bytes of a row of each section, by its name.", NULL},
    {"clip_names", block_clip_names, NULL, "tuple of str: the names of the clips, in order.", NULL},
    {"losses", block_losses, NULL, "tuple of str: the entries of the report with severity \"lost\", in words.", NULL},
    {"nbytes", block_nbytes, NULL, "int: the number of bytes of the block.", NULL},
    {"rig", block_rig, NULL, "Block: the block that this one completes, or itself.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef block_methods[] = {{"pack", block_pack, METH_VARARGS | METH_CLASS, pack_doc},
                                      {"read", block_read, METH_VARARGS | METH_CLASS, read_doc},
                                      {NULL, NULL, 0, NULL}};

static const char block_doc[] =
    "Block(data, *, copy=True, rig=None)\n--\n\n"
    "A model block: flat, checked, read-only memory (docs/block.md). LoadError says what is wrong with it.\n\n"
    "`data` is a bytes-like object. With copy=False its memory is used directly: it must be aligned to 8 bytes, and\n"
    "must not change or be truncated while the block or an array of it exists. Clips and poses of the model of the\n"
    "block `rig` belong to the model of this block, too.";

static PyType_Slot block_slots[] = {{Py_tp_doc, (void *)block_doc},
                                    {Py_tp_new, block_new},
                                    {Py_tp_dealloc, block_dealloc},
                                    {Py_tp_methods, block_methods},
                                    {Py_tp_getset, block_getset},
                                    {Py_bf_getbuffer, block_getbuffer},
                                    {0, NULL}};

static PyType_Spec block_spec = {"skinpy._core.Block", sizeof(ext_block), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, block_slots};

int ext_block_register(PyObject *module, ext_state *state) {
  state->block_type = PyType_FromModuleAndSpec(module, &block_spec, NULL);
  return state->block_type ? PyModule_AddType(module, (PyTypeObject *)state->block_type) : -1;
}
