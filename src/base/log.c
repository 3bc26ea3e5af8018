/* Log lines: built whole, then written with one call, so that threads never mix theirs. */
#include "base/log.h"

#include "base/buf.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char *const level_names[] = {"debug", "info", "warn", "error"};

static void write_to_descriptor(struct log *log, str line)
{
    while (line.len > 0) {
        ssize_t written = write(log->descriptor, line.data, line.len);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return; /* there is nobody left to tell */
        line = str_from(line, (size_t)written);
    }
}

void log_open_descriptor(struct log *log, int descriptor, enum log_level level, enum log_form form)
{
    *log = (struct log){.level = level, .form = form, .write_line = write_to_descriptor, .descriptor = descriptor};
}

static void add_time(struct buf *out, int64_t now_us)
{
    int64_t seconds = now_us / 1000000;
    int64_t rest_us = now_us % 1000000;
    if (rest_us < 0) {
        rest_us += 1000000;
        seconds--;
    }
    time_t moment = (time_t)seconds;
    struct tm parts;
    if (!gmtime_r(&moment, &parts))
        return;
    buf_printf(out, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
               parts.tm_sec, (int)(rest_us / 1000));
}

/* The bytes of the well-formed UTF-8 character at the front, or 0. */
static size_t utf8_length(str s)
{
    unsigned char first = (unsigned char)s.data[0];
    size_t length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : (first & 0xf0) == 0xe0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
    if (length == 0 || length > s.len)
        return 0;
    for (size_t at = 1; at < length; at++)
        if (((unsigned char)s.data[at] & 0xc0) != 0x80)
            return 0;
    unsigned char second = length > 1 ? (unsigned char)s.data[1] : 0;
    bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    bool outside = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
    return overlong || outside ? 0 : length;
}

/* What clients send may stand in a line, so nothing in it may end the line, steer a terminal or break the JSON. */
static void add_safely(struct buf *out, str s, bool json)
{
    while (s.len > 0) {
        unsigned char byte = (unsigned char)s.data[0];
        size_t length = utf8_length(s);
        if (length == 0)
            BUF_ADD_LITERAL(out, "\xef\xbf\xbd");
        else if (byte < 0x20 || byte == 0x7f)
            buf_printf(out, json ? "\\u%04x" : "\\x%02x", byte);
        else if (json && (byte == '"' || byte == '\\'))
            buf_printf(out, "\\%c", byte);
        else
            buf_add(out, s.data, length);
        s = str_from(s, length ? length : 1);
    }
}

static void add_line(const struct log *log, struct buf *out, enum log_level level, str event, str details)
{
    int64_t now_us = log->now_us ? log->now_us(log->clock) : 0;
    if (log->form == LOG_JSON) {
        BUF_ADD_LITERAL(out, "{");
        if (log->now_us) {
            BUF_ADD_LITERAL(out, "\"time\":\"");
            add_time(out, now_us);
            BUF_ADD_LITERAL(out, "\",");
        }
        buf_printf(out, "\"level\":\"%s\",\"event\":\"", level_names[level]);
        add_safely(out, event, true);
        BUF_ADD_LITERAL(out, "\",\"details\":\"");
        add_safely(out, details, true);
        BUF_ADD_LITERAL(out, "\"}\n");
        return;
    }
    if (log->now_us) {
        add_time(out, now_us);
        BUF_ADD_LITERAL(out, " ");
    }
    buf_printf(out, "%-5s ", level_names[level]);
    add_safely(out, event, false);
    if (details.len > 0) {
        BUF_ADD_LITERAL(out, ": ");
        add_safely(out, details, false);
    }
    BUF_ADD_LITERAL(out, "\n");
}

void log_event(struct log *log, enum log_level level, const char *event, const char *format, ...)
{
    if (!log || level < log->level)
        return;
    struct arena arena;
    arena_open(&arena, NULL);
    va_list arguments;
    va_start(arguments, format);
    str details = arena_vprintf(&arena, format, arguments);
    va_end(arguments);
    struct buf line;
    buf_open(&line, &arena, details.len + 128);
    add_line(log, &line, level, str_of_text(event), details);
    log->write_line(log, buf_str(&line));
    arena_close(&arena);
}
