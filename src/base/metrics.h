/* Counters, gauges and latency histograms, shown in Prometheus's text form. */
#ifndef STATOR_BASE_METRICS_H
#define STATOR_BASE_METRICS_H

#include "base/buf.h"
#include "base/str.h"

#include <stdatomic.h>
#include <stdint.h>

/* A family's kind, as Prometheus names them. */
enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

enum { METRIC_BUCKETS = 20 }; /* histogram bounds: 2^k microseconds, k = 4..22, and +Inf; written in seconds, so name it ..._seconds */

struct metric {
    struct metric *next;          /* the registry's list, in order of registration */
    const char *name;             /* "stator_requests_total" */
    const char *help;
    const char *labels;           /* "operation=\"GetItem\"", or "" */
    enum metric_kind kind;
    atomic_int_fast64_t value;    /* counter or gauge; histogram: sum in microseconds */
    atomic_uint_fast64_t buckets[METRIC_BUCKETS];
};

/* The metrics of one service. Registration is not thread-safe: do it while opening. */
struct metrics {
    struct metric *first, **last;
};

void metrics_open(struct metrics *metrics);

/* `metric` is the caller's memory and must outlive the registry; the texts are kept by pointer. Metrics of one name are
   registered one after the other. */
void metrics_register(struct metrics *metrics, struct metric *metric, enum metric_kind kind, const char *name, const char *help, const char *labels);

static inline void metric_add(struct metric *metric, int64_t amount)
{
    atomic_fetch_add_explicit(&metric->value, amount, memory_order_relaxed);
}

static inline void metric_set(struct metric *metric, int64_t value)
{
    atomic_store_explicit(&metric->value, value, memory_order_relaxed);
}

void metric_observe_us(struct metric *metric, int64_t microseconds);

/* Prometheus text exposition 0.0.4. */
void metrics_write(const struct metrics *metrics, struct buf *out);

#endif
