/* Long operations leave the connections' threads, so that nobody's GetItem waits behind another's Scan: their answers are made by workers, with the
   connection suspended as for a durable wait. A request handed over has the call's own hold released by its worker in place of the connection's
   thread; so whoever releases the last hold resumes the connection, as ever.

   Handing over costs 5 us of the processor under load and up to 25 when the worker sleeps, which is nothing beside a long operation and would be
   much beside a GetItem. Whether one is long must be known before it begins (api_is_long), so a Query of one item pays, too: 24 us under load
   in place of 19. */
#include "http/http_internal.h"

#include <errno.h>
#include <sys/resource.h>

/* Workers yield to the connections' threads: of a processor that both want they get a quarter or less, and a request that comes need not wait for the end
   of a worker's turn. */
enum { WORKER_NICE = 5 };

static void yield_to_others(void)
{
    errno = 0;
    int nice = getpriority(PRIO_PROCESS, 0);
    if (nice != -1 || errno == 0)
        setpriority(PRIO_PROCESS, 0, nice + WORKER_NICE); /* of this thread alone; failing, it works on with the others' */
}

static void worker_run(void *cls)
{
    struct http *http = cls;
    struct world *world = http->options.world;
    yield_to_others();
    world_lock(world, &http->mutex);
    while (!http->work_ends) {
        struct http_request *request = http->work;
        if (!request) {
            world_wait(world, &http->work_wake, &http->mutex, -1);
            continue;
        }
        http->work = request->work_next;
        if (!http->work)
            http->work_last = &http->work;
        world_unlock(world, &http->mutex);
        metric_add(&http->waiting_for_worker, -1);
        http_request_operate(request);
        durable_wait_release(&request->call.durable, FAULT_NONE);
        world_lock(world, &http->mutex);
    }
    world_unlock(world, &http->mutex);
}

void http_workers_start(struct http *http, unsigned count)
{
    /* One that waits for the store does not stop the others, even on one processor. */
    count = count < 2 ? 2 : count > HTTP_WORKERS_MAX ? HTTP_WORKERS_MAX : count;
    while (http->worker_count < count)
        http->workers[http->worker_count++] = world_thread_start(http->options.world, "http-worker", worker_run, http);
}

void http_work_add(struct http_request *request)
{
    struct http *http = request->http;
    request->work_next = NULL;
    *http->work_last = request;
    http->work_last = &request->work_next;
    metric_add(&http->waiting_for_worker, 1);
    world_wake_one(http->options.world, &http->work_wake);
}

void http_workers_stop(struct http *http)
{
    struct world *world = http->options.world;
    world_lock(world, &http->mutex);
    http->work_ends = true;
    world_wake_all(world, &http->work_wake);
    world_unlock(world, &http->mutex);
    while (http->worker_count > 0)
        world_thread_join(world, http->workers[--http->worker_count]);
}

void http_work_drop(struct http *http)
{
    for (struct http_request *request = http->work, *next; request; request = next) {
        next = request->work_next;
        durable_wait_release(&request->call.durable, FAULT_NONE);
    }
    http->work = NULL;
}
