/* import_xml.h: the tags of an XML text, one after another. Only tags and their attributes are read: no entities, no
   namespaces, and what stands between tags is the caller's to look at. */
#ifndef IMPORT_XML_H
#define IMPORT_XML_H

#include "import_text.h"

typedef struct import_xml { /* a text while it is read; not owned */
  const char *at, *end;     /* what is left of it */
  const char *const *names; /* of the tags that are wanted, NULL behind them; NULL: all tags */
} import_xml;

typedef struct import_tag {
  const char *at, *after; /* with its angle brackets */
  const char *name;
  size_t length;          /* of the name */
  bool closes, opens;     /* </name>; <name>. Neither is <name/> */
} import_tag;

/* The next tag; false where there is none. The text needs no zero byte behind it. */
bool import_xml_next(import_xml *x, import_tag *tag);
bool import_tag_is(const import_tag *tag, const char *name);
/* The value of an attribute; empty where it is absent or has escapes. */
import_span import_tag_attribute(const import_tag *tag, const char *key);

#endif
