/* import_texture.h: the textures of a model: images as their files have them, decoded by nobody here. */
#ifndef IMPORT_TEXTURE_H
#define IMPORT_TEXTURE_H

#include "import_job.h"

/* The number of the texture that has the name already, or SK_NONE. */
int32_t import_find_texture(const import_model *m, const char *name);
#define IMPORT_IMAGE_HEAD 128 /* bytes of an image that tell its format */

/* The format that the first bytes of an image tell, as a suffix such as "png"; "" if they are not those of an image. */
const char *import_image_format(const void *data, size_t size);
/* Copies an image of `size` bytes to a new texture, of which `*index` is the number. `format` is "rgba8" for plain
   pixels, and "" for an encoded image: `*index` stays where its first bytes are those of no image, which is noted. */
sk_status import_add_texture(import_job *job, const char *name, const char *format, const void *data, size_t size,
                             int32_t *index);
/* The same for an image beside the model: under the name as given, else its last part in the model's folder, because
   exporters write absolute paths of other machines. `*index` stays where there is none, which is noted. */
sk_status import_texture_file(import_job *job, const char *name, int32_t *index);

#endif
