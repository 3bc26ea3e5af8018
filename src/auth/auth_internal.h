/* What the files of this folder share: the parts of a signed request, its canonical form, times and signing keys. */
#ifndef STATOR_AUTH_AUTH_INTERNAL_H
#define STATOR_AUTH_AUTH_INTERNAL_H

#include "auth/auth.h"

#include <nettle/hmac.h>

enum { AUTH_TIMESTAMP_BYTES = 16, AUTH_DATE_BYTES = 8, AUTH_HASH_TEXT_BYTES = 64 };

#define AUTH_ALGORITHM "AWS4-HMAC-SHA256"

/* What the two forms of a signed request say, before anything is judged. In the request's memory or the call's arena. */
struct auth_parts {
    bool has_header;     /* an Authorization header that is not empty */
    bool has_query;      /* X-Amz-Algorithm is among the query's names */
    str authorization;   /* the header, trimmed */
    str algorithm, credential, signature, signed_headers, date, session_token;
    bool has_signed_headers; /* they may be empty */
    str no_pair;         /* the first part of the header without an equal sign */
    str expires;         /* X-Amz-Expires of the query */
};

void auth_parts_read(struct call *call, const struct auth_request *request, struct auth_parts *parts);

/* The credential's elements; false unless there are exactly five. Elements found stand in the claim either way. */
bool auth_credential_split(str credential, struct auth_claim *claim);

/* The first header of that name, or empty. */
str auth_header_find(const struct auth_request *request, str name);

/* The canonical request over the headers named in `signed_headers` ("a;b;c"), in the arena. In the query form the signature is no part of it. */
str auth_canonical(struct call *call, const struct auth_request *request, str signed_headers, bool is_query);

/* "AWS4-HMAC-SHA256\n<timestamp>\n<scope>\n<hash of the canonical request>" */
str auth_string_to_sign(struct call *call, str timestamp, str date, str region, str canonical);

/* The lower-case hex digits of the signature of `text`. */
void auth_signature(struct auth_cache *cache, str secret, str date, str region, str text, char signature[AUTH_HASH_TEXT_BYTES]);

/* Reads "20130524T000000Z", or a date as HTTP writes it, and gives the first form. */
bool auth_time_read(str text, int64_t *time_us, char timestamp[AUTH_TIMESTAMP_BYTES]);
void auth_time_write(int64_t time_us, char timestamp[AUTH_TIMESTAMP_BYTES]);

#endif
