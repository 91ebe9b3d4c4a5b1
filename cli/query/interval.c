/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/query/interval.h"

#include <errno.h>
#include <string.h>

#include "core/transform/interval.h"

#define WHOLE 1000000 /* millionths */

/* One end; "" leaves *value as it is. */
static bool parse_end(const char *text, uint64_t *value, bool *percent)
{
	size_t length = strlen(text);
	char number[32];
	int64_t part;

	if (!length)
		return true;
	*percent = text[length - 1] == '%';
	if (!*percent)
		return !qz_options__duration(text, 0, INT64_MAX / 2, value);
	if (length >= sizeof(number))
		return false;
	memcpy(number, text, length - 1);
	number[length - 1] = '\0';
	if (qz_options__percent(number, 0, WHOLE, &part))
		return false;
	*value = (uint64_t)part;
	return true;
}

static bool is_empty(const struct interval *i)
{
	return i->from_percent == i->until_percent && i->from >= i->until;
}

enum status interval__parse(const char *text, struct interval *interval)
{
	const char *dash = text ? strchr(text, '-') : NULL;
	char from[64];

	*interval = (struct interval) {0, INT64_MAX, false, false};
	if (!text)
		return STATUS_OK;
	if (dash && text[1] && dash - text < (ptrdiff_t)sizeof(from)) {
		memcpy(from, text, (size_t)(dash - text));
		from[dash - text] = '\0';
		if (parse_end(from, &interval->from, &interval->from_percent) &&
		    parse_end(dash + 1, &interval->until, &interval->until_percent) &&
		    !(is_empty(interval)))
			return STATUS_OK;
	}
	complain("--time: '%s' is no interval such as 3s-5s, 500ms-2s, 3-, -5 or 10%%-50%%", text);
	return STATUS_USAGE;
}

static uint64_t moment(uint64_t value, bool percent, uint64_t whole_ns)
{
	return percent ? (uint64_t)((unsigned __int128)whole_ns * value / WHOLE) : value;
}

enum status interval__complain(const char *option, const struct qz_profile *p)
{
	if (p->timeline_differs)
		complain("%s: the timeline of this profile does not add up to its figures", option);
	else
		complain("%s: this profile has no timeline; record it anew, or use --since and "
			 "--until with quartzd --system",
			 option);
	return STATUS_NO_SAMPLES;
}

enum status interval__of_load(const struct qz_profile *p, struct interval *interval)
{
	*interval = (struct interval) {0};
	if (qz_interval__find_load(p, &interval->from, &interval->until))
		return STATUS_OK;
	if (!p->timeline)
		return interval__complain("--window", p);
	complain("--window: the program was idle all the time");
	return STATUS_NO_SAMPLES;
}

enum status interval__restrict(const struct interval *interval, struct qz_profile **profile)
{
	uint64_t whole_ns = qz_interval__whole_ns(*profile);
	struct qz_profile *part = qz_interval__profile(
		*profile, moment(interval->from, interval->from_percent, whole_ns),
		moment(interval->until, interval->until_percent, whole_ns));
	int err = errno;

	if (part) {
		qz_profile__free(*profile);
		*profile = part;
		return STATUS_OK;
	}
	switch (err) {
	case ENODATA:
		return interval__complain("--time", *profile);
	case ERANGE:
		complain("--time: nothing of the run is there; it took %.1f s",
			 (double)whole_ns / 1e9);
		return STATUS_FAILURE;
	default:
		return out_of_memory();
	}
}

void interval__print(FILE *out, const struct qz_profile *p)
{
	if (p->interval_until_ns)
		fprintf(out, "PART OF THE RUN: from %.10g s to %.10g s\n",
			(double)p->interval_from_ns / 1e9, (double)p->interval_until_ns / 1e9);
}
