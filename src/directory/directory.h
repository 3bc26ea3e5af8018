/* Who may use the service: the keys file of --auth required. */
#ifndef STATOR_DIRECTORY_DIRECTORY_H
#define STATOR_DIRECTORY_DIRECTORY_H

#include "auth/auth.h"

struct directory;

/* Reads a keys file: a JSON object {"keys":[{"accessKeyId":"...","secretAccessKey":"...","sessionToken":"...","expires":"2026-12-01T00:00:00Z","account":"000000000000"}]};
   the last three members may be absent. On failure NULL and one clear line, with the place in the file, in `problem`. */
struct directory *directory_open_file(const char *path, char *problem, size_t problem_bytes);
void directory_close(struct directory *directory);

/* An auth_key_find; `context` is the directory. */
const struct auth_key *directory_find_key(void *context, str access_key);

#endif
