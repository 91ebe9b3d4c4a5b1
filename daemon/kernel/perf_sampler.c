// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "daemon/util/log.h"
#include "daemon/util/processors.h"
#include "daemon/privsep/opener.h"
#include "daemon/privsep/sample_event.h"
#include "daemon/kernel/perf_sampler.h"
#include "daemon/kernel/timer_phase.h"

#define MAX_RECORD 65536

struct processor {
	int fds[TIMER_STREAMS]; /* of each stream; the first one reports, and -1: not sampled */
	struct perf_event_mmap_page *ring;
	uint64_t counted; /* by this event when its timers, or its rate, last changed */
	uint64_t enabled; /* time enabled at the last check of hotplug */
	bool refused;	  /* it came and could not be sampled; a warning was printed */
};

struct perf_sampler {
	uint32_t n;
	struct processor *processors;
	int prog_fd;
	uint32_t rate;
	struct timer_schedule schedule;
	struct timer_group *groups;	 /* room for all processors */
	double before;			 /* samples expected until timers or rates last changed */
	uint64_t idle_ns;		 /* of all processors, until then */
	uint64_t gone_instants, gone_ns; /* since then, of processors that have gone offline */
	bool unmapped;			 /* what failed last was to map a ring */
	pthread_mutex_t rings;		 /* held by who reads one, or makes or ends one */
	uint64_t reports_lost;
	bool outgrown; /* a processor was added to the machine */
	bool restarts; /* timers, at the next change of rates, since some are out of phase */
	size_t page;
	char *record; /* one that wraps around the end of the ring */
	char error[256];
};

/* What the kernel appends to each report: sample_id_all with PERF_SAMPLE_TID | PERF_SAMPLE_TIME. */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time;
};

struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char filename[];
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

struct perf_sampler *perf_sampler__new(void)
{
	struct perf_sampler *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	pthread_mutex_init(&s->rings, NULL);
	s->page = sysconf(_SC_PAGESIZE);
	s->record = malloc(MAX_RECORD);
	if (!s->record) {
		free(s);
		return NULL;
	}
	return s;
}

static size_t ring_size(const struct perf_sampler *s)
{
	return (SAMPLE_EVENT_PAGES + 1) * s->page;
}

/* The time that the event of a processor was running. */
static uint64_t counted_by(const struct processor *p)
{
	uint64_t values[3]; /* value, time enabled, time running */

	if (p->fds[0] < 0 || read(p->fds[0], values, sizeof(values)) != sizeof(values))
		return p->counted;
	return values[2];
}

/* How often its timers have fired within so many ns of their start. A timer fires first when a period is over. */
static uint64_t instants_in(const struct perf_sampler *s, uint64_t counted)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < TIMER_STREAMS; i++)
		n += counted / s->schedule.period[i];
	return n;
}

static void add_instants(const struct perf_sampler *s, const struct processor *p,
			 uint64_t *instants, uint64_t *ns)
{
	uint64_t counted = counted_by(p) - p->counted;

	*instants += instants_in(s, counted);
	*ns += counted;
}

/* Samples since timers or rates last changed: of the instants, as many as processors were busy for. */
static double expected_since(const struct perf_sampler *s, uint64_t idle_ns)
{
	uint64_t instants = s->gone_instants, ns = s->gone_ns,
		 idle = idle_ns > s->idle_ns ? idle_ns - s->idle_ns : 0;

	for (uint32_t i = 0; i < s->n; i++)
		add_instants(s, &s->processors[i], &instants, &ns);
	return idle < ns ? (double)instants * (ns - idle) / ns : 0;
}

static void stop_processor(struct processor *p)
{
	for (uint32_t i = 0; i < TIMER_STREAMS; i++)
		if (p->fds[i] >= 0)
			ioctl(p->fds[i], PERF_EVENT_IOC_DISABLE, 0);
}

static void close_processor(struct perf_sampler *s, struct processor *p)
{
	if (p->fds[0] < 0)
		return;
	stop_processor(p);
	add_instants(s, p, &s->gone_instants, &s->gone_ns);
	p->counted = 0;
	if (p->ring)
		munmap(p->ring, ring_size(s));
	p->ring = NULL;
	for (uint32_t i = 0; i < TIMER_STREAMS; i++) {
		if (p->fds[i] >= 0)
			close(p->fds[i]);
		p->fds[i] = -1;
	}
}

void perf_sampler__stop(struct perf_sampler *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		stop_processor(&s->processors[i]);
}

void perf_sampler__free(struct perf_sampler *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n; i++)
		close_processor(s, &s->processors[i]);
	free(s->processors);
	free(s->groups);
	free(s->record);
	pthread_mutex_destroy(&s->rings);
	free(s);
}

const char *perf_sampler__error(const struct perf_sampler *s)
{
	return s->error;
}

static int open_event(const struct perf_sampler *s, uint32_t cpu, uint32_t stream)
{
	const struct sample_event event = {
		.cpu = cpu,
		.reports = !stream,
		.period = s->schedule.period[stream],
	};
	int fd = sample_event__open(&event);

	return fd == -EACCES ? opener__sample_event(&event) : fd;
}

/* Its events, which are not enabled yet. */
static int open_processor(struct perf_sampler *s, uint32_t cpu)
{
	struct processor *p = &s->processors[cpu];
	int err = 0;

	for (uint32_t i = 0; !err && i < TIMER_STREAMS; i++) {
		p->fds[i] = open_event(s, cpu, i);
		if (p->fds[i] < 0)
			err = p->fds[i];
		else if (ioctl(p->fds[i], PERF_EVENT_IOC_SET_BPF, s->prog_fd))
			err = -errno;
	}
	if (!err) {
		p->ring =
			mmap(NULL, ring_size(s), PROT_READ | PROT_WRITE, MAP_SHARED, p->fds[0], 0);
		s->unmapped = p->ring == MAP_FAILED;
		if (s->unmapped) {
			p->ring = NULL;
			err = -errno;
		}
	}
	if (err)
		close_processor(s, p);
	return err;
}

/* Enables the events of all processors, or those of new periods, in phase. Sets which one fails. */
static int start_timers(struct perf_sampler *s, bool enabled, uint32_t *failed)
{
	uint32_t n = 0;
	int err = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		struct timer_group *g = &s->groups[n];

		if (s->processors[i].fds[0] < 0)
			continue;
		*g = (struct timer_group) {.cpu = i};
		memset(g->enabled, enabled, sizeof(g->enabled));
		memcpy(g->fds, s->processors[i].fds, sizeof(g->fds));
		n++;
	}
	timer_schedule__begin(&s->schedule);
	timer_phase__start(s->groups, n, &s->schedule);
	s->restarts = false;
	for (uint32_t i = 0; !err && i < n; i++) {
		*failed = s->groups[i].cpu;
		err = s->groups[i].err;
	}
	return err;
}

/* The events of one processor, at any time: out of phase. */
static int enable_processor(const struct processor *p)
{
	for (uint32_t i = 0; i < TIMER_STREAMS; i++)
		if (p->fds[i] >= 0 && ioctl(p->fds[i], PERF_EVENT_IOC_ENABLE, 0))
			return -errno;
	return 0;
}

static int explain(struct perf_sampler *s, uint32_t cpu, int err)
{
	const char *remedy = "see `quartzctl doctor`";

	if (err == -EMFILE || err == -ENFILE)
		remedy = "raise the limit of open files (ulimit -n)";
	else if (err == -EPERM && s->unmapped)
		remedy = "raise the limit of locked memory (ulimit -l, LimitMEMLOCK=)";
	else if (err == -EACCES && sample_event__wants_admin())
		remedy = "run as root, with CAP_SYS_ADMIN, or sysctl kernel.perf_event_paranoid=2";
	else if (err == -EACCES || err == -EPERM)
		remedy = "run as root, in a container with CAP_PERFMON and a seccomp profile that "
			 "lets perf_event_open pass";
	else if (err == -EINVAL)
		remedy = "a lower --rate, see /proc/sys/kernel/perf_event_max_sample_rate";
	snprintf(s->error, sizeof(s->error), "cannot sample processor %u: %s; %s", cpu,
		 strerror(-err), remedy);
	return err;
}

static bool is_offline(int err)
{
	return err == -ENODEV || err == -ENXIO;
}

/* Of the rate in force. */
static void set_schedule(struct perf_sampler *s, uint32_t halvings)
{
	timer_schedule__init(&s->schedule, (1000000000ull << halvings) / s->rate);
}

int perf_sampler__start(struct perf_sampler *s, uint32_t processors, int prog_fd, uint32_t rate,
			uint64_t idle_ns)
{
	uint32_t failed = 0;
	int err = 0;

	s->processors = calloc(processors, sizeof(*s->processors));
	s->groups = calloc(processors, sizeof(*s->groups));
	if (!s->processors || !s->groups)
		return explain(s, 0, -ENOMEM);
	s->n = processors;
	s->prog_fd = prog_fd;
	s->rate = rate;
	s->idle_ns = idle_ns;
	set_schedule(s, 0);
	for (uint32_t i = 0; i < processors; i++)
		memset(s->processors[i].fds, -1, sizeof(s->processors[i].fds));
	for (uint32_t i = 0; i < processors && !err; i++) {
		err = open_processor(s, i);
		failed = i;
		err = is_offline(err) ? 0 : err;
	}
	if (!err)
		err = start_timers(s, false, &failed);
	return err ? explain(s, failed, err) : 0;
}

/* An event whose processor went offline stays open, but its time stops. */
static bool stands_still(struct processor *p)
{
	uint64_t values[3], last = p->enabled;

	if (read(p->fds[0], values, sizeof(values)) != sizeof(values))
		return true;
	p->enabled = values[1];
	return p->enabled == last;
}

/* Whether it is sampled from now on. */
static bool follow(struct perf_sampler *s, uint32_t cpu)
{
	struct processor *p = &s->processors[cpu];
	int err = open_processor(s, cpu);

	err = err ?: enable_processor(p);
	s->restarts |= !err;
	if (err)
		close_processor(s, p);
	if (err && !is_offline(err) && !p->refused) {
		explain(s, cpu, err);
		log_warning("%s; what runs there has no samples", s->error);
		p->refused = true;
	}
	p->refused = p->refused && err;
	return !err;
}

int perf_sampler__follow_hotplug(struct perf_sampler *s, int *came)
{
	struct qz_cpu_set online = {0};
	int n = 0;

	if (!processors__read("online", &online))
		return 0;
	s->outgrown = qz_cpu_set__end(&online) > s->n;
	pthread_mutex_lock(&s->rings);
	for (uint32_t cpu = 0; cpu < s->n; cpu++) {
		struct processor *p = &s->processors[cpu];
		bool is_online = qz_cpu_set__has(&online, cpu);

		if (p->fds[0] >= 0 && (!is_online || stands_still(p)))
			close_processor(s, p);
		if (p->fds[0] < 0 && is_online && follow(s, cpu))
			came[n++] = cpu;
	}
	pthread_mutex_unlock(&s->rings);
	return n;
}

bool perf_sampler__is_outgrown(const struct perf_sampler *s)
{
	return s->outgrown;
}

/* ---- reports ---- */

static void give_mapping(const struct mmap2_record *r, uint64_t time, size_t size,
			 sampler_call *call, void *context)
{
	struct perf_sampler_mapping m = {
		.time = time,
		.pid = r->pid,
		.start = r->addr,
		.end = r->addr + r->len,
		.offset = r->pgoff,
		.major = r->maj,
		.minor = r->min,
		.inode = r->ino,
		.shared = r->flags & MAP_SHARED,
		.path = r->filename,
	};

	if (memchr(r->filename, '\0', size - sizeof(*r)))
		call(context, &m);
}

static void give_record(struct perf_sampler *s, const struct perf_event_header *h,
			sampler_call *call, void *context)
{
	struct perf_sampler_mapping exec = {.exec = true};
	struct sample_id id;

	if (h->type == PERF_RECORD_LOST && h->size >= sizeof(struct lost_record)) {
		__atomic_fetch_add(&s->reports_lost, ((const struct lost_record *)h)->lost,
				   __ATOMIC_RELAXED);
		return;
	}
	if (h->size < sizeof(*h) + sizeof(id))
		return;
	memcpy(&id, (const char *)h + h->size - sizeof(id), sizeof(id));
	if (h->type == PERF_RECORD_MMAP2 && h->size > sizeof(struct mmap2_record) + sizeof(id)) {
		give_mapping((const struct mmap2_record *)h, id.time, h->size, call, context);
	} else if (h->type == PERF_RECORD_COMM && h->misc & PERF_RECORD_MISC_COMM_EXEC) {
		exec.time = id.time;
		exec.pid = ((const struct comm_record *)h)->pid;
		call(context, &exec);
	}
}

static void consume_processor(struct perf_sampler *s, struct processor *p, sampler_call *call,
			      void *context)
{
	const char *data = (const char *)p->ring + s->page;
	size_t size = SAMPLE_EVENT_PAGES * s->page;
	uint64_t head = __atomic_load_n(&p->ring->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = p->ring->data_tail;

	while (tail < head) {
		size_t at = tail % size;
		const struct perf_event_header *h = (const void *)(data + at);
		uint16_t length = h->size;

		if (length < sizeof(*h) || length > head - tail)
			break;
		if (at + length > size) {
			memcpy(s->record, h, size - at);
			memcpy(s->record + size - at, data, length - (size - at));
			h = (const void *)s->record;
		}
		give_record(s, h, call, context);
		tail += length;
	}
	__atomic_store_n(&p->ring->data_tail, head, __ATOMIC_RELEASE);
}

uint64_t perf_sampler__consume(struct perf_sampler *s, sampler_call *call, void *context)
{
	uint64_t before, lost;

	pthread_mutex_lock(&s->rings);
	before = s->reports_lost;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->processors[i].fds[0] >= 0)
			consume_processor(s, &s->processors[i], call, context);
	lost = s->reports_lost - before;
	pthread_mutex_unlock(&s->rings);
	return lost;
}

void perf_sampler__set_halvings(struct perf_sampler *s, uint32_t halvings, uint64_t idle_ns)
{
	uint32_t failed;

	s->before += expected_since(s, idle_ns);
	s->idle_ns = idle_ns;
	s->gone_instants = s->gone_ns = 0;
	for (uint32_t i = 0; i < s->n; i++)
		s->processors[i].counted = counted_by(&s->processors[i]);
	set_schedule(s, halvings);
	start_timers(s, true, &failed);
}

const struct timer_schedule *perf_sampler__schedule(const struct perf_sampler *s)
{
	return &s->schedule;
}

void perf_sampler__restart(struct perf_sampler *s)
{
	s->restarts = true;
}

bool perf_sampler__wants_restart(const struct perf_sampler *s)
{
	return s->restarts;
}

uint64_t perf_sampler__expected(const struct perf_sampler *s, uint64_t idle_ns)
{
	return (uint64_t)(s->before + expected_since(s, idle_ns) + 0.5);
}

uint64_t perf_sampler__reports_lost(const struct perf_sampler *s)
{
	return __atomic_load_n(&s->reports_lost, __ATOMIC_RELAXED);
}

bool perf_sampler__samples(const struct perf_sampler *s, uint32_t cpu)
{
	return s->processors[cpu].fds[0] >= 0;
}

uint32_t perf_sampler__online(const struct perf_sampler *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += s->processors[i].fds[0] >= 0;
	return n;
}
