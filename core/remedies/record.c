/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/remedies/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/remedies/judge.h"
#include "core/util/order.h"
#include "core/util/vec.h"

/* A trial of a remedy for a rule: shares of the elapsed time. */
struct measured {
	const char *rule;
	double low, high, gain, ci;
};

static bool get(const json_t *trial, const char *key, double *share)
{
	const json_t *value = json_object_get(trial, key);

	if (!json_is_integer(value))
		return false;
	*share = (double)json_integer_value(value) / 1e6;
	return true;
}

static bool is_known(const json_t *trial)
{
	const char *verdict = json_string_value(json_object_get(trial, "verdict"));

	return verdict && (!strcmp(verdict, qz_judge__name(QZ_JUDGED_HELPS)) ||
			   !strcmp(verdict, qz_judge__name(QZ_JUDGED_NOTHING)) ||
			   !strcmp(verdict, qz_judge__name(QZ_JUDGED_HARMS)));
}

static bool read_trial(const json_t *trial, struct measured *m)
{
	m->rule = json_string_value(json_object_get(trial, "rule"));
	return m->rule && *m->rule && strlen(m->rule) < sizeof(((struct qz_record_row *)0)->rule) &&
	       is_known(trial) && get(trial, "predicted_low_ppm", &m->low) &&
	       get(trial, "predicted_high_ppm", &m->high) && get(trial, "gain_ppm", &m->gain) &&
	       get(trial, "gain_ci_ppm", &m->ci);
}

/* Whether this trial gained most of those for its rule; of equal ones, the first. */
static bool is_best(const json_t *trials, size_t own, const struct measured *m)
{
	struct measured other;

	for (size_t i = 0; i < json_array_size(trials); i++)
		if (i != own && read_trial(json_array_get(trials, i), &other) &&
		    !strcmp(other.rule, m->rule) &&
		    (other.gain > m->gain || (other.gain == m->gain && i < own)))
			return false;
	return true;
}

static struct qz_record_row *row_of(struct qz_record *r, const char *rule)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (!strcmp(r->rows[i].rule, rule))
			return &r->rows[i];
	if (qz_array__reserve((void **)&r->rows, r->n, sizeof(*r->rows)))
		return NULL;
	r->rows[r->n] = (struct qz_record_row) {0};
	strcpy(r->rows[r->n].rule, rule);
	return &r->rows[r->n++];
}

static int add_trial(struct qz_record *r, const struct measured *m)
{
	struct qz_record_row *row = row_of(r, m->rule);

	if (!row)
		return -ENOMEM;
	row->tries++;
	row->below += m->gain + m->ci < m->low;
	row->above += m->gain - m->ci > m->high;
	row->within += m->gain + m->ci >= m->low && m->gain - m->ci <= m->high;
	row->low += m->low;
	row->high += m->high;
	row->gain += m->gain;
	return 0;
}

int qz_record__add(struct qz_record *r, const json_t *document)
{
	const char *schema = json_string_value(json_object_get(document, "schema"));
	const json_t *trials = json_object_get(document, "trials");
	int64_t at = json_integer_value(json_object_get(document, "time"));
	struct measured m;
	int err = 0;

	if (!schema || strcmp(schema, "quartz.try/v1") != 0 || !json_is_array(trials) || at <= 0)
		return -EBADMSG;
	for (size_t i = 0; !err && i < json_array_size(trials); i++)
		if (read_trial(json_array_get(trials, i), &m) && is_best(trials, i, &m))
			err = add_trial(r, &m);
	r->tries++;
	r->first = r->first && r->first < at ? r->first : at;
	r->last = r->last > at ? r->last : at;
	return err;
}

static int compare(const void *x, const void *y)
{
	const struct qz_record_row *a = x, *b = y;

	return a->tries != b->tries ? qz_order(b->tries, a->tries) : strcmp(a->rule, b->rule);
}

void qz_record__sort(struct qz_record *r)
{
	if (r->n)
		qsort(r->rows, r->n, sizeof(*r->rows), compare);
}

void qz_record__free(struct qz_record *r)
{
	free(r->rows);
	*r = (struct qz_record) {0};
}
