/* Signature Version 4: who sent a request, and was it signed with their key. Pure: time and keys are arguments.
   Texts and order of errors: reference wire.md section 5. */
#ifndef STATOR_AUTH_AUTH_H
#define STATOR_AUTH_AUTH_H

#include "base/call.h"

struct auth_header {
    str name;
    str value;
};

/* A request as it came in. */
struct auth_request {
    str method;
    str path;                          /* raw, percent-encoded, "/" at least */
    str query;                         /* raw, without '?' */
    const struct auth_header *headers; /* in the order received */
    size_t header_count;
    str body;                          /* as sent: compressed when it was */
};

/* What the Authorization header or the query says, unverified. Parts that are absent are empty. */
struct auth_claim {
    bool is_query;
    str access_key, date, region, service, terminator; /* the credential scope */
    str signed_headers, signature;
    str timestamp;                                     /* X-Amz-Date or Date */
    str session_token;
};

/* Reads what is there and refuses nothing: for --auth any, which takes any credentials. */
void auth_claim_read(struct call *call, const struct auth_request *request, struct auth_claim *claim);

enum { AUTH_SIGNING_KEY_BYTES = 32 };

/* An access key as the keys file has it. */
struct auth_key {
    str access_key;
    str secret;
    str session_token;      /* empty: a long-term key, with which a token is refused */
    int64_t expires_us;     /* of the session token; 0: never */
    str account;            /* 12 digits */
};

/* Finds a key; NULL when there is none. The key must live as long as the call. */
typedef const struct auth_key *(*auth_key_find)(void *context, str access_key);

/* Signing keys already derived, so that a request costs two hashes and an HMAC, not four HMACs more. Thread-safe. */
struct auth_cache;
struct auth_cache *auth_cache_new(struct world *world);
void auth_cache_free(struct auth_cache *cache);

/* Verifies the request at now_us; on success *claim and *key are set. `cache` may be NULL. Faults: MISSING_AUTHENTICATION_TOKEN,
   INCOMPLETE_SIGNATURE, INVALID_SIGNATURE, UNRECOGNIZED_CLIENT, EXPIRED_TOKEN. */
enum fault auth_verify(struct call *call, const struct auth_request *request, int64_t now_us, auth_key_find find, void *context,
    struct auth_cache *cache, struct auth_claim *claim, const struct auth_key **key) MUST_USE;

/* Signs: for the load client and the tests. Appends the Authorization header's value to `out`. `timestamp` is that of X-Amz-Date, which must be
   among the headers; so must Host. Every header is signed but those that proxies change. `cache` may be NULL. */
void auth_sign(struct call *call, const struct auth_request *request, const struct auth_key *key, str region, str timestamp, struct auth_cache *cache,
    struct buf *out);

#endif
