/* Fuzzes the front with bytes as a client may send them: the input goes to a server in this process as it is, in one piece or (first byte
   odd) in two. The server must neither crash nor hang, and must hand over no request that its framing does not allow. */
#include "http/http.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The API that is played: it looks at what arrived. */
struct api {
    struct world *world;
};

str api_header_find(const struct auth_request *request, str name)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (str_equal_folded(request->headers[i].name, name))
            return request->headers[i].value;
    return STR_NONE;
}

bool api_is_long(const struct auth_request *request)
{
    return request->body.len % 2;
}

void api_call(struct api *api, struct call *call, const struct auth_request *request, struct api_answer *answer)
{
    (void)api;
    *answer = (struct api_answer){.status = 200, .body = STR("ok")};
    size_t lengths = 0, codings = 0;
    for (size_t i = 0; i < request->header_count; i++) {
        str name = request->headers[i].name;
        assert(name.len > 0 && str_find(name, ' ') == name.len && str_find(name, '\t') == name.len && str_find(request->headers[i].value, '\n') == request->headers[i].value.len);
        lengths += str_equal_folded(name, STR("Content-Length"));
        codings += str_equal_folded(name, STR("Transfer-Encoding"));
    }
    assert(lengths + codings <= 1);
    str length = api_header_find(request, STR("Content-Length"));
    if (lengths)
        assert(request->body.len == strtoull(arena_copy_text(&call->arena, length), NULL, 10));
    else
        assert(codings || request->body.len == 0);
}

void api_answer_failed(struct api *api, struct call *call, const struct auth_request *request, struct api_answer *answer)
{
    api_call(api, call, request, answer);
}

void api_answer_unavailable(struct api *api, struct call *call, const struct auth_request *request, struct api_answer *answer)
{
    (void)api;
    (void)call;
    (void)request;
    *answer = (struct api_answer){.status = 503};
}

void api_answer_leaves(struct api *api, const struct api_answer *answer)
{
    (void)api;
    (void)answer;
}

static int dial(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert(client >= 0 && connect(client, (struct sockaddr *)&address, sizeof address) == 0);
    return client;
}

/* One server for all inputs: it ends with the process. */
static uint16_t server_port(void)
{
    static struct http *http;
    static struct api api;
    static struct memory_budget memory = {.limit_bytes = 64 << 20};
    if (http)
        return http_port(http);
    char problem[256];
    api.world = world_real_new();
    struct http_options options = {.api = &api, .world = api.world, .memory = &memory, .listen = "127.0.0.1", .threads = 1, .idle_seconds = 2};
    http = http_start(&options, problem, sizeof problem);
    assert(http);
    return http_port(http);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char sound[] = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    uint16_t port = server_port();
    int client = dial(port);
    size_t half = size > 0 && data[0] % 2 ? size / 2 : size;
    send(client, data, half, MSG_NOSIGNAL);
    send(client, data + half, size - half, MSG_NOSIGNAL);
    /* A second client is answered, whatever the first has sent. */
    int other = dial(port);
    char answer[512];
    struct timeval patience = {.tv_sec = 20};
    setsockopt(other, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ssize_t sent = send(other, sound, sizeof sound - 1, MSG_NOSIGNAL);
    assert(sent == sizeof sound - 1);
    ssize_t got = recv(other, answer, sizeof answer, 0);
    assert(got > 12 && memcmp(answer, "HTTP/1.1 200", 12) == 0);
    struct linger at_once = {.l_onoff = 1};
    setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    setsockopt(other, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(client);
    close(other);
    return 0;
}
