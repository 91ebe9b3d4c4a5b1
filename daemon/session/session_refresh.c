// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include "core/estimate/estimate.h"
#include "core/format/pprof.h"
#include "core/transform/compact.h"
#include "core/transform/filter_scopes.h"
#include "daemon/privsep/opener.h"
#include "daemon/collect/loss_accounting.h"
#include "daemon/output/user_filter.h"
#include "daemon/session/session_state.h"

int session__refresh(struct session *s, uint64_t until, bool live)
{
	int err = session__refresh_figures(s, until, live);

	if (!err)
		session__cut_timeline(s, until);
	return err;
}

int session__bring_up_to_date(struct session *s, uint64_t until)
{
	return session__refresh(s, until, true)
		       ?: qz_estimate__profile(collector__profile(s->collector));
}

/* Of the run, or of a part of it. */
static int write_summary(struct session *s, const struct qz_profile *p, int fd,
			 const struct control_socket_wanted *wanted)
{
	struct qz_compact what = {.procedures = wanted->detail == SERVER_PROCEDURES,
				  .whole = QZ_NONE};
	struct qz_profile *summary;
	int err;

	if (wanted->since_ns > p->wall_start_ns) /* else it is of an earlier run */
		what.since_ns = s->started + (wanted->since_ns - p->wall_start_ns);
	if (wanted->whole)
		what.whole = qz_compact__find_scope(p, wanted->pid, wanted->start_ns);
	summary = qz_compact__profile(p, &what);
	err = summary ? qz_estimate__profile(summary) : -errno;
	err = err ?: qz_pprof__write(summary, fd);
	qz_profile__free(summary);
	return err;
}

struct qz_profile *session__packed(const struct qz_profile *p)
{
	struct qz_profile *packed = qz_filter_scopes__profile(p, NULL);

	if (packed && qz_estimate__profile(packed)) {
		qz_profile__free(packed);
		packed = NULL;
	}
	return packed;
}

static int write_packed(const struct qz_profile *p, int fd)
{
	struct qz_profile *packed = session__packed(p);
	int err = packed ? qz_pprof__write(packed, fd) : -ENOMEM;

	qz_profile__free(packed);
	return err;
}

static int write_wanted(struct session *s, struct qz_profile *p, int fd,
			const struct control_socket_wanted *wanted)
{
	if (wanted->detail != SERVER_STACKS)
		return write_summary(s, p, fd, wanted);
	if (qz_profile__has_vacant_rows(p))
		return write_packed(p, fd);
	return qz_estimate__profile(p) ?: qz_pprof__write(p, fd);
}

static int write_own(struct session *s, int fd, const struct control_socket_wanted *wanted)
{
	struct qz_profile *p = collector__profile(s->collector), *part = NULL;
	struct user_filter *filter = user_filter__look(p, wanted->uid, wanted->gid);
	int err = filter ? session__refresh(s, bpf_runtime__now(), true) : -ENOMEM;

	if (!err)
		part = user_filter__part(filter, p);
	user_filter__free(filter);
	if (!err)
		err = part ? write_wanted(s, part, fd, wanted) : -ENOMEM;
	qz_profile__free(part);
	return err;
}

int session__snapshot(struct session *s, int fd, const struct control_socket_wanted *wanted)
{
	if (wanted->own)
		return write_own(s, fd, wanted);
	return session__refresh(s, bpf_runtime__now(), true)
		       ?: write_wanted(s, collector__profile(s->collector), fd, wanted);
}

/* What Quartz costs, by part: of the time of all processors in the governor's last window. */
static json_t *overhead_parts(const struct qz_overhead_governor *g)
{
	double ppm = g->last_ns ? 1e6 / (double)g->last_ns : 0;

	return json_pack("{s:i, s:i, s:i, s:i, s:i}", "accounting",
			 (int)((double)g->last.accounting_ns * ppm), "sampling",
			 (int)((double)g->last.sampling_ns * ppm), "walking",
			 (int)((double)g->last.walking_ns * ppm), "daemon",
			 (int)((double)g->last.daemon_ns * ppm), "replay",
			 (int)((double)g->last.replay_ns * ppm));
}

/* How the scheduler's logs were read, since the start. */
static json_t *log_status(const struct session *s)
{
	struct live_figures f = live__figures(s->live);
	uint64_t window = bpf_runtime__now() - s->started;

	return json_pack("{s:I, s:I, s:I, s:i, s:I, s:I, s:i, s:I}", "bytes",
			 (json_int_t)sizeof(struct qz_log_record) * bpf_log__size(s->bpf),
			 "records", (json_int_t)f.reader.records, "records_per_s",
			 (json_int_t)((double)f.reader.records * 1e9 / (double)(window ?: 1)),
			 "fullest_percent", (int)f.reader.fullest, "late",
			 (json_int_t)f.replay.late, "overwritten", (json_int_t)f.reader.lost,
			 "time_halvings", (int)s->governor.time_halvings, "off_ns",
			 (json_int_t)f.off_ns);
}

json_t *session__status(struct session *s)
{
	const struct qz_profile *p = collector__profile(s->collector);
	const struct qz_control *control = bpf_runtime__control(s->bpf);
	uint32_t own = s->options->system ? QZ_OWN_SCOPES : 0;
	struct opener_counts openers = opener__counts();
	struct collector_symbolizers symbolizers = collector__symbolizers(s->collector);
	struct qz_costs costs = session__costs(s);
	struct qz_overhead_governor governor = qz_overhead_governor__so_far(
		&s->governor, bpf_runtime__now(), perf_sampler__online(s->sampler),
		loss_accounting__idle_ns(s->bpf), &costs);

	return json_pack(
		"{s:s, s:i, s:i, s:i, s:i, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s,"
		" s:o, s:b, s:I, s:I, s:I, s:i, s:o}",
		"state", "running", "rate_hz", (int)p->rate_hz, "rate_halvings", (int)p->halvings,
		"overhead_ppm", (int)governor.costs_ppm, "max_overhead_ppm",
		(int)s->governor.ceiling_ppm, "event", PERF_SAMPLER_EVENT, "processors",
		(int)p->processors, "window_ns", (json_int_t)(bpf_runtime__now() - s->started),
		"processes", (json_int_t)(p->nscopes - p->vacant_scopes - own), "samples",
		(json_int_t)collector__samples(s->collector), "lost",
		(json_int_t)qz_ledger__lost(&p->ledger), "scopes_refused",
		(json_int_t)control->scopes_refused, "behind_ns",
		(json_int_t)collector__behind(s->collector), "openers_late",
		(json_int_t)openers.late, "openers_ended", (json_int_t)openers.ended, "snapshot",
		s->snapshot.path, "overhead_parts_ppm", overhead_parts(&governor), "keeper_late",
		(int)openers.keeper_late, "symbolizers_ended", (json_int_t)symbolizers.ended,
		"modules_waiting", (json_int_t)symbolizers.waiting, "modules_refused",
		(json_int_t)symbolizers.refused, "busy_ppm", (int)governor.busy_ppm, "log",
		log_status(s));
}
