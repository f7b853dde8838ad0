/* import_twin.c: nodes of one name, which Assimp's scene shall tell apart. */
#include <stdio.h>
#include <string.h>

#include "import_twin.h"

#define MARK '\x1e'

size_t import_mark(char out[IMPORT_MARK_BYTES], uint32_t number) {
  return (size_t)snprintf(out, IMPORT_MARK_BYTES, "%c%u", MARK, number);
}

sk_status import_unmark_names(import_job *job) {
  sk_text *texts = job->model.names.data;
  const char *pool = job->model.text.data;
  import_names names;
  size_t count = job->model.names.count, j, marks = 0;
  for (j = 0; j < count; j++) {
    const char *mark = texts[j].length ? memchr(pool + texts[j].offset, MARK, texts[j].length) : NULL;
    if (mark) texts[j].length = (uint32_t)(mark - pool) - texts[j].offset, marks++;
  }
  if (!marks) return SK_OK;
  if (!import_names_make(&names, count)) return import_no_memory(job, count);
  for (j = 0; j < count; j++) {
    const char *name = pool + texts[j].offset;
    if (texts[j].length && import_names_add(&names, name, texts[j].length, (uint32_t)j) != j)
      import_note_add(job, NOTE_duplicate_names, 1, "%.*s", (int)(texts[j].length < 100 ? texts[j].length : 100), name);
  }
  import_names_free(&names);
  return SK_OK;
}

static void mark_node(struct aiNode *node, uint32_t number) {
  char mark[IMPORT_MARK_BYTES];
  size_t length = import_mark(mark, number);
  if (node->mName.length + length >= AI_MAXLEN) return;
  memcpy(node->mName.data + node->mName.length, mark, length + 1);
  node->mName.length += (ai_uint32)length;
}

/* The nodes of the scene, depth first. */
static bool list_nodes(struct aiNode *root, sk_array *nodes) {
  sk_array stack = SK_ARRAY(struct aiNode *);
  struct aiNode **top = sk_array_extend(&stack, 1), **added = top;
  if (top) *top = root;
  while (stack.count && added) {
    struct aiNode *node = ((struct aiNode **)stack.data)[--stack.count];
    unsigned i = node->mChildren ? node->mNumChildren : 0;
    added = sk_array_extend(nodes, 1);
    if (added) *added = node;
    while (i-- > 0 && added) {
      added = sk_array_extend(&stack, 1);
      if (added) *added = node->mChildren[i];
    }
  }
  sk_array_free(&stack);
  return added != NULL;
}

/* Tells nodes of one name apart; a name's first node keeps it. Names in the table must not move: it goes by copies. */
static sk_status mark_twins(import_job *job, struct aiNode **nodes, size_t count) {
  import_names names;
  size_t n;
  if (!import_names_make(&names, count)) return import_no_memory(job, count);
  for (n = 0; n < count; n++) {
    struct aiString *name = &nodes[n]->mName;
    if (!name->length || import_names_add(&names, name->data, name->length, (uint32_t)n) != n)
      mark_node(nodes[n], (uint32_t)n);
  }
  import_names_free(&names);
  return SK_OK;
}

sk_status import_mark_nodes(import_job *job, const uint32_t *numbers, size_t count) {
  const struct aiScene *scene = job->scene;
  struct aiAnimation *animation = scene->mNumAnimations ? scene->mAnimations[0] : NULL;
  sk_array list = SK_ARRAY(struct aiNode *);
  struct aiNode **nodes;
  sk_status status = SK_OK;
  unsigned c;
  if (!animation || animation->mNumChannels != count) return SK_OK;
  if (!list_nodes(scene->mRootNode, &list)) status = import_no_memory(job, list.count * sizeof *nodes);
  nodes = list.data;
  for (c = 0; c < count && !status; c++) /* both as Assimp has read them, or the numbers mean something else */
    if (numbers[c] < list.count && strcmp(nodes[numbers[c]]->mName.data, animation->mChannels[c]->mNodeName.data))
      break;
  if (!status && c == count) {
    status = mark_twins(job, nodes, list.count);
    for (c = 0; c < count; c++)
      if (numbers[c] < list.count) animation->mChannels[c]->mNodeName = nodes[numbers[c]]->mName;
  }
  sk_array_free(&list);
  return status;
}
