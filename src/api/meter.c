/* Metrics by operation: requests, errors by whose fault they are, and how long answers took. */
#include "api/api_internal.h"

#include <assert.h>
#include <stdlib.h>

static const char *operation_name(const struct api *api, size_t operation)
{
    size_t operations;
    const struct op *ops = op_all(&operations);
    return operation < operations && operation < api->meter_count ? ops[operation].name : "none";
}

static const char *label(struct api *api, const char *name)
{
    str text = arena_printf(&api->texts, "operation=\"%s\"", name);
    return arena_copy_text(&api->texts, text);
}

void api_meters_open(struct api *api)
{
    struct metrics *metrics = api->options.service.metrics;
    size_t operations;
    op_all(&operations);
    arena_open(&api->texts, NULL);
    api->meter_count = operations + 1;
    api->meters = calloc(api->meter_count, sizeof *api->meters);
    assert(api->meters);
    const char **labels = ARENA_NEW_ARRAY(&api->texts, const char *, api->meter_count);
    for (size_t i = 0; i < api->meter_count; i++)
        labels[i] = label(api, operation_name(api, i));
    if (!metrics)
        return;
    for (size_t i = 0; i < api->meter_count; i++)
        metrics_register(metrics, &api->meters[i].requests, METRIC_COUNTER, "stator_requests_total", "Requests answered, by operation.", labels[i]);
    for (size_t i = 0; i < api->meter_count; i++)
        metrics_register(metrics, &api->meters[i].client_errors, METRIC_COUNTER, "stator_client_errors_total",
                         "Answers with a status of 400 to 499, by operation.", labels[i]);
    for (size_t i = 0; i < api->meter_count; i++)
        metrics_register(metrics, &api->meters[i].server_errors, METRIC_COUNTER, "stator_server_errors_total",
                         "Answers with a status of 500 and above, by operation.", labels[i]);
    for (size_t i = 0; i < api->meter_count; i++)
        metrics_register(metrics, &api->meters[i].seconds, METRIC_HISTOGRAM, "stator_request_seconds",
                         "Time from the whole request read to the answer ready to leave, by operation.", labels[i]);
    metrics_register(metrics, &api->memory_used, METRIC_GAUGE, "stator_memory_in_flight_bytes", "Memory held by requests and answers in flight.", "");
}

void api_meters_close(struct api *api)
{
    free(api->meters);
    arena_close(&api->texts);
}

void api_answer_leaves(struct api *api, const struct api_answer *answer)
{
    struct api_meter *meter = &api->meters[answer->operation];
    metric_add(&meter->requests, 1);
    if (answer->status >= 500)
        metric_add(&meter->server_errors, 1);
    else if (answer->status >= 400)
        metric_add(&meter->client_errors, 1);
    int64_t took_us = world_mono_us(api->options.service.world) - answer->started_us;
    metric_observe_us(&meter->seconds, took_us);
    struct log *log = api->options.service.log;
    if (log && log->level <= LOG_DEBUG)
        log_event(log, LOG_DEBUG, "request answered", "%s, status %d, %lld us", operation_name(api, answer->operation),
                  answer->status, (long long)took_us);
}

void api_metrics_write(struct api *api, struct buf *out)
{
    if (api->options.memory)
        metric_set(&api->memory_used, (int64_t)atomic_load_explicit(&api->options.memory->used_bytes, memory_order_relaxed));
    if (api->options.service.metrics)
        metrics_write(api->options.service.metrics, out);
}
