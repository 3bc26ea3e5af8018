/* What the files of this folder share: the front's state, its connections and its requests. */
#ifndef STATOR_HTTP_HTTP_INTERNAL_H
#define STATOR_HTTP_HTTP_INTERNAL_H

#include "http/http.h"

#include <microhttpd.h>
#include <stdatomic.h>

enum {
    HTTP_HEADER_BYTES_MAX = 16 << 10,       /* request line and headers */
    HTTP_CONNECTION_MEMORY_BYTES = 20 << 10, /* what the library keeps for a connection: a little over what a request's headers may take; it clears them every time */
    HTTP_BODY_INLINE_BYTES = 64 << 10,      /* bodies up to this size are read straight into the call's arena */
    HTTP_DRAIN_BYTES_MAX = 64 << 20,        /* how much of a refused body is read and thrown away, so that its client sees the answer */
    HTTP_BODY_BYTES_A_SECOND_MIN = 8 << 10, /* a body may take idle_seconds, and a second for every so many bytes */
    HTTP_HEADERS_INLINE = 32,
    HTTP_WORKERS_MAX = 64,
    HTTP_SPARE_REQUESTS_MAX = 64
};

/* A connection, for the sweeper: what it waits for since when. */
struct http_peer {
    struct http_peer *next, **before;
    int socket;
    bool has_received;   /* bytes of a TLS connection: the first say whether it is one */
    atomic_int_fast64_t waiting_since_us; /* for a request's headers to be complete; monotonic; 0: not waiting */
};

enum http_phase {
    PHASE_HEADERS,  /* the request line has come */
    PHASE_BODY,
    PHASE_DRAIN,    /* the answer is known; what still comes of the body is thrown away */
    PHASE_WAITING,  /* a worker makes the answer, or it is built and waits until it is durable; the connection is suspended */
    PHASE_SENDING
};

/* Who changes WAIT_PENDING resumes the connection, so that it is resumed once. */
enum http_wait {
    WAIT_PENDING,
    WAIT_DURABLE,
    WAIT_ABANDONED /* the front stops and waits no longer */
};

struct http_request {
    struct http_request *next, **before; /* spare requests, or those that wait; guarded by http->mutex */
    struct http_request *work_next; /* in http->work; guarded by http->mutex */
    struct http *http;
    struct MHD_Connection *connection;
    struct call call;
    struct auth_request request;
    struct auth_header headers_inline[HTTP_HEADERS_INLINE];
    str target;                  /* as the request line has it */
    enum http_phase phase;
    struct buf body;             /* in the call's arena, or (body_is_own) in memory of its own */
    bool body_is_own;
    bool is_counted;             /* in http->requests_active */
    size_t body_charged_bytes;   /* of the memory total, for a body of its own and for reading it */
    size_t reading_bytes;        /* of body_charged_bytes: for reading it */
    uint64_t body_received_bytes;
    int64_t started_us;          /* monotonic */
    int refusal;                 /* status of the answer that PHASE_DRAIN ends with */
    atomic_int parties;          /* the connection, and the durable wait while one is outstanding: the last frees the request */
    atomic_int wait;             /* enum http_wait */
    struct api_answer answer;
};

struct http {
    struct http_options options;
    struct MHD_Daemon *daemon;
    int listen_socket;
    uint16_t port;
    char *certificate, *key;      /* PEM */
    atomic_bool is_stopping;
    atomic_uint requests_active;  /* whose headers are complete and whose answer is not yet sent */
    struct world_mutex mutex;     /* guards what follows */
    struct world_cond sweeper_wake;
    struct world_thread *sweeper;
    struct http_request *spare;
    size_t spare_count;
    struct http_request *waiting;
    struct http_request *work, **work_last; /* for the workers, the oldest first */
    struct world_cond work_wake;
    bool work_ends;               /* the workers take no more */
    struct world_thread *workers[HTTP_WORKERS_MAX];
    unsigned worker_count;
    bool is_abandoning;           /* the front stops: nobody may begin to wait */
    unsigned abandoned_count;     /* requests whose durable wait outlives the front's end */
    atomic_uint users;            /* its owner, and those requests: the last frees it */
    atomic_uint resuming;         /* threads that are about to resume a connection: the library may not stop before them */
    struct http_peer *peers;
    struct metric connections, waiting_for_worker, refused_framing, refused_memory, closed_slow;
};

/* Why a request's framing is refused, as a phrase for the client, or NULL when it is sound. `content_length` is set to the length announced,
   or to UINT64_MAX when the body is chunked. `target` and `version` are the request line's. */
const char *http_framing_fault(const struct auth_header *headers, size_t count, str method, str target, str version, uint64_t *content_length);

/* The path and the query of a request line's target (origin form, absolute form or "*"). */
void http_split_target(str target, str *path, str *query);

/* Callbacks for the library. */
void *http_request_begins(void *http, const char *target, struct MHD_Connection *connection);
enum MHD_Result http_request_moves(void *http, struct MHD_Connection *connection, const char *target, const char *method, const char *version,
    const char *data, size_t *data_bytes, void **request);
void http_request_ends(void *http, struct MHD_Connection *connection, void **request, enum MHD_RequestTerminationCode how);

/* Makes the answer of a request whose body is there. */
void http_request_operate(struct http_request *request);

/* The threads that make long answers. */
void http_workers_start(struct http *http, unsigned count);

/* With http->mutex held: has a worker make the answer and release the call's own hold. */
void http_work_add(struct http_request *request);

/* Once what the workers have begun is done: what they have not begun stays, to be abandoned and then dropped. */
void http_workers_stop(struct http *http);
void http_work_drop(struct http *http);

/* Lets those that wait for a worker or for durability go without an answer: their connections will be closed. */
void http_requests_abandon(struct http *http);
void http_requests_free_spare(struct http *http);
void http_release(struct http *http);

/* A socket that listens on a numeric address, or -1 and one clear line in `problem`. */
int http_listen(const char *address, uint16_t port, uint16_t *chosen, char *problem, size_t problem_bytes);

/* Answers who speaks plain HTTP to the TLS port in kind, before the handshake fails; without a word they would wait or wonder. */
void http_tls_watch(void *session, struct http_peer *peer);

/* Reads and checks a certificate and its key; false and one clear line in `problem`. */
bool http_tls_read(const char *certificate_path, const char *key_path, char **certificate, char **key, char *problem, size_t problem_bytes);

#endif
