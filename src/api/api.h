/* One call: authenticate, find the operation, run it, answer. Knows no sockets. Order of checks: reference wire.md section 2. */
#ifndef STATOR_API_API_H
#define STATOR_API_API_H

#include "auth/auth.h"
#include "base/call.h"
#include "directory/directory.h"
#include "op/op.h"

/* ANY: takes any credentials, also none, and reads region and key from the scope when there is one. REQUIRED: verifies. */
enum api_auth { API_AUTH_ANY, API_AUTH_REQUIRED };

struct api_options {
    struct op_service service;
    enum api_auth auth;
    struct directory *directory; /* API_AUTH_REQUIRED */
    enum wording wording;
    struct memory_budget *memory; /* may be NULL; shown in the metrics */
};

struct api;
struct api *api_new(const struct api_options *options);
void api_free(struct api *api);

enum { API_BODY_MAX = 16 << 20, API_REQUEST_ID_BYTES = 52, API_HEADERS_MAX = 12 };

/* Both texts are terminated. */
struct api_header {
    const char *name;
    const char *value;
};

struct api_answer {
    int status;
    str body;                 /* as it goes out: compressed when headers say so */
    struct api_header headers[API_HEADERS_MAX];
    size_t header_count;      /* all but Content-Length and Date */
    size_t operation;         /* for api_answer_leaves */
    int64_t started_us;       /* monotonic */
};

/* Whether answering may take milliseconds, of the processor or waiting for the store, so that others should not have to wait for the thread: an
   operation that says so of itself, a body of over 64 KB, or one whose size only unpacking will tell. */
bool api_is_long(const struct auth_request *request);

/* Answers `request` (body complete, at most API_BODY_MAX bytes as sent). Everything is in call's arena. When durable_wait_is_pending(&call->durable)
   the answer must not leave before the last hold is released; if that reports a fault, call api_answer_failed and send what it makes instead. */
void api_call(struct api *api, struct call *call, const struct auth_request *request, struct api_answer *answer);

/* Replaces the answer by InternalServerError: what it told of did not become durable. */
void api_answer_failed(struct api *api, struct call *call, const struct auth_request *request, struct api_answer *answer);

/* An answer for a request that the service has no memory for: ServiceUnavailable. */
void api_answer_unavailable(struct api *api, struct call *call, const struct auth_request *request, struct api_answer *answer);

/* Tells the metrics that the answer is on its way. */
void api_answer_leaves(struct api *api, const struct api_answer *answer);

/* Prometheus text for /metrics. */
void api_metrics_write(struct api *api, struct buf *out);

/* The value of a header of that name, the first one; empty when there is none. */
str api_header_find(const struct auth_request *request, str name);

#endif
