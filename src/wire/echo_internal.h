/* How AWS's errors show a value that the client sent: as Java prints it, or as JSON. */
#ifndef STATOR_WIRE_ECHO_INTERNAL_H
#define STATOR_WIRE_ECHO_INTERNAL_H

#include "wire/shape_internal.h"

/* What is shown of one value at most, in bytes: the error must not cost more memory than the request did. */
enum { ECHO_BYTES_MAX = 256 << 10 };

/* [a, b], {k=v}, KeySchemaElement(attributeName=pk, keyType=HASH). */
void echo_java(struct buf *out, const struct json *json, uint32_t token, const struct wire_shape *shape);

/* The JSON without blanks. */
void echo_json(struct buf *out, const struct json *json, uint32_t token);

/* The name with its first letter in lower case, as Java's members are called. */
void echo_member_name(struct buf *out, str name);

#endif
