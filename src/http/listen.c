/* The listening socket: ours and not the library's, so that what goes wrong can be said. */
#include "http/http_internal.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

static int refuse(int listener, char *problem, size_t problem_bytes, const char *address, uint16_t port, int error)
{
    if (listener >= 0)
        close(listener);
    if (error == EADDRINUSE)
        snprintf(problem, problem_bytes, "port %u of %s is in use by another program; choose another with --port, or --port 0 for any free one", port, address);
    else if (error == EACCES)
        snprintf(problem, problem_bytes, "port %u may not be opened by this user; choose one above 1023 with --port", port);
    else if (error == EADDRNOTAVAIL)
        snprintf(problem, problem_bytes, "this machine has no address %s to listen on; see --listen", address);
    else
        snprintf(problem, problem_bytes, "cannot listen on %s port %u: %s", address, port, strerror(error));
    return -1;
}

static uint16_t port_of(int listener)
{
    struct sockaddr_storage bound;
    socklen_t bytes = sizeof bound;
    if (getsockname(listener, (struct sockaddr *)&bound, &bytes) != 0)
        return 0;
    in_port_t port = bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port : ((struct sockaddr_in *)&bound)->sin_port;
    return ntohs(port);
}

int http_listen(const char *address, uint16_t port, uint16_t *chosen, char *problem, size_t problem_bytes)
{
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE}, *found;
    if (getaddrinfo(address, service, &hints, &found) != 0) {
        snprintf(problem, problem_bytes, "%s is no address to listen on; --listen takes a numeric one, such as 127.0.0.1, 0.0.0.0 or ::1", address);
        return -1;
    }
    int on = 1;
    int listener = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int failed = listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
                 bind(listener, found->ai_addr, found->ai_addrlen) != 0 || listen(listener, BACKLOG) != 0;
    int error = errno;
    freeaddrinfo(found);
    if (failed)
        return refuse(listener, problem, problem_bytes, address, port, error);
    /* Inherited by the connections: answers are small and must not wait for each other. */
    setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    *chosen = port_of(listener);
    return listener;
}
