/* import_fbx_space.c: unit and axes of an FBX file, and its frame rate. */
#include <math.h>
#include <string.h>

#include "../../core/base/sk_math.h"
#include "import_fbx.h"

#define CENTIMETER 0.01 /* meters: the unit of FBX */

/* The settings of the file that matter here. */
typedef struct settings {
  double up, up_sign, front, front_sign, side, side_sign; /* axes: 0 is X */
  double unit;                                            /* centimeters */
  double time_mode, custom_rate;
} settings;

static settings read_settings(const fbx_document *d) {
  settings s = {1, 1, 2, 1, 0, 1, 1, 0, -1};
  const fbx_wanted wanted[] = {{"UpAxis", &s.up, 1, NULL},
                               {"UpAxisSign", &s.up_sign, 1, NULL},
                               {"FrontAxis", &s.front, 1, NULL},
                               {"FrontAxisSign", &s.front_sign, 1, NULL},
                               {"CoordAxis", &s.side, 1, NULL},
                               {"CoordAxisSign", &s.side_sign, 1, NULL},
                               {"UnitScaleFactor", &s.unit, 1, NULL},
                               {"TimeMode", &s.time_mode, 1, NULL},
                               {"CustomFrameRate", &s.custom_rate, 1, NULL}};
  fbx_record record;
  if (fbx_enter(&d->file, fbx_first(&d->file), "GlobalSettings", &record))
    fbx_read_property_list(&d->file, record.inside, record.inside_end, wanted, sizeof wanted / sizeof *wanted);
  return s;
}

/* Frames per second of FbxTime::EMode; 30 where the file does not say. */
static double rate_of(const settings *s) {
  static const double rates[] = {30,
                                 120,
                                 100,
                                 60,
                                 50,
                                 48,
                                 30,
                                 30,
                                 30000.0 / 1001,
                                 30000.0 / 1001,
                                 25,
                                 24,
                                 1000,
                                 24000.0 / 1001,
                                 0,
                                 96,
                                 72,
                                 60000.0 / 1001,
                                 120000.0 / 1001};
  size_t mode = s->time_mode >= 0.0 && s->time_mode < 19.0 ? (size_t)s->time_mode : 0;
  if (mode == 14) return s->custom_rate > 0.0 && s->custom_rate < 1e6 ? s->custom_rate : 30.0;
  return rates[mode];
}

/* Rows of the matrix are the file's axes: the side becomes +X, up becomes +Y, and the front +Z. */
static bool turn_axes(const settings *s, double out[12]) {
  const double axes[3] = {s->side, s->up, s->front}, signs[3] = {s->side_sign, s->up_sign, s->front_sign};
  int seen = 0, row;
  bool turned = false;
  memset(out, 0, 12 * sizeof *out);
  for (row = 0; row < 3; row++) {
    int axis = axes[row] >= 0.0 && axes[row] < 3.0 ? (int)axes[row] : -1;
    if (axis < 0 || seen >> axis & 1) return false;
    seen |= 1 << axis;
    out[4 * row + axis] = signs[row] < 0.0 ? -1.0 : 1.0;
    turned |= axis != row || signs[row] < 0.0;
  }
  return turned;
}

void fbx_read_space(import_fbx *fbx) {
  settings s = read_settings(&fbx->scene.document);
  fbx->scene.turns_axes = turn_axes(&s, fbx->scene.axes);
  if (!fbx->scene.turns_axes) memcpy(fbx->scene.axes, sk_affine_identity, sizeof sk_affine_identity);
  fbx->fps = rate_of(&s);
}

void import_fbx_space(import_job *job) {
  settings s = read_settings(&job->fbx->scene.document);
  double unit = s.unit > 0.0 && s.unit < 1e12 ? s.unit : 1.0;
  job->model.info.unit_meters = CENTIMETER * unit;
  if (job->fbx->scene.turns_axes)
    import_note_add(job, NOTE_axes_converted, 1, "up axis %g (0 is X), sign %g", s.up, s.up_sign);
}
