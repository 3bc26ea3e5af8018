/* What the files of this folder share: the service's state, encodings of bodies, and metrics by operation. */
#ifndef STATOR_API_API_INTERNAL_H
#define STATOR_API_API_INTERNAL_H

#include "api/api.h"

#include <stdatomic.h>

/* What operators see of one operation. */
struct api_meter {
    struct metric requests, client_errors, server_errors, seconds;
};

struct api {
    struct api_options options;
    struct auth_cache *auth_cache;
    uint64_t id_seeds[2];            /* of request ids */
    atomic_uint_fast64_t id_count;
    size_t meter_count;              /* operations, and one for what is no operation */
    struct api_meter *meters;
    struct metric memory_used;
    struct arena texts;              /* the metrics' labels */
};

/* How a body is packed on its way. */
enum api_encoding { ENCODING_NONE, ENCODING_GZIP, ENCODING_DEFLATE, ENCODING_UNKNOWN };

/* What a request's Content-Encoding names; none or "identity": ENCODING_NONE. */
enum api_encoding api_encoding_of(str content_encoding);

/* The encoding that an Accept-Encoding header asks for (reference wire.md section 6), or ENCODING_NONE. */
enum api_encoding api_encoding_choose(str accept_encoding);

/* Unpacks a whole body; gzip may consist of several members. False when it is not such a body, is cut short, has more behind it, is empty
   or unpacks to more than bytes_max; or, with *has_no_room, when the arena's budget is used up. `expected_bytes` of memory are asked of the arena at first. */
bool api_inflate(struct arena *arena, str packed, enum api_encoding encoding, size_t bytes_max, str *unpacked, bool *has_no_room);

/* Packs a body into the arena. */
str api_deflate(struct arena *arena, str body, enum api_encoding encoding);

void api_meters_open(struct api *api);
void api_meters_close(struct api *api);

#endif
