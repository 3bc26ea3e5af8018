/* The HTTP front: libmicrohttpd behind an interface that would let another library take its place. Strict framing, one memory total,
   answers that wait for durability without a thread. */
#ifndef STATOR_HTTP_HTTP_H
#define STATOR_HTTP_HTTP_H

#include "api/api.h"
#include "base/log.h"
#include "base/metrics.h"
#include "world/world.h"

struct http_options {
    struct api *api;
    struct world *world;
    struct log *log;               /* may be NULL */
    struct metrics *metrics;       /* may be NULL */
    struct memory_budget *memory;  /* what bodies and answers in flight share; may be NULL */
    const char *listen;            /* numeric address, "127.0.0.1" or "::1" */
    uint16_t port;                 /* 0: any free one, see http_port */
    unsigned threads;              /* 0: one a processor */
    unsigned connections_max;      /* 0: 4096 */
    unsigned idle_seconds;         /* a connection that moves no byte for so long is closed; so is one that takes much longer for a request. 0: 60 */
    const char *tls_certificate_path, *tls_key_path; /* both or neither: PEM */
};

struct http;

/* Starts serving. On failure NULL and one clear line in `problem` (port in use, bad address, unreadable certificate...). */
struct http *http_start(const struct http_options *options, char *problem, size_t problem_bytes);
uint16_t http_port(const struct http *http);

/* Takes no new connections, lets requests in flight finish (at most `grace_ms`), closes. */
void http_stop(struct http *http, int grace_ms);

#endif
