/* import_collada_material.c: effects of COLLADA: color, opacity, and the texture of the color. */
#include <math.h>
#include <string.h>

#include "../import_material.h"
#include "import_collada.h"

#define MAX_OWN 256u /* materials that set parameters in their effect: each reads it anew */
#define RADIANS (3.14159265358979323846 / 180.0)

typedef struct dae_effect { /* of one material */
  import_job *job;
  uint32_t effect, instance; /* elements: <effect>, and <instance_effect>, which sets its parameters */
} dae_effect;

/* ---- parameters --------------------------------------------------------------------------------- */

/* The parameter of an effect with this sid, or what the material sets in its place. */
static uint32_t find_parameter(const dae_effect *e, import_span sid) {
  const import_dae *dae = e->job->dae;
  uint32_t child;
  for (DAE_EACH(&dae->tree, e->instance, child)) {
    import_span ref = dae_attribute(&dae->tree, child, DAE_ref);
    if (dae_word_of(&dae->tree, child) == DAE_setparam && ref.length == sid.length &&
        !memcmp(ref.at, sid.at, sid.length))
      return child;
  }
  return dae_find_sid(dae, e->effect, sid);
}

/* A color or number that stands in an element, or in the parameter to which it refers. Returns how many numbers there
   are. */
static int read_numbers(const dae_effect *e, uint32_t element, double out[4]) {
  static const dae_word words[] = {DAE_color, DAE_float, DAE_float3, DAE_float4};
  const dae_tree *tree = &e->job->dae->tree;
  uint32_t param = dae_child(tree, element, DAE_param), found = element;
  size_t i;
  if (param) found = find_parameter(e, dae_attribute(tree, param, DAE_ref));
  for (i = 0; i < sizeof words / sizeof *words; i++) {
    uint32_t value = dae_child(tree, found, words[i]);
    if (value) return dae_numbers_of(dae_text(tree, value), out, 4);
  }
  return 0;
}

/* ---- images ------------------------------------------------------------------------------------------ */

/* From <texture texture="sampler"> over its <sampler2D> and <surface> to the <image>. Exporters leave steps out. */
static uint32_t find_image(const dae_effect *e, uint32_t texture, uint32_t *sampler) {
  const dae_tree *tree = &e->job->dae->tree;
  import_span name = dae_attribute(tree, texture, DAE_texture);
  uint32_t image;
  int hops;
  *sampler = DAE_NONE;
  for (hops = 0; hops < 4; hops++) {
    uint32_t parameter = find_parameter(e, name), child, surface, instance;
    image = parameter ? DAE_NONE : dae_follow(tree, name);
    if (image && dae_word_of(tree, image) == DAE_image) return image;
    child = dae_child(tree, parameter, DAE_sampler2D), surface = dae_child(tree, parameter, DAE_surface);
    if (child) *sampler = child;
    instance = dae_child(tree, child, DAE_instance_image);
    if (instance) name = dae_attribute(tree, instance, DAE_url);
    else if (surface) name = dae_text(tree, dae_child(tree, surface, DAE_init_from));
    else name = dae_text(tree, dae_child(tree, child, DAE_source));
  }
  return DAE_NONE;
}

static sk_status read_hex(import_job *job, import_span text, import_contents_material *material) {
  uint8_t *bytes = import_contents_take(job, text.length / 2 + 1, 1);
  size_t i;
  int high = -1;
  if (!bytes) return SK_ERROR_MEMORY;
  for (i = 0; i < text.length; i++) {
    int digit = import_hex_digit(text.at[i]);
    if (digit < 0) continue;
    if (high < 0) high = digit;
    else bytes[material->size++] = (uint8_t)(high << 4 | digit), high = -1;
  }
  material->bytes = bytes;
  return SK_OK;
}

/* The path in a URI: without the scheme and host of file://, with its escapes decoded. */
static sk_status read_uri(import_job *job, import_span uri, import_contents_material *material) {
  size_t i = 0;
  if (uri.length > 7 && !memcmp(uri.at, "file://", 7))
    for (i = 7; i < uri.length && uri.at[i] != '/'; i++) continue;
  if (i + 2 < uri.length && uri.at[i] == '/' && uri.at[i + 2] == ':') i++; /* /C:/ */
  uri.length -= i;
  material->image = import_contents_copy(job, (import_span){uri.at + i, uri.length});
  if (!material->image) return SK_ERROR_MEMORY;
  material->image[import_decode_percent(material->image, uri.length, false)] = 0;
  return SK_OK;
}

static sk_status read_image(import_job *job, uint32_t image, import_contents_material *material) {
  const dae_tree *tree = &job->dae->tree;
  uint32_t from = dae_child(tree, image, DAE_init_from), ref = dae_child(tree, from, DAE_ref);
  uint32_t hex = dae_child(tree, from, DAE_hex);
  import_span path = dae_text(tree, ref ? ref : from);
  sk_status status = SK_OK;
  if (!hex) hex = dae_child(tree, image, DAE_data);
  if (hex) status = read_hex(job, dae_text(tree, hex), material);
  return status ? status : read_uri(job, hex || !path.length ? dae_title(tree, image) : path, material);
}

/* ---- where the texture is ------------------------------------------------------------------------------ */

static double extra_number(const dae_tree *tree, uint32_t texture, dae_word word, double absent) {
  import_span text = dae_text(tree, dae_inside(tree, texture, word));
  double number;
  return dae_next_number(&text, &number) && isfinite(number) ? number : absent;
}

/* Maya's: coordinates are scaled, rotated about the middle, and moved, where v goes up from the bottom of the image. */
static void read_transform(const dae_tree *tree, uint32_t texture, sk_material *material) {
  double u = extra_number(tree, texture, DAE_repeatU, 1.0), v = extra_number(tree, texture, DAE_repeatV, 1.0);
  double angle = RADIANS * extra_number(tree, texture, DAE_rotateUV, 0.0), c = cos(angle), s = sin(angle);
  double m[6] = {c * u, -s * v, 0.5 - 0.5 * c + 0.5 * s, s * u, c * v, 0.5 - 0.5 * s - 0.5 * c};
  int i;
  m[2] += extra_number(tree, texture, DAE_offsetU, 0.0);
  m[5] += extra_number(tree, texture, DAE_offsetV, 0.0);
  m[2] += m[1], m[1] = -m[1];             /* skinpy's v goes down: it becomes 1 - v on the way in ... */
  m[5] = 1.0 - m[4] - m[5], m[3] = -m[3]; /* ... and on the way out */
  for (i = 0; i < 6; i++)
    if (import_is_bad((float)m[i])) return;
  for (i = 0; i < 6; i++) material->uv_transform[i] = (float)m[i] + 0.0f;
}

static uint8_t wrap_of(const dae_tree *tree, uint32_t sampler, dae_word word) {
  import_span mode = dae_text(tree, dae_child(tree, sampler, word));
  if (dae_is(mode, "MIRROR")) return SK_WRAP_MIRRORED_REPEAT;
  return dae_is(mode, "CLAMP") || dae_is(mode, "BORDER") ? SK_WRAP_CLAMP_TO_EDGE : SK_WRAP_REPEAT;
}

/* ---- effects -------------------------------------------------------------------------------------------------- */

/* The color that is multiplied with the light: of a constant effect its emission. */
static uint32_t find_shading(const dae_tree *tree, uint32_t effect, uint32_t *color) {
  static const dae_word kinds[] = {DAE_phong, DAE_blinn, DAE_lambert, DAE_constant};
  uint32_t technique = dae_child(tree, dae_child(tree, effect, DAE_profile_COMMON), DAE_technique);
  size_t i;
  for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    uint32_t shading = dae_child(tree, technique, kinds[i]);
    if (!shading) continue;
    *color = dae_child(tree, shading, DAE_diffuse);
    if (!*color && kinds[i] == DAE_constant) *color = dae_child(tree, shading, DAE_emission);
    return shading;
  }
  *color = DAE_NONE;
  return DAE_NONE;
}

static double luminance(const double c[4]) { return 0.212671 * c[0] + 0.715160 * c[1] + 0.072169 * c[2]; }

/* Opacity by the modes of 1.5.0, "Determining Transparency (Opacity)". A texture counts as opaque where it is white. */
static double opacity_of(const dae_effect *e, uint32_t shading, bool *textured) {
  const dae_tree *tree = &e->job->dae->tree;
  uint32_t transparent = dae_child(tree, shading, DAE_transparent);
  uint32_t transparency = dae_child(tree, shading, DAE_transparency);
  import_span mode = dae_attribute(tree, transparent, DAE_opaque);
  double color[4] = {1, 1, 1, 1}, amount[4] = {1}, opacity;
  *textured = dae_child(tree, transparent, DAE_texture) != DAE_NONE;
  if (transparent && !*textured) read_numbers(e, transparent, color);
  if (transparency && !read_numbers(e, transparency, amount)) amount[0] = 1.0;
  if (dae_is(mode, "RGB_ZERO")) opacity = *textured ? 1.0 : 1.0 - luminance(color) * amount[0];
  else if (dae_is(mode, "RGB_ONE")) opacity = luminance(color) * amount[0];
  else if (dae_is(mode, "A_ZERO")) opacity = *textured ? 1.0 : 1.0 - color[3] * amount[0];
  else opacity = color[3] * amount[0];
  return isfinite(opacity) ? opacity : 1.0;
}

static bool are_equal(import_span a, import_span b) {
  return a.length == b.length && (!a.length || !memcmp(a.at, b.at, a.length));
}

/* The opacity that is in an image is that of the color's, whose alpha is drawn. */
static void note_opacity(import_job *job, uint32_t shading, uint32_t color, import_span name) {
  const dae_tree *tree = &job->dae->tree;
  uint32_t transparent = dae_child(tree, shading, DAE_transparent);
  import_span mode = dae_attribute(tree, transparent, DAE_opaque);
  import_span image = dae_attribute(tree, dae_child(tree, transparent, DAE_texture), DAE_texture);
  if (are_equal(image, dae_attribute(tree, dae_child(tree, color, DAE_texture), DAE_texture)) &&
      (!mode.length || dae_is(mode, "A_ONE")))
    return;
  import_note_add(job, NOTE_looks_ignored, 1, "a texture of the opacity of material '%.*s'", IMPORT_SHORT(name));
}

/* Everything else about how light is reflected; `color` is taken already. */
static void note_looks(const dae_effect *e, uint32_t shading, uint32_t color, import_span name) {
  static const struct {
    dae_word word;
    const char *name;
  } looks[] = {
      {DAE_specular, "specular"}, {DAE_emission, "emission"}, {DAE_reflective, "reflective"}, {DAE_bump, "bump"}};
  const dae_tree *tree = &e->job->dae->tree;
  size_t i;
  for (i = 0; i < sizeof looks / sizeof *looks; i++) {
    uint32_t found = dae_child(tree, shading, looks[i].word);
    double numbers[4] = {0};
    if (!found || found == color) continue;
    if (dae_child(tree, found, DAE_texture) ||
        (read_numbers(e, found, numbers) && (numbers[0] > 0.0 || numbers[1] > 0.0 || numbers[2] > 0.0)))
      import_note_add(e->job, NOTE_looks_ignored, 1, "material '%.*s': %s", IMPORT_SHORT(name), looks[i].name);
  }
}

static sk_status read_texture(dae_effect *e, uint32_t texture, import_contents_material *material) {
  const dae_tree *tree = &e->job->dae->tree;
  uint32_t sampler, image = find_image(e, texture, &sampler);
  if (!image) {
    import_span name = dae_attribute(tree, texture, DAE_texture);
    import_note_add(e->job, NOTE_textures_missing, 1, "'%.*s', which is not an image of the file", IMPORT_SHORT(name));
    return SK_OK;
  }
  read_transform(tree, texture, &material->material);
  material->material.wrap_u = wrap_of(tree, sampler, DAE_wrap_s);
  material->material.wrap_v = wrap_of(tree, sampler, DAE_wrap_t);
  return read_image(e->job, image, material);
}

static sk_status read_effect(dae_effect *e, import_contents_material *material, import_span name) {
  const dae_tree *tree = &e->job->dae->tree;
  uint32_t color, shading = find_shading(tree, e->effect, &color), texture = dae_child(tree, color, DAE_texture);
  double numbers[4] = {0.6, 0.6, 0.6, 1.0};
  bool textured;
  int i;
  if (texture) numbers[0] = numbers[1] = numbers[2] = 1.0;
  else read_numbers(e, color, numbers);
  numbers[3] = opacity_of(e, shading, &textured);
  for (i = 0; i < 4; i++) {
    if (!isfinite(numbers[i]))
      import_note_add(e->job, NOTE_numbers_repaired, 1, "the color of material '%.*s'", IMPORT_SHORT(name));
    material->material.base_color[i] = isfinite(numbers[i]) ? (float)numbers[i] : 1.0f;
  }
  import_clamp_color(e->job, name, &material->material);
  material->material.alpha = textured || material->material.base_color[3] < 1.0f ? SK_ALPHA_BLEND : SK_ALPHA_OPAQUE;
  material->material.double_sided = dae_is(dae_text(tree, dae_inside(tree, e->effect, DAE_double_sided)), "1");
  if (textured) note_opacity(e->job, shading, color, name);
  note_looks(e, shading, color, name);
  return texture ? read_texture(e, texture, material) : SK_OK;
}

/* An effect is read once, except where a material sets parameters of its own in it. */
static sk_status share_effect(dae_effect *e, import_contents_material *material, import_span name) {
  import_dae *dae = e->job->dae;
  dae_element *effect = dae_at(&dae->tree, e->effect);
  import_span *coordinates = (import_span *)dae->coordinates.data + (dae->coordinates.count - 1);
  bool is_own = dae_child(&dae->tree, e->instance, DAE_setparam) != DAE_NONE;
  uint32_t color;
  if (is_own && ++dae->own_effects > MAX_OWN) {
    import_note_add(e->job, NOTE_looks_ignored, 1, "parameters of material '%.*s'", IMPORT_SHORT(name));
    is_own = false;
  }
  if (effect->data && !is_own) {
    *material = ((const import_contents_material *)e->job->contents->materials.data)[effect->data - 1];
    *coordinates = ((const import_span *)dae->coordinates.data)[effect->data - 1];
    return SK_OK;
  }
  if (!is_own) effect->data = (uint32_t)dae->coordinates.count;
  find_shading(&dae->tree, e->effect, &color);
  *coordinates = dae_attribute(&dae->tree, dae_child(&dae->tree, color, DAE_texture), DAE_texcoord);
  return read_effect(e, material, name);
}

static sk_status read_material(import_job *job, uint32_t element) {
  const dae_tree *tree = &job->dae->tree;
  import_span name = dae_title(tree, element);
  import_contents_material *material = import_contents_add_material(job);
  dae_effect e = {job, DAE_NONE, dae_child(tree, element, DAE_instance_effect)};
  sk_status status;
  import_span *coordinates = sk_array_extend(&job->dae->coordinates, 1);
  if (!material) return SK_ERROR_MEMORY;
  if (!coordinates) return import_no_memory(job, sizeof *coordinates);
  dae_at(tree, element)->data = (uint32_t)job->contents->materials.count;
  if (e.instance) e.effect = dae_follow_to(job, e.instance, DAE_url, DAE_effect);
  status = e.effect ? share_effect(&e, material, name) : SK_OK;
  return status ? status : dae_put_text(job, name, &material->material.name);
}

sk_status dae_read_materials(import_job *job) {
  const dae_tree *tree = &job->dae->tree;
  uint32_t i, count = (uint32_t)tree->elements.count;
  sk_status status = SK_OK;
  job->dae->coordinates = SK_ARRAY(import_span);
  for (i = 1; i < count && !status; i++)
    if (dae_word_of(tree, i) == DAE_material) status = read_material(job, i);
  return status;
}

/* ---- materials of instances ---------------------------------------------------------------------------------------- */

sk_status dae_read_bindings(import_job *job, uint32_t instance, dae_bindings *bindings) {
  const dae_tree *tree = &job->dae->tree;
  uint32_t technique = dae_child(tree, dae_child(tree, instance, DAE_bind_material), DAE_technique_common), child;
  size_t count = 0;
  *bindings = (dae_bindings){{NULL, 0}, DAE_NONE};
  if (!technique) return SK_OK;
  for (DAE_EACH(tree, technique, child)) count++;
  if (!import_names_make(&bindings->symbols, count)) return import_no_memory(job, count);
  for (DAE_EACH(tree, technique, child)) {
    import_span symbol = dae_attribute(tree, child, DAE_symbol);
    if (dae_word_of(tree, child) != DAE_instance_material) continue;
    if (!bindings->first) bindings->first = child;
    import_names_add(&bindings->symbols, symbol.at, symbol.length, child);
  }
  return SK_OK;
}

int32_t dae_bound_material(import_job *job, const dae_bindings *bindings, import_span symbol, uint32_t *set) {
  const dae_tree *tree = &job->dae->tree;
  int64_t found = symbol.length ? import_names_find(&bindings->symbols, symbol.at, symbol.length) : SK_NONE;
  uint32_t binding = symbol.length ? (found < 0 ? DAE_NONE : (uint32_t)found) : bindings->first, child;
  uint32_t material = binding ? dae_follow_to(job, binding, DAE_target, DAE_material) : dae_find(tree, symbol);
  import_span wanted;
  *set = UINT32_MAX;
  if (!material || dae_word_of(tree, material) != DAE_material) return SK_NONE;
  wanted = ((const import_span *)job->dae->coordinates.data)[dae_at(tree, material)->data - 1];
  for (DAE_EACH(tree, binding, child)) {
    if (!binding) break;
    if (dae_word_of(tree, child) == DAE_bind_vertex_input &&
        are_equal(dae_attribute(tree, child, DAE_semantic), wanted) &&
        dae_is(dae_attribute(tree, child, DAE_input_semantic), "TEXCOORD"))
      *set = dae_attribute_number(tree, child, DAE_input_set, 0);
  }
  return (int32_t)dae_at(tree, material)->data - 1;
}
