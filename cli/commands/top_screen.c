/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The terminal of top: keys and screen. cli/commands/top.c makes the lines, in printable
 * characters.
 */
#include <errno.h>
#include <ncurses.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "cli/render/output.h"
#include "cli/render/cells.h"
#include "cli/commands/top.h"
#include "core/util/clock.h"

#define PERIOD_MS  1000
#define ABOVE	   3 /* lines above the advice */
#define MAX_ADVICE 8 /* lines */

struct top_screen {
	struct top top;
	struct top_news news;	/* of the current update, in a thread of its own */
	struct top_focus focus; /* of the current update */
	pthread_t renewal;
	bool renewing;
	int renewed;		  /* eventfd, readable when the update is done */
	int64_t due;		  /* time of the next update */
	int head;		  /* line of the head of the table */
	uint32_t selected, first; /* selected row, and first row on the screen */
	uint32_t selected_process;
	bool paused, ended;
	const char *note; /* message about the last key */
};

static const char *const help_lines[] = {
	"up, down, PgUp, PgDn, Home, End   select a row",
	"Enter        look into a process: what limits it, its procedures",
	"o            its objects, or procedures again",
	"Esc, left    back",
	"n c l e i t a  sort by norm, CPU, parallelism, serial, spin, threads, name",
	"w            of a process: since quartzd measures it, or in the last seconds",
	"d            sort by norm, or by CPU where there are too few samples",
	"b            rows by process, program, unit, control group",
	"p, space     stop the figures, and go on",
	"h, ?         this text",
	"q            quit",
	"",
	"NORM% is the share of elapsed time that the row costs, CPU% processor time,",
	"PARAL the mean number of its busy threads, SERIAL% the time with only one.",
	"CPU%, PARAL and SERIAL% are exact; NORM%, SPIN% and the figures of procedures",
	("are estimated from samples, those with " ROUGH_MARK " from too few to be trusted."),
};

/* ---- drawing ---- */

static void put_line(int y, const char *text, attr_t attributes)
{
	char *copy = text ? strdup(text) : NULL;

	if (!copy)
		return;
	if (output__count_characters(copy) > COLS)
		copy[output__skip_characters(copy, COLS)] = 0;
	attron(attributes);
	mvaddstr(y, 0, copy);
	if (attributes & A_REVERSE)
		hline(' ', COLS - getcurx(stdscr));
	attroff(attributes);
	free(copy);
}

static void put_owned(int y, char *text, attr_t attributes)
{
	put_line(y, text, attributes);
	free(text);
}

/* Rows of the table on the screen. */
static uint32_t page(const struct top_screen *s)
{
	return LINES > s->head + 2 ? (uint32_t)(LINES - s->head - 2) : 1;
}

/* At most a third of the screen. The table begins after it. */
static void draw_advice(struct top_screen *s)
{
	int most = LINES / 3 < MAX_ADVICE ? LINES / 3 : MAX_ADVICE;
	char *text = top__advice(&s->top, COLS), *rest = text, *line;

	s->head = ABOVE;
	while (s->head < ABOVE + most && (line = strsep(&rest, "\n")) && *line)
		put_line(s->head++, line, A_NORMAL);
	free(text);
}

static void draw_table(struct top_screen *s)
{
	uint32_t n = top__rows(&s->top);

	if (s->selected >= n)
		s->selected = n ? n - 1 : 0;
	if (s->first > s->selected)
		s->first = s->selected;
	if (s->selected >= s->first + page(s))
		s->first = s->selected - page(s) + 1;
	top__fit(&s->top, COLS);
	put_owned(s->head, top__head(&s->top), A_BOLD);
	for (uint32_t i = 0; i < page(s) && s->first + i < n; i++)
		put_owned(s->head + 1 + (int)i, top__line(&s->top, s->first + i),
			  s->first + i == s->selected ? A_REVERSE : A_NORMAL);
}

static void draw(struct top_screen *s)
{
	const char *note = s->note ? s->note : s->top.reason;

	erase();
	if (s->top.view == TOP_HELP) {
		for (size_t i = 0; i < sizeof(help_lines) / sizeof(*help_lines); i++)
			put_line((int)i, help_lines[i], A_NORMAL);
	} else {
		put_owned(0, top__summary(&s->top), A_NORMAL);
		put_owned(1, top__title(&s->top), A_NORMAL);
		put_owned(2, top__quality(&s->top), A_NORMAL);
		draw_advice(s);
		draw_table(s);
	}
	put_line(LINES - 1,
		 *note	     ? note
		 : s->paused ? "paused; p goes on"
			     : "h: help, q: quit",
		 A_NORMAL);
	refresh();
}

/* ---- keys ---- */

static void sort_by(struct top_screen *s, int key)
{
	static const char keys[] = "dncleita"; /* in the order of enum qz_process_order */
	const char *at = key > 0 && key < 128 ? strchr(keys, key) : NULL;

	if (at && s->top.view == TOP_PROCESSES)
		s->top.order = (enum qz_process_order)(at - keys);
}

static void go_back(struct top_screen *s)
{
	s->top.view = TOP_PROCESSES;
	s->selected = s->selected_process;
}

static void enter(struct top_screen *s)
{
	uint32_t row = s->selected;

	if (s->top.view != TOP_PROCESSES)
		return;
	if (top__enter(&s->top, row)) {
		s->selected_process = row;
		s->selected = s->first = 0;
		s->due = 0;
	} else {
		s->note = "only single processes can be looked into; b until by process";
	}
}

static void move_to(struct top_screen *s, int64_t row)
{
	int64_t last = (int64_t)top__rows(&s->top) - 1;

	s->selected = (uint32_t)(row < 0 || last < 0 ? 0 : row > last ? last : row);
}

static void toggle_objects(struct top_screen *s)
{
	if (s->top.view == TOP_PROCESSES)
		return;
	s->top.view = s->top.view == TOP_OBJECTS ? TOP_PROCEDURES : TOP_OBJECTS;
	s->selected = s->first = 0;
}

static bool take_motion(struct top_screen *s, int key)
{
	switch (key) {
	case KEY_UP:
		move_to(s, (int64_t)s->selected - 1);
		return true;
	case KEY_DOWN:
		move_to(s, (int64_t)s->selected + 1);
		return true;
	case KEY_PPAGE:
		move_to(s, (int64_t)s->selected - page(s));
		return true;
	case KEY_NPAGE:
		move_to(s, (int64_t)s->selected + page(s));
		return true;
	case KEY_HOME:
		move_to(s, 0);
		return true;
	case KEY_END:
		move_to(s, INT64_MAX);
		return true;
	default:
		return false;
	}
}

static void command(struct top_screen *s, int key)
{
	switch (key) {
	case 'q':
		s->ended = true;
		break;
	case '\n':
	case '\r':
	case KEY_ENTER:
	case KEY_RIGHT:
		enter(s);
		break;
	case 27:
	case KEY_LEFT:
	case KEY_BACKSPACE:
		go_back(s);
		break;
	case 'o':
		toggle_objects(s);
		break;
	case 'w':
		s->top.wants_whole = !s->top.wants_whole;
		break;
	case 'b':
		s->top.by = (s->top.by + 1) % (QZ_BY_CGROUP + 1);
		break;
	case 'p':
	case ' ':
		s->paused = !s->paused;
		break;
	case 'h':
	case '?':
		s->top.view = TOP_HELP;
		break;
	default:
		sort_by(s, key);
	}
}

static int take_key(struct top_screen *s, int key)
{
	s->note = NULL;
	if (s->top.view == TOP_HELP && key != 'q') {
		go_back(s);
		return 0;
	}
	if (take_motion(s, key))
		return 0;
	command(s, key);
	return top__arrange(&s->top);
}

/* ---- the command ---- */

static void *renew(void *context)
{
	struct top_screen *s = context;
	uint64_t one = 1;

	top__ask(&s->top, s->focus, &s->news);
	return write(s->renewed, &one, sizeof(one)) == sizeof(one) ? s : NULL;
}

/* Keys work meanwhile. Without an answer, the previous figures stay, with the reason. */
static void begin_renewal(struct top_screen *s)
{
	s->focus = s->top.focus;
	s->renewing = !pthread_create(&s->renewal, NULL, renew, s);
}

static int end_renewal(struct top_screen *s)
{
	uint64_t one;

	if (read(s->renewed, &one, sizeof(one)) != sizeof(one))
		return 0;
	pthread_join(s->renewal, NULL);
	s->renewing = false;
	return top__take(&s->top, &s->news);
}

static int take_keys(struct top_screen *s)
{
	int key, err = 0;

	while (!s->ended && !err && (key = getch()) != ERR)
		err = take_key(s, key);
	return err;
}

/* Waits for a key, an answer, or the time of the next update. */
static void wait_for_something(const struct top_screen *s)
{
	struct pollfd fds[2] = {
		{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = s->renewed, .events = POLLIN},
	};
	int64_t left = s->due - qz_clock__now_ms();

	poll(fds, 2, s->renewing ? -1 : left > 0 ? (int)left : 0);
}

static enum status run(struct top_screen *s)
{
	int err = 0;

	s->due = qz_clock__now_ms() + PERIOD_MS;
	timeout(0);
	while (!s->ended && err != -ENOMEM) {
		draw(s);
		wait_for_something(s);
		err = take_keys(s);
		if (err != -ENOMEM && s->renewing)
			err = end_renewal(s);
		if (s->renewing || qz_clock__now_ms() < s->due)
			continue;
		if (!s->paused || top__lacks(&s->top))
			begin_renewal(s);
		s->due = qz_clock__now_ms() + PERIOD_MS;
	}
	return err == -ENOMEM ? STATUS_FAILURE : STATUS_OK;
}

static enum status top(const struct config *config)
{
	/* static, because an update may still be running at the end */
	static struct top_screen s;
	enum status status;
	int err;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		complain("top needs a terminal; 'quartzctl ps' does not");
		return STATUS_FAILURE;
	}
	s.top.by = (enum qz_process_group)config->by;
	s.top.order = (enum qz_process_order)config->sort;
	s.renewed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	top__ask(&s.top, s.top.focus, &s.news);
	err = top__take(&s.top, &s.news);
	if (err) {
		complain("%s", err == -ENOMEM ? "out of memory" : s.top.reason);
		top__free(&s.top);
		if (err == -EACCES || err == -EPERM)
			return STATUS_NO_PRIVILEGE;
		return err == -ENOENT || err == -ECONNREFUSED ? STATUS_NO_SOURCE : STATUS_FAILURE;
	}
	set_escdelay(25);
	if (!newterm(NULL, stdout, stdin)) {
		complain("the terminal '%s' is not known; set TERM", getenv("TERM"));
		top__free(&s.top);
		return STATUS_FAILURE;
	}
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	status = run(&s);
	endwin();
	if (!s.renewing)
		top__free(&s.top);
	return status == STATUS_OK ? status : out_of_memory();
}

const struct command cmd_top = {
	.name = "top",
	.summary = "Show the processes live",
	.details = "Press h for the list of keys.\n",
	.shared = SHARED_PROCESSES,
	.run = top,
};
