/* One line an event, for people on a terminal or as JSON for machines. */
#ifndef STATOR_BASE_LOG_H
#define STATOR_BASE_LOG_H

#include "base/str.h"

#include <stdint.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_form { LOG_TEXT, LOG_JSON };

/* Where events go. One a service; safe to use from any thread. `write_line` gets one whole line with its newline. */
struct log {
    enum log_level level; /* events below it are dropped */
    enum log_form form;
    void (*write_line)(struct log *log, str line);
    int64_t (*now_us)(void *clock); /* wall time for the line's stamp; NULL: no stamp */
    void *clock;
    int descriptor;       /* for log_open_descriptor: where lines go */
};

/* A log that writes to a file descriptor (2: standard error). */
void log_open_descriptor(struct log *log, int descriptor, enum log_level level, enum log_form form);

/* `event` is a short stable phrase ("server started"), `format` gives details for a person ("port 8000, data ./x").
   `log` may be NULL: nothing happens. */
__attribute__((format(printf, 4, 5))) void log_event(struct log *log, enum log_level level, const char *event, const char *format, ...);

#endif
