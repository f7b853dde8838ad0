/* import_report.c: what was repaired and what was lost, one entry per code. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "import_job.h"

typedef struct note_words {
  const char *code;
  sk_severity severity;
  const char *message;
} note_words;

static const note_words words[NOTE_COUNT] = {
#define NOTE_WORDS(code, severity, message) {#code, severity, message},
    IMPORT_NOTE_TABLE(NOTE_WORDS)
#undef NOTE_WORDS
};

void import_note_add(import_job *job, import_note_code code, uint64_t count, const char *format, ...) {
  import_note *note = &job->notes[code];
  if (count && !note->count) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note->first, sizeof note->first, format, arguments);
    va_end(arguments);
  }
  note->count += count;
}

static bool add_text(import_job *job, const char *bytes, sk_text *text) {
  return sk_text_append(&job->model.text, bytes, strlen(bytes), text);
}

sk_status import_report_write(import_job *job) {
  int code;
  for (code = 0; code < NOTE_COUNT; code++) {
    sk_report_entry *entry;
    if (!job->notes[code].count) continue;
    entry = sk_array_extend(&job->model.report, 1);
    if (!entry) return import_no_memory(job, sizeof *entry);
    *entry = (sk_report_entry){.severity = (uint32_t)words[code].severity, .count = job->notes[code].count};
    if (!add_text(job, words[code].code, &entry->code) || !add_text(job, job->notes[code].first, &entry->first) ||
        !add_text(job, words[code].message, &entry->message))
      return import_no_memory(job, sizeof *entry);
  }
  return SK_OK;
}
