/* Certificates: read and tried before the library gets them, because it only says that it could not start. */
#include "http/http_internal.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { PEM_BYTES_MAX = 1 << 20, RECORD_HANDSHAKE = 0x16, DISCARD_ROUNDS_MAX = 16 };

static const char plain_on_tls[] = "HTTP/1.1 400 Bad Request\r\nServer: Server\r\nContent-Type: text/plain\r\nContent-Length: 58\r\nConnection: close\r\n\r\n"
                                   "This port speaks TLS: its address begins with https://...\n";

static void refuse_plain(int socket)
{
    char unread[4096];
    send(socket, plain_on_tls, sizeof plain_on_tls - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    /* Closing over unread bytes would reset the connection, and the answer might be lost. */
    for (int round = 0; round < DISCARD_ROUNDS_MAX; round++)
        if (recv(socket, unread, sizeof unread, MSG_DONTWAIT) <= 0)
            break;
}

/* How a session gets its bytes. */
static ssize_t receive(gnutls_transport_ptr_t cls, void *data, size_t bytes)
{
    struct http_peer *peer = cls;
    ssize_t received = recv(peer->socket, data, bytes, 0);
    if (received > 0 && !peer->has_received) {
        peer->has_received = true;
        if (*(unsigned char *)data != RECORD_HANDSHAKE) {
            refuse_plain(peer->socket);
            return 0;
        }
    }
    return received;
}

void http_tls_watch(void *session, struct http_peer *peer)
{
    gnutls_transport_ptr_t for_receiving, for_sending;
    gnutls_transport_get_ptr2(session, &for_receiving, &for_sending);
    gnutls_transport_set_ptr2(session, peer, for_sending);
    gnutls_transport_set_pull_function(session, receive);
}

static char *read_file(const char *path, char *problem, size_t problem_bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        snprintf(problem, problem_bytes, "cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    char *text = malloc(PEM_BYTES_MAX + 1);
    size_t bytes = text ? fread(text, 1, PEM_BYTES_MAX + 1, file) : 0;
    bool sound = text && !ferror(file) && bytes <= PEM_BYTES_MAX;
    fclose(file);
    if (!sound) {
        snprintf(problem, problem_bytes, "cannot read %s: it is no file of at most 1 MB", path);
        free(text);
        return NULL;
    }
    text[bytes] = 0;
    return text;
}

bool http_tls_read(const char *certificate_path, const char *key_path, char **certificate, char **key, char *problem, size_t problem_bytes)
{
    *certificate = read_file(certificate_path, problem, problem_bytes);
    *key = *certificate ? read_file(key_path, problem, problem_bytes) : NULL;
    gnutls_certificate_credentials_t credentials;
    if (*key && gnutls_certificate_allocate_credentials(&credentials) == GNUTLS_E_SUCCESS) {
        gnutls_datum_t certificate_text = {(unsigned char *)*certificate, (unsigned)strlen(*certificate)};
        gnutls_datum_t key_text = {(unsigned char *)*key, (unsigned)strlen(*key)};
        int result = gnutls_certificate_set_x509_key_mem(credentials, &certificate_text, &key_text, GNUTLS_X509_FMT_PEM);
        gnutls_certificate_free_credentials(credentials);
        if (result >= 0)
            return true;
        snprintf(problem, problem_bytes, "%s and %s are no certificate and its key in PEM: %s", certificate_path, key_path, gnutls_strerror(result));
    }
    free(*certificate);
    free(*key);
    *certificate = *key = NULL;
    return false;
}
