/* Prometheus text, from counters that cost one relaxed add each. */
#include "base/metrics.h"

#include <inttypes.h>

enum { FIRST_BOUND_LOG2 = 4 };

void metrics_open(struct metrics *metrics)
{
    metrics->first = NULL;
    metrics->last = &metrics->first;
}

void metrics_register(struct metrics *metrics, struct metric *metric, enum metric_kind kind, const char *name, const char *help, const char *labels)
{
    metric->next = NULL;
    metric->name = name;
    metric->help = help;
    metric->labels = labels;
    metric->kind = kind;
    atomic_init(&metric->value, 0);
    for (int i = 0; i < METRIC_BUCKETS; i++)
        atomic_init(&metric->buckets[i], 0);
    *metrics->last = metric;
    metrics->last = &metric->next;
}

void metric_observe_us(struct metric *metric, int64_t microseconds)
{
    int bucket = 0;
    while (bucket < METRIC_BUCKETS - 1 && microseconds > (int64_t)1 << (bucket + FIRST_BOUND_LOG2))
        bucket++;
    atomic_fetch_add_explicit(&metric->buckets[bucket], 1, memory_order_relaxed);
    metric_add(metric, microseconds);
}

static void write_seconds(struct buf *out, int64_t microseconds)
{
    if (microseconds < 0) {
        BUF_ADD_LITERAL(out, "-");
        microseconds = -microseconds;
    }
    buf_printf(out, "%" PRId64 ".%06" PRId64, microseconds / 1000000, microseconds % 1000000);
}

static void write_labels(struct buf *out, const char *labels, int64_t bound_us, bool last)
{
    buf_printf(out, "{%s%sle=\"", labels, labels[0] ? "," : "");
    if (last)
        BUF_ADD_LITERAL(out, "+Inf");
    else
        write_seconds(out, bound_us);
    BUF_ADD_LITERAL(out, "\"}");
}

static void write_plain(struct buf *out, const struct metric *metric, const char *suffix)
{
    buf_printf(out, "%s%s", metric->name, suffix);
    if (metric->labels[0])
        buf_printf(out, "{%s}", metric->labels);
    BUF_ADD_LITERAL(out, " ");
}

static void write_histogram(struct buf *out, const struct metric *metric)
{
    uint64_t total = 0;
    for (int i = 0; i < METRIC_BUCKETS; i++) {
        total += atomic_load_explicit(&metric->buckets[i], memory_order_relaxed);
        buf_printf(out, "%s_bucket", metric->name);
        write_labels(out, metric->labels, (int64_t)1 << (i + FIRST_BOUND_LOG2), i == METRIC_BUCKETS - 1);
        buf_printf(out, " %" PRIu64 "\n", total);
    }
    write_plain(out, metric, "_sum");
    write_seconds(out, atomic_load_explicit(&metric->value, memory_order_relaxed));
    BUF_ADD_LITERAL(out, "\n");
    write_plain(out, metric, "_count");
    buf_printf(out, "%" PRIu64 "\n", total);
}

void metrics_write(const struct metrics *metrics, struct buf *out)
{
    static const char *const kinds[] = {"counter", "gauge", "histogram"};
    const char *family = "";
    for (const struct metric *metric = metrics->first; metric; metric = metric->next) {
        if (strcmp(family, metric->name) != 0)
            buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help, metric->name, kinds[metric->kind]);
        family = metric->name;
        if (metric->kind == METRIC_HISTOGRAM) {
            write_histogram(out, metric);
            continue;
        }
        write_plain(out, metric, "");
        buf_printf(out, "%" PRIdFAST64 "\n", atomic_load_explicit(&metric->value, memory_order_relaxed));
    }
}
