/* `stator torture`: many seeds, in processes of their own, so that a crash of the engine is a finding like any other. */
#include "torture/torture.h"

#include "base/probe.h"
#include "torture/torture_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    JOBS_MAX = 64,
    PROBES_MAX = 512,
    SEED_SECONDS_MAX = 60,
    REPLAY_EVERY = 16,    /* every so many seeds, one is run twice */
    FULL_RUN_SEEDS = 1000 /* from here on each probe of the engine must be reached */
};

struct options {
    uint64_t first, seeds;
    uint32_t jobs;
    bool is_single;
};

/* Shared with the parent. */
struct job {
    atomic_uint_fast64_t seed;        /* in work */
    atomic_uint_fast64_t done, calls, changes, lives, crashes;
    atomic_bool has_finding;
    atomic_bool is_over;              /* another job has a finding */
    char finding[512];
    atomic_uint_fast64_t probes[PROBES_MAX];
};

static int usage(FILE *out, int status)
{
    fprintf(out, "usage: stator torture [--seeds N] [--first SEED] [--jobs N]\n"
                 "       stator torture --seed SEED\n"
                 "Runs the engine on simulated threads, clocks and a faulty store: random calls, crashes, lost replies.\n"
                 "  --seeds N     how many seeds (1000); from 1000 on every rare branch must be reached\n"
                 "  --first SEED  the first of them (1)\n"
                 "  --jobs N      processes (as many as there are processors)\n"
                 "  --seed SEED   one seed, every event printed, run twice to see that it replays\n");
    return status;
}

static bool parse_number(const char *text, uint64_t *out)
{
    char *end;
    if (!text || text[0] < '0' || text[0] > '9')
        return false;
    *out = strtoull(text, &end, 10);
    return *end == 0;
}

static bool parse_options(int argc, char **argv, struct options *options)
{
    uint64_t jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    *options = (struct options){.first = 1, .seeds = 1000};
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        bool is_known = true;
        if (strcmp(argv[i], "--seeds") == 0)
            is_known = parse_number(value, &options->seeds);
        else if (strcmp(argv[i], "--first") == 0)
            is_known = parse_number(value, &options->first);
        else if (strcmp(argv[i], "--jobs") == 0)
            is_known = parse_number(value, &jobs) && jobs > 0;
        else if (strcmp(argv[i], "--seed") == 0)
            options->is_single = is_known = parse_number(value, &options->first);
        else
            is_known = false;
        if (!is_known)
            return false;
    }
    options->jobs = (uint32_t)(jobs < JOBS_MAX ? jobs : JOBS_MAX);
    return options->seeds > 0;
}

/* --- In the process of a job --- */

struct probe_copy {
    struct job *job;
    size_t index;
};

static void copy_probe(const struct probe *probe, void *context)
{
    struct probe_copy *copy = context;
    if (copy->index < PROBES_MAX)
        atomic_store(&copy->job->probes[copy->index], probe->hits);
    copy->index++;
}

/* One processor: handing the baton over between two costs three times as much. */
static void pin(uint32_t number)
{
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    uint32_t count = (uint32_t)CPU_COUNT(&allowed), wanted = number % count;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed) && wanted-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
    }
}

/* Memory stays with the process, in one heap, because one thread runs at a time: else half the time goes to page faults. */
static void keep_memory(void)
{
    enum { HEAPS = 1, PIECE_BYTES_MAX = 32 << 20, IDLE_BYTES_MAX = 256 << 20 };
    mallopt(M_ARENA_MAX, HEAPS);
    mallopt(M_MMAP_THRESHOLD, PIECE_BYTES_MAX);
    mallopt(M_TRIM_THRESHOLD, IDLE_BYTES_MAX);
}

static bool run_seed(uint64_t seed, bool trace, bool is_twice, struct run_result *result)
{
    struct plan plan;
    plan_draw(&plan, seed);
    run_plan(&plan, trace, result);
    if (result->is_clean && is_twice) {
        struct run_result again;
        run_plan(&plan, false, &again);
        if (again.fingerprint != result->fingerprint) {
            result->is_clean = false;
            snprintf(result->finding, sizeof result->finding, "a second run went another way: the simulation is not deterministic");
        }
    }
    return result->is_clean;
}

static void job_run(struct job *job, const struct options *options, uint32_t number, uint64_t from)
{
    pin(number);
    keep_memory();
    for (uint64_t seed = from; seed < options->first + options->seeds && !atomic_load(&job->is_over); seed += options->jobs) {
        struct run_result result;
        atomic_store(&job->seed, seed);
        alarm(SEED_SECONDS_MAX);
        bool is_clean = run_seed(seed, false, seed % REPLAY_EVERY == 0, &result);
        job->done++;
        job->calls += result.calls;
        job->changes += result.changes;
        job->lives += result.lives;
        job->crashes += result.crashes;
        if (!is_clean) {
            snprintf(job->finding, sizeof job->finding, "%s", result.finding);
            atomic_store(&job->has_finding, true);
            break;
        }
    }
    struct probe_copy copy = {.job = job};
    probes_each(copy_probe, &copy);
}

/* --- In the parent --- */

static void report_finding(uint64_t seed, const char *finding)
{
    printf("seed %" PRIu64 ": %s\n  to replay: stator torture --seed %" PRIu64 "\n", seed, finding, seed);
}

/* Whether the probe belongs to the code that the runs exercise. */
static bool is_engine_probe(const char *name)
{
    static const char *const prefixes[] = {"part:", "cache:", "mem:", "torture:"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

struct probe_report {
    const struct job *jobs;
    uint32_t job_count;
    size_t index;
    unsigned reached, missed;
};

static uint64_t probe_hits(const struct probe_report *report)
{
    uint64_t hits = 0;
    for (uint32_t i = 0; i < report->job_count && report->index < PROBES_MAX; i++)
        hits += report->jobs[i].probes[report->index];
    return hits;
}

static void report_probe(const struct probe *probe, void *context)
{
    struct probe_report *report = context;
    if (is_engine_probe(probe->name)) {
        uint64_t hits = probe_hits(report);
        printf("  %10" PRIu64 "  %s\n", hits, probe->name);
        *(hits > 0 ? &report->reached : &report->missed) += 1;
    }
    report->index++;
}

/* Returns whether there was a finding. */
static bool judge_job(struct job *job, int status)
{
    uint64_t seed = job->seed;
    char text[64];
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(text, sizeof text, "not done after %d seconds", SEED_SECONDS_MAX);
    else if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "the engine ended with signal %d", WTERMSIG(status));
    else if (!atomic_load(&job->has_finding) && WEXITSTATUS(status) != 0)
        snprintf(text, sizeof text, "the engine ended with status %d", WEXITSTATUS(status));
    else if (!atomic_load(&job->has_finding))
        return false;
    report_finding(seed, atomic_load(&job->has_finding) ? job->finding : text);
    return true;
}

static bool run_jobs(struct job *jobs, const struct options *options)
{
    pid_t pids[JOBS_MAX];
    bool has_finding = false;
    fflush(stdout);
    for (uint32_t i = 0; i < options->jobs; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            job_run(&jobs[i], options, i, options->first + i);
            _exit(0);
        }
        assert(pids[i] > 0);
    }
    for (uint32_t left = options->jobs; left > 0; left--) {
        int status = 0;
        pid_t ended = wait(&status);
        assert(ended > 0);
        for (uint32_t i = 0; i < options->jobs; i++)
            if (pids[i] == ended)
                has_finding |= judge_job(&jobs[i], status);
        for (uint32_t i = 0; has_finding && i < options->jobs; i++)
            atomic_store(&jobs[i].is_over, true);
    }
    return has_finding;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int run_many(const struct options *options)
{
    struct job *jobs = mmap(NULL, options->jobs * sizeof *jobs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(jobs != MAP_FAILED);
    double start = seconds_now();
    bool has_finding = run_jobs(jobs, options);
    struct job sum = {0};
    for (uint32_t i = 0; i < options->jobs; i++) {
        sum.done += jobs[i].done;
        sum.calls += jobs[i].calls;
        sum.changes += jobs[i].changes;
        sum.lives += jobs[i].lives;
        sum.crashes += jobs[i].crashes;
    }
    struct probe_report report = {.jobs = jobs, .job_count = options->jobs};
    printf("rare branches reached:\n");
    probes_each(report_probe, &report);
    printf("%" PRIuFAST64 " seeds in %.1f s: %" PRIuFAST64 " calls, %" PRIuFAST64 " changes, %" PRIuFAST64 " lives, %" PRIuFAST64 " crashes; %u of %u rare branches\n", sum.done,
        seconds_now() - start, sum.calls, sum.changes, sum.lives, sum.crashes, report.reached, report.reached + report.missed);
    munmap(jobs, options->jobs * sizeof *jobs);
    if (has_finding)
        return 1;
    if (report.missed > 0 && options->seeds >= FULL_RUN_SEEDS) {
        printf("finding: %u rare branches were never reached (those with 0 above)\n", report.missed);
        return 1;
    }
    printf("no finding\n");
    return 0;
}

static int run_single(uint64_t seed)
{
    struct run_result result;
    pin(0);
    bool is_clean = run_seed(seed, true, true, &result);
    printf("seed %" PRIu64 ": %" PRIu64 " calls, %" PRIu64 " changes, %" PRIu64 " lives, %" PRIu64 " crashes, fingerprint %016" PRIx64 "\n", seed, result.calls, result.changes,
        result.lives, result.crashes, result.fingerprint);
    if (is_clean)
        printf("no finding\n");
    else
        report_finding(seed, result.finding);
    return is_clean ? 0 : 1;
}

int torture_main(int argc, char **argv)
{
    struct options options;
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return usage(stdout, 0);
    if (!parse_options(argc, argv, &options))
        return usage(stderr, 2);
    return options.is_single ? run_single(options.first) : run_many(&options);
}
