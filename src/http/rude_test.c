/* Clients that stall, reset, send a byte at a time or bytes that are no HTTP: they must cost nobody else anything. */
#include "http/fixture_internal.h"
#include "http/http_internal.h"

enum { IDLE_SECONDS = 1, QUICK_US = 500000 };

static int set_up_impatient(void **state)
{
    struct fixture *f = fixture_new();
    f->options.idle_seconds = IDLE_SECONDS;
    start(f);
    *state = f;
    return 0;
}

/* What a slow client sends at first, and then over and over. */
struct trickle {
    const char *head, *filler;
};

/* Clients of the two kinds by turns send for `us`; others are served quickly all the while. Counts who was cut off. */
static int trickle(struct fixture *f, struct client *clients, int count, const struct trickle kinds[2], int64_t us)
{
    int cut_off = 0;
    bool gone[64] = {false};
    for (int i = 0; i < count; i++) {
        dial(f, &clients[i]);
        assert_true(send_text(&clients[i], kinds[i % 2].head));
    }
    int64_t start_us = world_mono_us(f->world);
    while (world_mono_us(f->world) - start_us < us) {
        for (int i = 0; i < count; i++)
            gone[i] = gone[i] || !send_text(&clients[i], kinds[i % 2].filler);
        int64_t before_us = world_mono_us(f->world);
        expect_service(f);
        assert_true(world_mono_us(f->world) - before_us < QUICK_US);
        world_sleep_us(f->world, 100000);
    }
    for (int i = 0; i < count; i++) {
        cut_off += gone[i];
        hang_up(&clients[i]);
    }
    return cut_off;
}

static void slow_headers_end(void **state)
{
    struct fixture *f = *state;
    static struct client clients[40];
    const struct trickle kinds[2] = {{"POST / HTTP/1.1\r\nHost: x\r\nA: ", "b"}, {"P", "O"}};
    assert_int_equal(trickle(f, clients, 40, kinds, 4500000), 40);
}

static void slow_bodies_end(void **state)
{
    struct fixture *f = *state;
    static struct client clients[40];
    const struct trickle kinds[2] = {{"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16777216\r\n\r\n", "b"},
                                     {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nb\r\n"}};
    assert_int_equal(trickle(f, clients, 40, kinds, 2500000), 40);
}

/* A body that comes steadily may take longer than a connection may idle. */
static void steady_bodies_may_take_their_time(void **state)
{
    struct fixture *f = *state;
    struct client client;
    static char block[32768];
    dial(f, &client);
    send_text(&client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 491520\r\n\r\n");
    for (int i = 0; i < 15; i++) {
        assert_true(send_bytes(&client, block, sizeof block));
        world_sleep_us(f->world, 150000);
    }
    expect_body(&client, "POST / ? 491520 0");
    hang_up(&client);
}

static void idle_connections_end(void **state)
{
    struct fixture *f = *state;
    struct client silent, after_answer;
    dial(f, &silent);
    dial(f, &after_answer);
    send_text(&after_answer, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na");
    expect_body(&after_answer, "POST / ? 1 97");
    int64_t start_us = world_mono_us(f->world);
    assert_true(is_closed(&silent) && is_closed(&after_answer));
    assert_true(world_mono_us(f->world) - start_us < 4000000);
    hang_up(&silent);
    hang_up(&after_answer);
}

/* Who does not read its answers holds their memory until it idles too long; others are served. */
static void clients_that_do_not_read_end(void **state)
{
    struct fixture *f = *state;
    static struct client clients[10];
    for (int i = 0; i < 10; i++) {
        dial(f, &clients[i]);
        send_text(&clients[i], "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    /* Ten bodies of 4 MB fit, because what went into each is given back while they wait. */
    for (int i = 0; i < 30000 && atomic_load(&f->api.calls) < 10; i++)
        world_sleep_us(f->world, 1000);
    assert_int_equal(atomic_load(&f->api.calls), 10);
    for (int i = 0; i < 10; i++)
        expect_service(f);
    for (int i = 0; i < 3000 && atomic_load(&f->memory.used_bytes) > 4 << 20; i++)
        world_sleep_us(f->world, 10000);
    assert_true(atomic_load(&f->memory.used_bytes) <= 4 << 20);
    for (int i = 0; i < 10; i++)
        hang_up(&clients[i]);
}

static void reset(struct client *client)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    setsockopt(client->socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(client->socket);
}

static void resets_are_survived(void **state)
{
    struct fixture *f = *state;
    static const char *const texts[] = {
        "",
        "POST",
        "POST / HTTP/1.1\r\nHost: x\r\nA",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
        "POST /ok HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na",
        "POST /wait20000 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na",
        "GET /large HTTP/1.1\r\nHost: x\r\n\r\n",
    };
    for (int round = 0; round < 40; round++) {
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
            struct client client;
            dial(f, &client);
            send_text(&client, texts[i]);
            if (round % 2)
                world_sleep_us(f->world, 300);
            reset(&client);
        }
    }
    expect_service(f);
}

/* A request out of pieces, some of them wrong, some cut, some changed by a byte. */
static size_t make_noise(struct world *world, char *out, size_t room)
{
    static const char *const pieces[] = {
        "POST / HTTP/1.1\r\n", "GET /a?b=c HTTP/1.1\r\n", "POST /wait5 HTTP/1.1\r\n", "PUT  /  HTTP/1.0\r\n", "Host: x\r\n", "Host: x\n", "Content-Length: 3\r\n",
        "Content-Length: 18446744073709551616\r\n", "Content-Length : 3\r\n", "Content-Length: 99999\r\n", "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding: x\r\n", "Expect: 100-continue\r\n", "Connection: close\r\n", "Connection: keep-alive, upgrade\r\nUpgrade: h2c\r\n", " folded\r\n", "A: b\rc\r\n", ":\r\n",
        "\r\n", "\r\n\r\n", "abc", "3\r\nabc\r\n", "0\r\n\r\n", "ffffffffffffffff\r\n", "fffffffffffffffff\r\n", "-1\r\n", "0\r\nT: x\r\n\r\n", "\0\0\0", "\x16\x03\x01",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "Cookie: a=b; c\r\n", "%00%ff%zz", "Authorization: AWS4-HMAC-SHA256 x\r\n",
    };
    size_t length = 0, count = 1 + world_random_below(world, 10);
    for (size_t i = 0; i < count; i++) {
        const char *piece = pieces[world_random_below(world, i == 0 ? 4 : sizeof pieces / sizeof pieces[0])];
        size_t bytes = strlen(piece);
        if (length + bytes > room)
            break;
        memcpy(out + length, piece, bytes);
        length += bytes;
    }
    if (world_random_below(world, 3) == 0 && length > 0)
        out[world_random_below(world, length)] = (char)world_random_below(world, 256);
    if (world_random_below(world, 4) == 0)
        length = (size_t)world_random_below(world, length + 1);
    return length;
}

static void noise_is_survived(void **state)
{
    struct fixture *f = *state;
    char noise[2048];
    for (int round = 0; round < 1500; round++) {
        struct client client;
        size_t length = make_noise(f->world, noise, sizeof noise);
        dial(f, &client);
        send_bytes(&client, noise, length);
        if (world_random_below(f->world, 4) == 0)
            reset(&client);
        else
            hang_up(&client);
        if (round % 300 == 0)
            expect_service(f);
    }
    expect_service(f);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up_impatient, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(slow_headers_end),
        CASE(slow_bodies_end),
        CASE(steady_bodies_may_take_their_time),
        CASE(idle_connections_end),
        CASE(clients_that_do_not_read_end),
        CASE(resets_are_survived),
        CASE(noise_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
