/* The front as a client sees it: connections, framing, bodies, answers that wait, memory, TLS, the end. */
#include "http/fixture_internal.h"
#include "http/http_internal.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <time.h>

static void connections_are_kept(void **state)
{
    struct fixture *f = *state;
    struct client client;
    struct response response;
    dial(f, &client);
    for (int i = 0; i < 3; i++) {
        assert_true(send_text(&client, "POST /a%20b?c=%41&d HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"));
        assert_true(read_response(&client, &response));
        assert_string_equal(response.body, "POST /a%20b ?c=%41&d 0 0");
        assert_null(strcasestr(response.head, "Connection:"));
        assert_non_null(strstr(response.head, "Date: "));
        assert_non_null(strstr(response.head, "X-Test: yes"));
    }
    assert_true(send_text(&client, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
    expect_body(&client, "GET / ? 0 0");
    assert_true(is_closed(&client));
    hang_up(&client);
}

static void requests_may_come_in_a_row(void **state)
{
    struct fixture *f = *state;
    struct client client;
    dial(f, &client);
    char requests[4096] = "";
    for (int i = 0; i < 20; i++)
        snprintf(requests + strlen(requests), sizeof requests - strlen(requests), "POST /%s%d HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na", i % 3 ? "" : "wait", i);
    assert_true(send_text(&client, requests));
    for (int i = 0; i < 20; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "POST /%s%d ? 1 97", i % 3 ? "" : "wait", i);
        expect_body(&client, expected);
    }
    hang_up(&client);
}

static void old_clients_are_served(void **state)
{
    struct fixture *f = *state;
    struct client client;
    struct response response;
    dial(f, &client);
    assert_true(send_text(&client, "POST / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na"));
    expect_body(&client, "POST / ? 1 97");
    assert_true(send_text(&client, "POST / HTTP/1.0\r\nContent-Length: 1\r\n\r\na"));
    expect_body(&client, "POST / ? 1 97");
    assert_true(is_closed(&client));
    hang_up(&client);
    dial(f, &client);
    assert_true(send_text(&client, "GET http://example.com/a?b HTTP/1.1\r\nHost: x\r\n\r\n\r\nGET http://example.com HTTP/1.1\r\nHost: x\r\n\r\n"));
    expect_body(&client, "GET /a ?b 0 0");
    expect_body(&client, "GET / ? 0 0");
    assert_true(send_text(&client, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert_true(read_response(&client, &response));
    hang_up(&client);
}

static void bodies_may_be_chunked(void **state)
{
    struct fixture *f = *state;
    struct client client;
    dial(f, &client);
    assert_true(send_text(&client, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\na\r\n002;ext=1\r\nbc\r\n0\r\nTrailer: x\r\n\r\n"));
    expect_body(&client, "POST / ? 3 96354");
    assert_true(send_text(&client, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"));
    expect_body(&client, "POST / ? 0 0");
    for (int i = 0; i < 300; i++) {
        assert_true(send_text(&client, i == 0 ? "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" : ""));
        char chunk[1100];
        int head = snprintf(chunk, sizeof chunk, "400\r\n");
        memset(chunk + head, 0, 1024);
        memcpy(chunk + head + 1024, "\r\n", 2);
        assert_true(send_bytes(&client, chunk, (size_t)head + 1026));
    }
    assert_true(send_text(&client, "0\r\n\r\n"));
    expect_body(&client, "POST / ? 307200 0");
    hang_up(&client);
}

static void clients_may_wait_for_a_go_ahead(void **state)
{
    struct fixture *f = *state;
    struct client client;
    struct response response;
    dial(f, &client);
    assert_true(send_text(&client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"));
    assert_true(read_response(&client, &response));
    assert_int_equal(response.status, 100);
    assert_true(send_text(&client, "ab"));
    expect_body(&client, "POST / ? 2 3105");
    assert_true(send_text(&client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16777217\r\nExpect: 100-continue\r\n\r\n"));
    assert_true(read_response(&client, &response));
    assert_int_equal(response.status, 413);
    assert_true(is_closed(&client));
    hang_up(&client);
}

/* Each could be read in two ways, so it is refused and nothing behind it is looked at. */
static void doubtful_framing_is_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const heads[] = {
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length : 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\ncontent-length: 4\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3,3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n folded: x\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: x\r\nA: b\r\n\tc\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\nContent-Length: 0\r\n\r\n",
        "POST / HTTP/1.1\nHost: x\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nA: b\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nA: b\rC: d\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\n: no name\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\n\x01: y\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nA: \x01\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        "POST / HTTP/1.1\r\n\r\n",
        "P{ST / HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST / HTTP/1.1 \r\nHost: x\r\n\r\n",
        "POST / http/1.1\r\nHost: x\r\n\r\n",
        "POST / HTTP/1\r\nHost: x\r\n\r\n",
    };
    unsigned calls = atomic_load(&f->api.calls);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        struct client client;
        struct response response;
        dial(f, &client);
        assert_true(send_text(&client, heads[i]));
        send_text(&client, "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n");
        if (!read_response(&client, &response) || response.status != 400 || !is_closed(&client))
            print_error("%s -> %d\n", heads[i], response.status);
        assert_int_equal(response.status, 400);
        hang_up(&client);
    }
    static const char with_nul[] = "POST / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n";
    struct client client;
    struct response response;
    dial(f, &client);
    assert_true(send_bytes(&client, with_nul, sizeof with_nul - 1));
    assert_true(read_response(&client, &response));
    assert_int_equal(response.status, 400);
    hang_up(&client);
    assert_int_equal(atomic_load(&f->api.calls), calls);
    expect_service(f);
}

static void headers_are_bounded(void **state)
{
    struct fixture *f = *state;
    char filler[8200];
    memset(filler, 'x', sizeof filler - 1);
    filler[sizeof filler - 1] = 0;
    struct client client;
    struct response response;
    dial(f, &client);
    send_text(&client, "POST / HTTP/1.1\r\nHost: x\r\nA: ");
    send_text(&client, filler);
    assert_true(send_text(&client, "\r\nContent-Length: 1\r\n\r\na"));
    expect_body(&client, "POST / ? 1 97");
    send_text(&client, "POST / HTTP/1.1\r\nHost: x\r\nA: ");
    send_text(&client, filler);
    send_text(&client, "\r\nB: ");
    send_text(&client, filler);
    send_text(&client, "\r\nContent-Length: 1\r\n\r\na");
    assert_true(read_response(&client, &response));
    assert_int_equal(response.status, 400);
    assert_true(is_closed(&client));
    hang_up(&client);
    dial(f, &client);
    send_text(&client, "POST /");
    send_text(&client, filler);
    send_text(&client, filler);
    send_text(&client, " HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na");
    assert_true(read_response(&client, &response));
    assert_int_equal(response.status, 400);
    hang_up(&client);
    dial(f, &client);
    char many[12000] = "POST / HTTP/1.1\r\nHost: x\r\n";
    for (int i = 0; i < 100; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "Header-%d: value\r\n", i);
    send_text(&client, many);
    assert_true(send_text(&client, "\r\n"));
    expect_body(&client, "POST / ? 0 0");
    hang_up(&client);
}

static void send_zeros(struct client *client, size_t bytes)
{
    static const char zeros[65536];
    while (bytes > 0) {
        size_t part = bytes < sizeof zeros ? bytes : sizeof zeros;
        if (!send_bytes(client, zeros, part))
            return;
        bytes -= part;
    }
}

static void large_bodies(void **state)
{
    struct fixture *f = *state;
    struct client client;
    struct response response;
    dial(f, &client);
    send_text(&client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16777216\r\n\r\n");
    send_zeros(&client, 16 << 20);
    expect_body(&client, "POST / ? 16777216 0");
    send_text(&client, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1000000\r\n");
    send_zeros(&client, 16 << 20);
    send_text(&client, "\r\n0\r\n\r\n");
    expect_body(&client, "POST / ? 16777216 0");
    send_text(&client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16777217\r\n\r\n");
    send_zeros(&client, (16 << 20) + 1);
    assert_true(read_response(&client, &response));
    assert_int_equal(response.status, 413);
    assert_non_null(strcasestr(response.head, "Transfer-Encoding: chunked"));
    assert_true(is_closed(&client));
    hang_up(&client);
    dial(f, &client);
    send_text(&client, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1000001\r\n");
    send_zeros(&client, (16 << 20) + 1);
    send_text(&client, "\r\n0\r\n\r\n");
    assert_true(read_response(&client, &response));
    assert_int_equal(response.status, 413);
    hang_up(&client);
    dial(f, &client);
    send_text(&client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n");
    assert_true(read_response(&client, &response));
    assert_int_equal(response.status, 413);
    hang_up(&client);
    expect_service(f);
}

/* One memory total: a length costs nothing, bytes do, and who comes when it is used up is told so and may come again. */
static void memory_is_bounded(void **state)
{
    struct fixture *f = *state;
    enum { STALLING = 16 };
    static struct client stalling[STALLING];
    for (int i = 0; i < STALLING; i++) {
        dial(f, &stalling[i]);
        send_text(&stalling[i], "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16777216\r\n\r\nx");
    }
    world_sleep_us(f->world, 50000);
    expect_service(f);
    struct client client;
    struct response response;
    dial(f, &client);
    send_text(&client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16777216\r\n\r\n");
    send_zeros(&client, 16 << 20);
    expect_body(&client, "POST / ? 16777216 0");
    /* Now they do send. */
    for (int i = 0; i < 4; i++)
        send_zeros(&stalling[i], 15 << 20);
    send_text(&client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16777216\r\n\r\n");
    send_zeros(&client, 16 << 20);
    assert_true(read_response(&client, &response));
    assert_int_equal(response.status, 503);
    assert_string_equal(response.body, "no memory");
    assert_true(is_closed(&client));
    hang_up(&client);
    assert_true(atomic_load(&f->memory.used_bytes) <= f->memory.limit_bytes);
    for (int i = 0; i < STALLING; i++)
        hang_up(&stalling[i]);
    for (int i = 0; i < 200 && atomic_load(&f->memory.used_bytes) > 4 << 20; i++)
        world_sleep_us(f->world, 10000);
    dial(f, &client);
    send_text(&client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16777216\r\n\r\n");
    send_zeros(&client, 16 << 20);
    expect_body(&client, "POST / ? 16777216 0");
    hang_up(&client);
}

static void answers_wait_until_durable(void **state)
{
    struct fixture *f = *state;
    enum { CLIENTS = 32, ROUNDS = 60 };
    static struct client clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        dial(f, &clients[i]);
    for (int round = 0; round < ROUNDS; round++) {
        char text[128];
        for (int i = 0; i < CLIENTS; i++) {
            snprintf(text, sizeof text, "POST /wait%d HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na", (i * 37 + round * 11) % 4 == 0 ? 0 : (i * 97) % 2000);
            assert_true(send_text(&clients[i], text));
        }
        for (int i = 0; i < CLIENTS; i++) {
            struct response response;
            assert_true(read_response(&clients[i], &response));
            assert_int_equal(response.status, 200);
        }
    }
    for (int i = 0; i < CLIENTS; i++)
        hang_up(&clients[i]);
}

static void long_requests_stop_nobody(void **state)
{
    struct fixture *f = *state;
    enum { LONG_ONES = 8, SHORT_ONES = 50, LONG_US = 100000 };
    static struct client slow[LONG_ONES];
    for (int i = 0; i < LONG_ONES; i++) {
        char text[128];
        dial(f, &slow[i]);
        snprintf(text, sizeof text, "POST /long%d HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%.*s", LONG_US, i % 3, i % 3, "ab");
        assert_true(send_text(&slow[i], text));
    }
    while (atomic_load(&f->api.calls) == 0)
        world_sleep_us(f->world, 1000);
    /* Two workers: the last of the long ones cannot be done before four times LONG_US. */
    for (int i = 0; i < SHORT_ONES; i++)
        expect_service(f);
    assert_true(atomic_load(&f->api.calls) < SHORT_ONES + LONG_ONES);
    for (int i = 0; i < LONG_ONES; i++) {
        struct response response;
        assert_true(read_response(&slow[i], &response));
        assert_int_equal(response.status, 200);
        hang_up(&slow[i]);
    }
}

static void many_long_requests_at_once(void **state)
{
    struct fixture *f = *state;
    enum { CLIENTS = 32, ROUNDS = 40 };
    static struct client clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        dial(f, &clients[i]);
    for (int round = 0; round < ROUNDS; round++) {
        char text[128];
        for (int i = 0; i < CLIENTS; i++) {
            /* Some clients leave in the middle. */
            if ((i + round) % 9 == 0) {
                hang_up(&clients[i]);
                dial(f, &clients[i]);
            }
            snprintf(text, sizeof text, "POST /long%d HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%.*s", i % 4 * 20, i % 2, i % 2, "a");
            assert_true(send_text(&clients[i], text));
        }
        for (int i = 0; i < CLIENTS; i++) {
            struct response response;
            if ((i + round) % 9 == 8)
                continue; /* it leaves in the next round */
            assert_true(read_response(&clients[i], &response));
            assert_int_equal(response.status, 200);
        }
    }
    for (int i = 0; i < CLIENTS; i++)
        hang_up(&clients[i]);
}

static void what_is_not_durable_is_not_told(void **state)
{
    struct fixture *f = *state;
    struct client client;
    struct response response;
    dial(f, &client);
    for (int i = 0; i < 2; i++) {
        send_text(&client, "POST /fail HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na");
        assert_true(read_response(&client, &response));
        assert_int_equal(response.status, 500);
        assert_string_equal(response.body, "not durable");
    }
    hang_up(&client);
}

/* A client that has sent all and closes its side is still answered; unless the answer waits: then the library takes the end of the stream
   for the end of the client's interest, and the connection ends, as it may at any time. */
static void half_closed_connections_are_answered(void **state)
{
    struct fixture *f = *state;
    struct client client;
    struct response response;
    dial(f, &client);
    send_text(&client, "POST /ok HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na");
    shutdown(client.socket, SHUT_WR);
    expect_body(&client, "POST /ok ? 1 97");
    hang_up(&client);
    dial(f, &client);
    send_text(&client, "POST /wait20000 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na");
    shutdown(client.socket, SHUT_WR);
    assert_true(!read_response(&client, &response) || response.status == 200);
    hang_up(&client);
}

static void the_end_lets_requests_finish(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    start(f);
    struct client waiting, idle;
    struct response response;
    dial(f, &waiting);
    dial(f, &idle);
    send_text(&waiting, "POST /wait300000 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na");
    while (atomic_load(&f->api.calls) == 0)
        world_sleep_us(f->world, 1000);
    http_stop(f->http, 5000);
    assert_true(read_response(&waiting, &response));
    assert_int_equal(response.status, 200);
    assert_non_null(strcasestr(response.head, "Connection: close"));
    assert_true(is_closed(&waiting) && is_closed(&idle));
    hang_up(&waiting);
    hang_up(&idle);
    releases_end(&f->api);
    assert_int_equal(atomic_load(&f->memory.used_bytes), 0);
    world_free(f->world);
    free(f);
}

static void the_end_does_not_wait_for_ever(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    start(f);
    struct client client;
    struct response response;
    dial(f, &client);
    send_text(&client, "POST /never HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na");
    while (atomic_load(&f->api.calls) == 0)
        world_sleep_us(f->world, 1000);
    http_stop(f->http, 50);
    assert_false(read_response(&client, &response));
    hang_up(&client);
    /* The write ends after all; what the front left for it must still be there. */
    durable_wait_release(f->api.kept, FAULT_NONE);
    world_free(f->world);
    free(f);
}

/* What a worker has begun it ends, what none has begun is dropped. */
static void the_end_waits_for_workers(void **state)
{
    (void)state;
    enum { CLIENTS = 6 };
    struct fixture *f = fixture_new();
    start(f);
    static struct client clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        dial(f, &clients[i]);
        send_text(&clients[i], "POST /long200000 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na");
    }
    while (atomic_load(&f->api.calls) < 2)
        world_sleep_us(f->world, 1000);
    http_stop(f->http, 20);
    assert_int_equal(atomic_load(&f->api.calls), 2);
    for (int i = 0; i < CLIENTS; i++) {
        struct response response;
        assert_true(!read_response(&clients[i], &response) || response.status == 200);
        hang_up(&clients[i]);
    }
    /* Writes may still be under way behind the front's back, but not for long. */
    for (int i = 0; i < 1000 && atomic_load(&f->memory.used_bytes) > 0; i++)
        world_sleep_us(f->world, 1000);
    releases_end(&f->api);
    assert_int_equal(atomic_load(&f->memory.used_bytes), 0);
    world_free(f->world);
    free(f);
}

static void starts_that_fail_say_why(void **state)
{
    struct fixture *f = *state;
    const struct {
        const char *listen, *part;
        bool same_port;
    } cases[] = {{"127.0.0.1", "in use", true}, {"nowhere", "is no address", false}, {"192.0.2.1", "has no address", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char problem[256] = "";
        struct metrics metrics;
        metrics_open(&metrics);
        struct http_options options = f->options;
        options.metrics = &metrics;
        options.listen = cases[i].listen;
        options.port = cases[i].same_port ? http_port(f->http) : 0;
        assert_null(http_start(&options, problem, sizeof problem));
        assert_non_null(strstr(problem, cases[i].part));
    }
    char problem[256] = "";
    struct http_options options = f->options;
    options.metrics = NULL;
    options.tls_certificate_path = options.tls_key_path = "/nowhere.pem";
    assert_null(http_start(&options, problem, sizeof problem));
    assert_non_null(strstr(problem, "/nowhere.pem"));
}

/* --- TLS --- */

static void write_pem(const char *path, const gnutls_datum_t *pem)
{
    FILE *file = fopen(path, "w");
    assert_true(file && fwrite(pem->data, 1, pem->size, file) == pem->size && fclose(file) == 0);
}

static void make_certificate(const char *certificate_path, const char *key_path)
{
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t certificate;
    gnutls_datum_t pem;
    assert_int_equal(gnutls_x509_privkey_init(&key), 0);
    assert_int_equal(gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0), 0);
    assert_int_equal(gnutls_x509_crt_init(&certificate), 0);
    gnutls_x509_crt_set_version(certificate, 3);
    gnutls_x509_crt_set_serial(certificate, "\1", 1);
    gnutls_x509_crt_set_activation_time(certificate, time(NULL) - 86400);
    gnutls_x509_crt_set_expiration_time(certificate, time(NULL) + 86400);
    gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, "localhost", 9);
    gnutls_x509_crt_set_key(certificate, key);
    assert_int_equal(gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &pem), 0);
    write_pem(certificate_path, &pem);
    gnutls_free(pem.data);
    assert_int_equal(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &pem), 0);
    write_pem(key_path, &pem);
    gnutls_free(pem.data);
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_privkey_deinit(key);
}

static void ask_over_tls(struct fixture *f, const char *priorities, bool works)
{
    struct client client;
    dial(f, &client);
    gnutls_session_t session;
    gnutls_certificate_credentials_t credentials;
    gnutls_certificate_allocate_credentials(&credentials);
    gnutls_init(&session, GNUTLS_CLIENT);
    gnutls_priority_set_direct(session, priorities, NULL);
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials);
    gnutls_transport_set_int(session, client.socket);
    int result;
    do
        result = gnutls_handshake(session);
    while (result < 0 && !gnutls_error_is_fatal(result));
    assert_int_equal(result == 0, works);
    if (works) {
        static const char request[] = "POST /wait10 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab";
        char answer[1024];
        assert_int_equal(gnutls_record_send(session, request, sizeof request - 1), sizeof request - 1);
        size_t length = 0;
        answer[0] = 0;
        while (!strstr(answer, "POST /wait10 ? 2 3105")) {
            ssize_t got = gnutls_record_recv(session, answer + length, sizeof answer - 1 - length);
            if (got == GNUTLS_E_AGAIN || got == GNUTLS_E_INTERRUPTED)
                continue;
            assert_true(got > 0);
            length += (size_t)got;
            answer[length] = 0;
        }
    }
    gnutls_deinit(session);
    gnutls_certificate_free_credentials(credentials);
    hang_up(&client);
}

static void https_is_served(void **state)
{
    (void)state;
    char folder[] = "/tmp/stator-tls-XXXXXX", certificate[64], key[64];
    assert_non_null(mkdtemp(folder));
    snprintf(certificate, sizeof certificate, "%s/c.pem", folder);
    snprintf(key, sizeof key, "%s/k.pem", folder);
    make_certificate(certificate, key);
    struct fixture *f = fixture_new();
    f->options.tls_certificate_path = certificate;
    f->options.tls_key_path = key;
    start(f);
    ask_over_tls(f, "NORMAL:-VERS-ALL:+VERS-TLS1.3", true);
    ask_over_tls(f, "NORMAL:-VERS-ALL:+VERS-TLS1.2", true);
    ask_over_tls(f, "NORMAL:-VERS-ALL:+VERS-TLS1.1", false);
    struct client client;
    struct response response;
    dial(f, &client);
    send_text(&client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab");
    assert_true(read_response(&client, &response));
    assert_int_equal(response.status, 400);
    hang_up(&client);
    char problem[256] = "";
    struct http_options swapped = f->options;
    swapped.metrics = NULL;
    swapped.tls_key_path = certificate;
    assert_null(http_start(&swapped, problem, sizeof problem));
    assert_non_null(strstr(problem, "no certificate and its key"));
    unlink(certificate);
    unlink(key);
    rmdir(folder);
    void *again = f;
    tear_down(&again);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(connections_are_kept),
        CASE(requests_may_come_in_a_row),
        CASE(old_clients_are_served),
        CASE(bodies_may_be_chunked),
        CASE(clients_may_wait_for_a_go_ahead),
        CASE(doubtful_framing_is_refused),
        CASE(headers_are_bounded),
        CASE(large_bodies),
        CASE(memory_is_bounded),
        CASE(answers_wait_until_durable),
        CASE(long_requests_stop_nobody),
        CASE(many_long_requests_at_once),
        CASE(what_is_not_durable_is_not_told),
        CASE(half_closed_connections_are_answered),
        cmocka_unit_test(the_end_lets_requests_finish),
        cmocka_unit_test(the_end_does_not_wait_for_ever),
        cmocka_unit_test(the_end_waits_for_workers),
        CASE(starts_that_fail_say_why),
        cmocka_unit_test(https_is_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
