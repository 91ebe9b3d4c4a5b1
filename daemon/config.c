// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config.h"

#define PROGRAM_RATE	  999 /* a prime-like rate does not beat with timers of round numbers */
#define SYSTEM_RATE	  99
#define MAX_RATE	  10000
#define PAGE_RATE	  10000
#define MAX_PAGE_RATE	  1000000
#define PROCESSES	  16384
#define ENDED_MEMORY	  16
#define MOST_ENDED_MEMORY 32 /* half of what is read again, see MAX_LENGTH of core/pprof_meta.c */
#define MAX_OVERHEAD	  10000 /* one per cent */
#define HISTORY		  (6 * 3600 * 1000000000ull)
#define HISTORY_SIZE	  256
#define SLICE		  (60 * 1000000000ull)

/* Of what has another default than nought. */
#define DEFAULTS                                                                                   \
	.cpu = "auto", .ended_memory = ENDED_MEMORY, .history = HISTORY,                           \
	.history_size = HISTORY_SIZE, .slice = SLICE, .max_overhead = -1

#define FIELD(name) offsetof(struct config, name)

const struct qz_option config_options[] = {
	{"pid", 'p', QZ_OPTION_INTEGERS, FIELD(pids), "PID",
	 "Profile this process; may be repeated.", 1, INT_MAX},
	{"tree", 0, QZ_OPTION_INTEGERS, FIELD(trees), "PID",
	 "Profile this process with all its descendants\nas one; may be repeated.", 1, INT_MAX},
	{"system", 0, QZ_OPTION_FLAG, FIELD(system), NULL,
	 "Profile every process of the machine, each for itself."},
	{"duration", 'd', QZ_OPTION_DURATION, FIELD(duration), "TIME",
	 "Stop after this time, such as 10, 500ms or 5min.\nDefault: when the targets end.", 1,
	 INT64_MAX},
	{"output", 'o', QZ_OPTION_STRING, FIELD(output), "FILE",
	 "Save the snapshot here. Default: a new file in\n/var/lib/quartz/profiles."},
	{"processes", 0, QZ_OPTION_INTEGER, FIELD(processes), "N",
	 "With --system, follow so many processes at a time,\nat most. Default: 16384.", 64,
	 262144},
	{"ended-memory", 0, QZ_OPTION_INTEGER, FIELD(ended_memory), "MIB",
	 "With --system, keep processes that have ended up to\nthis size; the least are put "
	 "together. Default: 16.",
	 0, MOST_ENDED_MEMORY},
	{"history", 0, QZ_OPTION_DURATION, FIELD(history), "TIME",
	 "With --system, save what was measured in each slice\nof time, and keep it for so long; "
	 "0: "
	 "none. Default: 6h.",
	 0, INT64_MAX},
	{"history-size", 0, QZ_OPTION_INTEGER, FIELD(history_size), "MIB",
	 "All slices together take no more. Default: 256.", 1, 1 << 20},
	{"slice", 0, QZ_OPTION_DURATION, FIELD(slice), "TIME",
	 "Each slice is of so much time. Default: 1min.", 1000000000, 86400000000000},
	{"rate", 'F', QZ_OPTION_INTEGER, FIELD(rate), "HZ",
	 "Samples per second and processor. Default: 999,\nwith --system 99.", 1, MAX_RATE},
	{"max-overhead", 0, QZ_OPTION_PERCENT, FIELD(max_overhead), "PERCENT",
	 "What Quartz itself may cost of all processors; rates\nare lowered for it. 0: whatever it "
	 "takes. Default: 1\nwith --system, else 0.",
	 0, 1000000},
	{"cpu", 0, QZ_OPTION_STRING, FIELD(cpu), "N[,N...]|auto|none",
	 "Processors that quartzd keeps to; a COMMAND is kept\noff them. auto: the last one where "
	 "there are 4 or more."},
	{"page-rate", 0, QZ_OPTION_INTEGER, FIELD(page_rate), "HZ",
	 "How often instrumented threads are looked at, on the\nprocessors of --cpu. Default: "
	 "10000; without\nsuch a processor, not at all.",
	 1, MAX_PAGE_RATE},
	{"busy", 0, QZ_OPTION_FLAG, FIELD(busy), NULL, "Look at them all the time."},
	{"snapshots", 0, QZ_OPTION_INTEGER, FIELD(snapshots), "HZ",
	 "So often per second, see what all processors do\nat one instant; needs quartz.ko.", 1,
	 1000},
	{"woken", 0, QZ_OPTION_FLAG, FIELD(woken), NULL,
	 "Measure the time until woken too: what ran while\nothers waited for it."},
	{"lines", 0, QZ_OPTION_FLAG, FIELD(lines), NULL, "Look up source files and lines."},
	{"inlines", 0, QZ_OPTION_FLAG, FIELD(inlines), NULL, "Show inlined procedures too."},
	{"spin-symbols", 0, QZ_OPTION_STRINGS, FIELD(spin_symbols), "FILE",
	 "Rules on procedures that wait, in addition to those\nin /etc/quartz/spin-symbols.d; may "
	 "be repeated."},
	{"preload", 0, QZ_OPTION_STRING, FIELD(preload), "FILE",
	 "Library that COMMAND loads before all others:\nlibquartz-preload.so."},
	{"config", 0, QZ_OPTION_STRING, FIELD(file), "FILE",
	 "Read these settings. Default: with --system\n/etc/quartz/quartzd.conf and "
	 "quartzd.conf.d, "
	 "else\nnone."},
	{"private", 0, QZ_OPTION_FLAG, FIELD(private), NULL,
	 "No socket and no text tables: for one run, beside\nanother quartzd."},
	{"quiet", 'q', QZ_OPTION_FLAG, FIELD(quiet), NULL, "Print errors only."},
	{"verbose", 'v', QZ_OPTION_FLAG, FIELD(verbose), NULL,
	 "Print what libbpf says and what unwind tables there\nare, too."},
	{"version", 'V', QZ_OPTION_FLAG, FIELD(version), NULL, "Print the version."},
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."},
	{0},
};

void config__help(void)
{
	qz_options__help(stdout,
			 "Usage: quartzd --pid PID [OPTION]...\n"
			 "       quartzd --system [OPTION]...\n"
			 "       quartzd [OPTION]... -- COMMAND [ARGUMENT]...\n"
			 "Measures which procedures cost a parallel program its elapsed time.\n"
			 "quartzctl report shows the result.\n\n",
			 config_options);
}

static int check(const struct config *c, char *error, size_t size)
{
	int targets = !!c->pids.n + !!c->trees.n + c->system;

	if (c->command && targets)
		snprintf(error, size,
			 "a COMMAND cannot be combined with --pid, --tree or --system");
	else if (c->system && targets > 1)
		snprintf(error, size, "--system cannot be combined with --pid or --tree");
	else if (!c->command && !targets)
		snprintf(error, size,
			 "nothing to profile: give --pid, --tree, --system or -- COMMAND");
	else
		return 0;
	return -EINVAL;
}

/* As if the settings stood before the words of the command line, which therefore count more. */
static int parse_again(struct config *config, int argc, char *argv[], char *error, size_t size)
{
	struct settings s;
	const char *file = config->file;
	char **words;
	int first;

	if (settings__read(&s, file, error, size)) {
		settings__free(&s);
		return -EBADMSG;
	}
	words = calloc(s.n + argc + 1, sizeof(*words));
	if (!words) {
		settings__free(&s);
		snprintf(error, size, "out of memory");
		return -ENOMEM;
	}
	config__free(config);
	*config = (struct config) {DEFAULTS, .settings = s, .words = words};
	words[0] = argv[0];
	memcpy(words + 1, s.words, s.n * sizeof(*words));
	memcpy(words + 1 + s.n, argv + 1, (argc - 1) * sizeof(*words));
	first = qz_options__parse(argc + (int)s.n, words, config_options, config, error, size);
	return first < 0 ? first : first - (int)s.n;
}

int config__parse(struct config *config, int argc, char *argv[], char *error, size_t size)
{
	int first;

	*config = (struct config) {DEFAULTS};
	first = qz_options__parse(argc, argv, config_options, config, error, size);
	if (first < 0)
		return first;
	if (config->help || config->version)
		return 0;
	if (config->system || config->file)
		first = parse_again(config, argc, argv, error, size);
	if (first < 0)
		return first;
	if (first < argc)
		config->command = &argv[first];
	return check(config, error, size);
}

void config__free(struct config *config)
{
	free(config->pids.items);
	free(config->trees.items);
	free(config->spin_symbols.items);
	settings__free(&config->settings);
	free(config->words);
	*config = (struct config) {0};
}

uint32_t config__page_rate(const struct config *config)
{
	return config->page_rate ? config->page_rate : PAGE_RATE;
}

uint32_t config__rate(const struct config *config)
{
	if (config->rate)
		return config->rate;
	return config->system ? SYSTEM_RATE : PROGRAM_RATE;
}

uint32_t config__max_overhead(const struct config *config)
{
	if (config->max_overhead >= 0)
		return (uint32_t)config->max_overhead;
	return config->system ? MAX_OVERHEAD : 0;
}

uint32_t config__processes(const struct config *config)
{
	return config->processes ? (uint32_t)config->processes : PROCESSES;
}
