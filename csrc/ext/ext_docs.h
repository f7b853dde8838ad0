/* ext_docs.h: entries that the docstrings of several methods share, in NumPy's sections.

   The docstrings are the documentation that help() and the site show; tests/test_docstrings.py checks them. */
#ifndef EXT_DOCS_H
#define EXT_DOCS_H

#define DOC_CLIP_AND_TIME                                                          \
  "clip : Clip, str or int, optional\n"                                            \
  "    A clip of this model, its name or its index. Without it the result is of\n" \
  "    the rest pose.\n"                                                           \
  "time : array_like, shape (...), seconds, default 0.0\n"                         \
  "    Times at which the clip is sampled. Their shape is the leading shape of\n"  \
  "    the result.\n"

#define DOC_OUT                                                         \
  "out : ndarray, optional\n"                                           \
  "    A writable, C-contiguous float32 array of the result's shape.\n" \
  "    The result is written to it, and it is returned.\n"

#define DOC_AFFINE                                                                  \
  "affine : bool, optional\n"                                                       \
  "    Whether matrices have three rows instead of four: (..., 3, 4). By default\n" \
  "    they have as many as `out`, or four.\n"

#define DOC_LOOP_AND_ROTATION                                                   \
  "loop : {\"wrap\", \"clamp\", \"pingpong\", \"once\"}, default \"wrap\"\n"    \
  "    What happens outside the clip; see `Model.pose`.\n"                      \
  "rotation : {\"slerp\", \"nlerp\"}, default \"slerp\"\n"                      \
  "    How rotations between linear keys are found, always along the shorter\n" \
  "    arc.\n"

#define DOC_ROOT                                                                     \
  "root : array_like, shape (4, 4) or (..., 4, 4), optional\n"                       \
  "    A transform that is multiplied in front of the local transform of the root\n" \
  "    joint.\n"

#define DOC_INVERSE_ROOT                                                   \
  "inverse_root : bool, default False\n"                                   \
  "    Whether the inverse of the root joint's global rest transform is\n" \
  "    multiplied in front of everything, which leads to the space of the root.\n"

#define DOC_RAISES_SAMPLING                                                         \
  "\nRaises\n------\n"                                                              \
  "KeyError\n"                                                                      \
  "    If the model has no clip of this name. The message has the closest names.\n" \
  "IndexError\n"                                                                    \
  "    If the model has no clip of this index.\n"                                   \
  "ValueError\n"                                                                    \
  "    If a time is not finite, the clip belongs to another model, an option is\n"  \
  "    unknown, or `root` or `out` does not fit.\n"                                 \
  "TypeError\n"                                                                     \
  "    If an argument has the wrong type.\n"

#define DOC_RAISES_OUT                                                  \
  "\nRaises\n------\n"                                                  \
  "ValueError\n"                                                        \
  "    If a number of the pose is not finite, or `out` does not fit.\n" \
  "TypeError\n"                                                         \
  "    If `out` is not an array, or a flag is not a bool.\n"

#endif
