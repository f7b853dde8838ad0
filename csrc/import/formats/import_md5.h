/* import_md5.h: MD5 of id Software: .md5mesh, a skinned model, and .md5anim, a motion of its joints. */
#ifndef IMPORT_MD5_H
#define IMPORT_MD5_H

#include "../import_job.h"
#include "../import_contents.h"
#include "../import_words.h"

/* Lists what the file holds in job->contents. A model finds the motion of the same name beside it. */
sk_status import_md5_open(import_job *job);

/* ---- private to import_md5*.c ------------------------------------------------------- */

typedef struct md5_joint {
  import_span name;
  int32_t parent, child, next; /* joints of the file, or SK_NONE: the first child, and the parent's next one */
  int32_t node;                /* of the contents; SK_NONE: not listed */
  double translation[3],
      rotation[4]; /* of a model: below the skeleton; of a motion: its base frame, below the parent */
  double numbers[6];           /* of the base frame: translation; x, y, z of the rotation */
  uint32_t flags;              /* which of the six numbers a frame has */
  int64_t first;               /* the first of them in a frame */
  uint32_t mesh, slot;         /* the last mesh that follows the joint, counted from 1, and where in its skin */
} md5_joint;

typedef struct md5_frame {
  int64_t number;      /* counted from 0; gives the time of the frame */
  size_t first, count; /* in md5.numbers */
} md5_frame;

typedef struct md5 { /* one file */
  import_job *job;
  import_words words;
  sk_array joints;
  bool has_model, has_motion; /* the section "joints", or "hierarchy", was read */
  size_t base;                /* joints of which the base frame was read */
  double stated_joints, stated_frames, rate; /* NaN: the file does not state it */
  sk_array frames, numbers;   /* md5_frame; double: of all frames */
  uint32_t meshes;            /* how many were read */
  size_t budget;              /* how many vertices, faces and weights the file's bytes still allow */
} md5;

static inline md5_joint *md5_joint_at(const md5 *m, size_t j) { return (md5_joint *)m->joints.data + j; }

/* Each reads a section, whose name was read before. */
sk_status md5_read_mesh(md5 *m);
sk_status md5_read_hierarchy(md5 *m);
sk_status md5_read_base_frame(md5 *m);
sk_status md5_read_frame(md5 *m);

/* ( x y z ) */
sk_status md5_read_triple(md5 *m, double out[3]);
/* Reads '"name" parent'. NULL: failure, with a sentence in job->error. */
md5_joint *md5_read_joint(md5 *m);
/* Whether the section has another entry; if not, takes the brace that ends it. Numbers behind it are ignored. */
bool md5_goes_on(md5 *m);
/* The unit quaternion of which the format has x, y and z. */
void md5_rotation(md5 *m, const md5_joint *joint, const double xyz[3], double q[4]);
void md5_rotate(const double q[4], const double v[3], double out[3]);

/* import_md5_clip.c: the rest pose of a motion alone, and its clip for the joints of `model`, which may be itself. */
void md5_set_first_frame(md5 *m, size_t joint, import_contents_node *node);
sk_status md5_add_clip(md5 *m, const md5 *model);

#endif
