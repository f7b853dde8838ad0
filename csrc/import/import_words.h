/* import_words.h: the words, names and numbers of a text file, for formats whose words are separated by spaces.

   A word is one of the marks { } ( ), a text in quotation marks (they stay; it ends with its line at the latest), or
   what stands between spaces and marks. What follows "//" or '#' at the beginning of a word is a comment, up to the
   end of its line. Lines end in LF, CR LF or CR. */
#ifndef IMPORT_WORDS_H
#define IMPORT_WORDS_H

#include "import_job.h"

typedef struct import_words {
  import_job *job;
  const char *start, *at, *end; /* of the text; at: what is read next */
} import_words;

/* Starts to read a file that is whole in memory, behind its byte order mark. */
import_words import_words_of(import_job *job, const import_source *file);
/* The first byte of the next word; 0 at the end of the text. */
char import_peek(import_words *words);
/* Takes the next word; its length is 0 at the end of the text. */
import_span import_next_word(import_words *words);
/* Takes the rest of the line, without the spaces around it; it ends before a brace and before a comment. */
import_span import_next_name(import_words *words);
/* Whether the word is this one; small and capital letters are equal. */
bool import_is_word(import_span word, const char *text);
/* Takes the next word if it is this one; else returns false and takes nothing. */
bool import_take_word(import_words *words, const char *text);
/* Takes a number: a decimal one, with a point or a comma, or what C libraries print for NaN and infinity, which becomes
   NaN. If the next word is not a number, returns false and takes nothing. */
bool import_take_number(import_words *words, double *number);
/* The same for a whole number from `least` to `largest`. */
bool import_take_integer(import_words *words, int64_t least, int64_t largest, int64_t *number);
/* Appends the numbers up to the end of the line, or to what is not a number, to an array of double; false where there
   is no memory. */
bool import_take_numbers(import_words *words, sk_array *numbers);
/* Whether the line has more words behind those that were read. If not, moves to the next line. */
bool import_line_goes_on(import_words *words);
/* SK_ERROR_IMPORT: "line 7: there is 'this' where `wish` is expected". */
sk_status import_words_fail(import_words *words, const char *wish);
/* The number of the line in which the next word is looked for, counted from 1. */
size_t import_line_number(const import_words *words);
/* Writes the first bytes of a name for messages, without control characters. */
void import_quote(import_span name, char out[64]);

#endif
