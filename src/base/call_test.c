/* Tests of fault, call, log and metrics. */
#include "base/call.h"
#include "base/log.h"
#include "base/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#undef fail /* cmocka has one, too */

static void faults_have_names_and_statuses(void **state)
{
    (void)state;
    for (int fault = FAULT_NONE + 1; fault < FAULT_COUNT; fault++) {
        assert_true(fault_name((enum fault)fault).len > 0);
        assert_true(fault_http_status((enum fault)fault) >= 400);
        str space = fault_namespace((enum fault)fault);
        assert_int_equal(space.data[space.len - 1], '#');
    }
    assert_true(str_equal(fault_name(FAULT_VALIDATION), STR("ValidationException")));
    assert_int_equal(fault_http_status(FAULT_INTERNAL), 500);
    assert_true(fault_message_is_capital(FAULT_SERIALIZATION));
    assert_false(fault_message_is_capital(FAULT_VALIDATION));
}

static enum fault fail_at(struct call *call, int at)
{
    if (at == 0)
        return fail(call, FAULT_ACCESS_DENIED, "no %s", "entry");
    TRY(fail_at(call, at - 1));
    return FAULT_NONE;
}

static void the_first_fault_stands(void **state)
{
    (void)state;
    struct call call;
    call_open(&call, NULL, NULL);
    assert_int_equal(call.now_us, 0);
    assert_int_equal(fail_at(&call, 3), FAULT_ACCESS_DENIED);
    assert_int_equal(fail(&call, FAULT_INTERNAL, "later"), FAULT_INTERNAL);
    assert_int_equal(fail_reworded(&call, "later"), FAULT_VALIDATION);
    assert_int_equal(call.fault, FAULT_ACCESS_DENIED);
    assert_true(str_equal(call.message, STR("no entry")));
    call_clear_fault(&call);
    assert_int_equal(call.fault, FAULT_NONE);
    call_close(&call);
}

static void validation_is_worded_as_asked(void **state)
{
    (void)state;
    struct call call;
    call_open(&call, NULL, NULL);
    assert_int_equal(fail_reworded(&call, "bad %d%%", 5), FAULT_VALIDATION);
    assert_true(str_equal(call.message, STR("1 validation error detected: bad 5%")));
    call_clear_fault(&call);
    call.wording = WORDING_CLASSIC;
    assert_int_equal(fail_reworded(&call, "bad %d%%", 5), FAULT_VALIDATION);
    assert_true(str_equal(call.message, STR("bad 5%")));
    call_close(&call);
}

static void count_done(struct durable_wait *wait)
{
    ++*(int *)wait->owner;
}

static void a_wait_ends_with_its_last_hold(void **state)
{
    (void)state;
    int done = 0;
    struct durable_wait wait;
    durable_wait_open(&wait, count_done, &done);
    assert_false(durable_wait_is_pending(&wait));
    durable_wait_hold(&wait);
    durable_wait_hold(&wait);
    assert_true(durable_wait_is_pending(&wait));
    durable_wait_release(&wait, FAULT_NONE);
    durable_wait_release(&wait, FAULT_INTERNAL);
    assert_int_equal(done, 0);
    durable_wait_release(&wait, FAULT_VALIDATION);
    assert_int_equal(done, 1);
    assert_int_equal(wait.fault, FAULT_INTERNAL);
}

static char lines[4096];

static void keep_line(struct log *log, str line)
{
    (void)log;
    snprintf(lines, sizeof lines, "%.*s", STR_ARG(line));
}

static int64_t fixed_time(void *clock)
{
    return *(int64_t *)clock;
}

static void log_lines_are_whole_and_safe(void **state)
{
    (void)state;
    int64_t now_us = 1785844983123456;
    struct log log = {.level = LOG_INFO, .write_line = keep_line, .now_us = fixed_time, .clock = &now_us};
    log_event(&log, LOG_DEBUG, "unseen", "%s", "");
    assert_string_equal(lines, "");
    log_event(&log, LOG_INFO, "server started", "port %d", 8000);
    assert_string_equal(lines, "2026-08-04T12:03:03.123Z info  server started: port 8000\n");
    now_us = -1;
    log_event(&log, LOG_ERROR, "odd", "%s", "a\nb\x1b[2J\xc3\xa9\xff\xc3");
    assert_string_equal(lines, "1969-12-31T23:59:59.999Z error odd: a\\x0ab\\x1b[2J\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\n");
    log.form = LOG_JSON;
    log.now_us = NULL;
    log_event(&log, LOG_WARN, "odd", "%s", "\"\\\n\xed\xa0\x80");
    assert_string_equal(lines, "{\"level\":\"warn\",\"event\":\"odd\",\"details\":\"\\\"\\\\\\u000a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"}\n");
    log_event(NULL, LOG_ERROR, "nothing", "%s", "");
}

static void log_writes_to_its_descriptor(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct log log;
    log_open_descriptor(&log, ends[1], LOG_DEBUG, LOG_TEXT);
    log_event(&log, LOG_DEBUG, "alone", "%s", "");
    char got[64];
    ssize_t length = read(ends[0], got, sizeof got);
    assert_int_equal(length, 12);
    assert_memory_equal(got, "debug alone\n", 12);
    close(ends[0]);
    close(ends[1]);
}

static void metrics_are_written_by_family(void **state)
{
    (void)state;
    struct metrics metrics;
    struct metric gets, puts, size, took;
    metrics_open(&metrics);
    metrics_register(&metrics, &gets, METRIC_COUNTER, "calls_total", "Calls.", "operation=\"GetItem\"");
    metrics_register(&metrics, &puts, METRIC_COUNTER, "calls_total", "Calls.", "operation=\"PutItem\"");
    metrics_register(&metrics, &size, METRIC_GAUGE, "size_bytes", "Bytes.", "");
    metrics_register(&metrics, &took, METRIC_HISTOGRAM, "took_seconds", "Time.", "");
    metric_add(&gets, 5);
    metric_set(&size, -7);
    metric_observe_us(&took, 16);
    metric_observe_us(&took, 17);
    metric_observe_us(&took, 5000000);
    struct arena arena;
    arena_open(&arena, NULL);
    struct buf out;
    buf_open(&out, &arena, 0);
    metrics_write(&metrics, &out);
    buf_add_byte(&out, 0);
    static const char *const start = "# HELP calls_total Calls.\n# TYPE calls_total counter\ncalls_total{operation=\"GetItem\"} 5\n"
                                     "calls_total{operation=\"PutItem\"} 0\n# HELP size_bytes Bytes.\n# TYPE size_bytes gauge\nsize_bytes -7\n"
                                     "# HELP took_seconds Time.\n# TYPE took_seconds histogram\ntook_seconds_bucket{le=\"0.000016\"} 1\n"
                                     "took_seconds_bucket{le=\"0.000032\"} 2\n";
    assert_memory_equal(out.data, start, strlen(start));
    static const char *const end = "took_seconds_bucket{le=\"4.194304\"} 2\ntook_seconds_bucket{le=\"+Inf\"} 3\ntook_seconds_sum 5.000033\ntook_seconds_count 3\n";
    assert_non_null(strstr(out.data, end));
    arena_close(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_have_names_and_statuses),
        cmocka_unit_test(the_first_fault_stands),
        cmocka_unit_test(validation_is_worded_as_asked),
        cmocka_unit_test(a_wait_ends_with_its_last_hold),
        cmocka_unit_test(log_lines_are_whole_and_safe),
        cmocka_unit_test(log_writes_to_its_descriptor),
        cmocka_unit_test(metrics_are_written_by_family),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
