// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "core/util/term_escape.h"
#include "daemon/session/progress.h"

#define SECOND 1000000000ull

void progress__begin(struct progress *p, const char *subject, bool quiet, uint64_t now)
{
	const char *term = getenv("TERM");

	*p = (struct progress) {.group = p->group,
				.wanted = !quiet && isatty(STDERR_FILENO) && term && *term &&
					  strcmp(term, "dumb") != 0,
				.line.fd = STDERR_FILENO,
				.began = now,
				.due = now + SECOND,
				.busy = -1,
				.doing = "measuring"};
	qz_term_escape(p->subject, sizeof(p->subject), subject);
	for (char *c = p->subject; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
}

/* Not in the background, nor on the screen of a program that has all of it. */
static bool may_draw(const struct progress *p)
{
	struct termios mode;

	return tcgetpgrp(STDERR_FILENO) == p->group && !tcgetattr(STDERR_FILENO, &mode) &&
	       mode.c_lflag & ICANON;
}

static void draw(struct progress *p, uint64_t samples, uint64_t now)
{
	char text[200], busy[40] = "";
	struct winsize size;

	if (!may_draw(p) || ioctl(STDERR_FILENO, TIOCGWINSZ, &size)) {
		qz_status_line__hide(&p->line);
		return;
	}
	if (p->busy >= 0)
		snprintf(busy, sizeof(busy), ", %.1f CPUs", p->busy);
	snprintf(text, sizeof(text), "%.0f s, %llu samples%s: %s %s",
		 (double)(now - p->began) / 1e9, (unsigned long long)samples, busy, p->doing,
		 p->subject);
	qz_status_line__show(&p->line, size.ws_row, size.ws_col, text);
}

/* The time that all threads ran, by the last refresh. */
static uint64_t running_of(const struct qz_profile *profile)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < profile->nscopes; i++)
		if (profile->scopes[i].kind != QZ_SCOPE_MACHINE)
			sum += qz_scope__running_ns(&profile->scopes[i]);
	return sum;
}

bool progress__is_due(const struct progress *p, uint64_t now)
{
	return p->wanted && now >= p->due;
}

void progress__update(struct progress *p, const struct qz_profile *profile, uint64_t samples,
		      uint64_t now)
{
	uint64_t running_ns;

	p->due = now + SECOND;
	running_ns = running_of(profile);
	if (profile->window_ns > p->window_ns && running_ns >= p->running_ns)
		p->busy = (double)(running_ns - p->running_ns) /
			  (double)(profile->window_ns - p->window_ns);
	p->running_ns = running_ns;
	p->window_ns = profile->window_ns;
	draw(p, samples, now);
}

void progress__say(struct progress *p, const char *doing)
{
	char text[100];

	p->doing = doing;
	if (!p->line.rows)
		return;
	snprintf(text, sizeof(text), "%s %s", doing, p->subject);
	qz_status_line__show(&p->line, p->line.rows, p->line.columns, text);
}

void progress__end(struct progress *p)
{
	p->wanted = false;
	qz_status_line__hide(&p->line);
}
