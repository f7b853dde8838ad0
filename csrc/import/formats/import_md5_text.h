/* import_md5_text.h: the text of a .md5mesh or .md5anim: words, numbers and sections. Private to import_md5*.c. */
#ifndef IMPORT_MD5_TEXT_H
#define IMPORT_MD5_TEXT_H

#include "../import_job.h"

typedef struct md5_joint {
  import_span name;       /* without its quotation marks */
  int32_t parent;      /* stands before the joint; SK_NONE = none */
  uint32_t flags;      /* of an animation: which of the six numbers a frame has */
  size_t first;        /* the first of them in a frame */
  double rest[6];      /* translation; x, y, z of the rotation: at rest, or where no frame has them */
  uint32_t keys;       /* read so far */
  struct aiNode *node; /* of the scene; not owned */
  uint32_t children;   /* found so far */
  double global[12];   /* at rest, below the node that holds the skeleton */
  double local[12];
} md5_joint;

typedef struct md5 { /* one file while it is read */
  import_job *job;
  const char *at, *end;
  sk_array joints; /* md5_joint */
  sk_array values; /* double: of one frame */
  size_t rest_count; /* joints of which `rest` was read */
  bool no_memory;
} md5;

static inline md5_joint *md5_joint_at(const md5 *m, size_t j) { return (md5_joint *)m->joints.data + j; }

/* A mark, a text in quotation marks (they stay; it ends with its line at the latest) or what stands between spaces.
   Length 0 at the end of the file. */
import_span md5_next_word(md5 *m);
bool md5_equals(import_span word, const char *text);
/* Takes a word; false where it is another one. */
bool md5_expect(md5 *m, const char *mark);
/* Goes to the end of a text in which `word` stands nowhere any more, which need not be cut into words. */
void md5_skip_if_without(md5 *m, const char *word);
/* Takes a whole number from `least` to `largest`; false where another one stands there. */
bool md5_next_integer(md5 *m, double least, double largest, double *out);

/* Sections, behind their opening braces; false where the text cannot be followed. */
bool md5_read_joints(md5 *m);     /* of a .md5mesh: joints, and `rest` below the skeleton */
bool md5_read_hierarchy(md5 *m);  /* of a .md5anim: joints */
bool md5_read_base_frame(md5 *m); /* of a .md5anim: `rest` */
bool md5_read_frame(md5 *m);      /* of a .md5anim: values */

#endif
