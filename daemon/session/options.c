// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/session/options.h"

#define PROGRAM_RATE  999 /* a prime-like rate does not beat with timers of round numbers */
#define SYSTEM_RATE   99
#define MAX_RATE      10000
#define PAGE_RATE     10000
#define MAX_PAGE_RATE 1000000
#define PROCESSES     16384
#define ENDED_MEMORY  16
#define MOST_ENDED_MEMORY                                                                          \
	32 /* half of what is read again, see MAX_LENGTH of core/format/snapshot_meta.c */
#define MAX_OVERHEAD 10000 /* one per cent */
#define HISTORY	     (6 * 3600 * 1000000000ull)
#define HISTORY_SIZE 256
#define SLICE	     (60 * 1000000000ull)
#define CACHE_SIZE   256

/* Of what has another default than nought. */
#define DEFAULTS                                                                                   \
	.cpu = "auto", .ended_memory = ENDED_MEMORY, .history = HISTORY,                           \
	.history_size = HISTORY_SIZE, .slice = SLICE, .cache_size = CACHE_SIZE, .max_overhead = -1

#define FIELD(name) offsetof(struct options, name)

const struct qz_option options_table[] = {
	{"pid", 'p', QZ_OPTION_INTEGERS, FIELD(pids), "PID[,PID...]",
	 "Profile these processes; may be repeated.", 1, INT_MAX},
	{"tree", 0, QZ_OPTION_INTEGERS, FIELD(trees), "PID[,PID...]",
	 "Profile this process and all its descendants as\none scope; may be repeated.", 1,
	 INT_MAX},
	{"system", 0, QZ_OPTION_FLAG, FIELD(system), NULL, "Profile every process of the machine."},
	{"duration", 'd', QZ_OPTION_DURATION, FIELD(duration), "TIME",
	 "Stop after this time, for example 10, 500ms or\n5min. Default: when the targets end.", 1,
	 INT64_MAX},
	{"delay", 0, QZ_OPTION_DURATION, FIELD(delay), "TIME",
	 "Wait this long before measuring; COMMAND is\nstarted at once.", 0, INT64_MAX},
	{"output", 'o', QZ_OPTION_STRING, FIELD(output), "FILE",
	 "Write the snapshot to FILE. Default: a new file\nin /var/lib/quartz."},
	{"processes", 0, QZ_OPTION_INTEGER, FIELD(processes), "N",
	 "With --system, maximum number of processes\nmeasured at a time. Default: 16384.", 64,
	 262144},
	{"ended-memory", 0, QZ_OPTION_INTEGER, FIELD(ended_memory), "MIB",
	 "With --system, memory for ended processes;\nbeyond it, the smallest ones are "
	 "merged.\nDefault: 16.",
	 0, MOST_ENDED_MEMORY},
	{"history", 0, QZ_OPTION_DURATION, FIELD(history), "TIME",
	 "With --system, save a file for each slice of\ntime and keep it this long; 0: no "
	 "slices.\nDefault: 6h.",
	 0, INT64_MAX},
	{"history-size", 0, QZ_OPTION_INTEGER, FIELD(history_size), "MIB",
	 "Maximum size of all slices. Default: 256.", 1, 1 << 20},
	{"slice", 0, QZ_OPTION_DURATION, FIELD(slice), "TIME", "Length of a slice. Default: 1min.",
	 1000000000, 86400000000000},
	{"cache-size", 0, QZ_OPTION_INTEGER, FIELD(cache_size), "MIB",
	 "Maximum size of the unwind tables that are kept in\n/var/cache/quartz for later runs; 0: "
	 "none. Default:\n256.",
	 0, 1 << 20},
	{"rate", 'F', QZ_OPTION_INTEGER, FIELD(rate), "HZ",
	 "Samples per second and processor. Default: 999;\n99 with --system.", 1, MAX_RATE},
	{"max-overhead", 0, QZ_OPTION_PERCENT, FIELD(max_overhead), "PERCENT",
	 "Maximum overhead, in percent of all processors;\nsampling rates are lowered to keep it. "
	 "0: no\nlimit. Default: 1 with --system, else 0.",
	 0, 1000000},
	{"cpu", 0, QZ_OPTION_STRING, FIELD(cpu), "N[,N...]|auto|none",
	 "Processors reserved for quartzd; COMMAND does\nnot use them. auto: the last one, if "
	 "there are 4\nor more."},
	{"page-rate", 0, QZ_OPTION_INTEGER, FIELD(page_rate), "HZ",
	 "Rate at which reserved processors poll\ninstrumented threads. Default: 10000; "
	 "without\nreserved processors, no polling.",
	 1, MAX_PAGE_RATE},
	{"busy", 0, QZ_OPTION_FLAG, FIELD(busy), NULL, "Poll them without a pause."},
	{"snapshots", 0, QZ_OPTION_INTEGER, FIELD(snapshots), "HZ",
	 "Capture what all processors do at one instant,\nHZ times a second; without "
	 "quartz.ko,\nat each sample.",
	 1, 1000},
	{"woken", 0, QZ_OPTION_FLAG, FIELD(woken), NULL,
	 "Also measure time until woken: what wakers ran\nwhile other threads waited for them."},
	{"exact", 0, QZ_OPTION_FLAG, FIELD(exact), NULL, "Without effect: each wait is counted."},
	{"what-if", 0, QZ_OPTION_STRING, FIELD(what_if), "auto|NAMES",
	 "Also find what the run would gain without each of\nthese procedures and objects."},
	{"log", 0, QZ_OPTION_STRING, FIELD(log), "FILE",
	 "Also keep the scheduler's log in FILE, for\nquartzctl replay."},
	{"lines", 0, QZ_OPTION_FLAG, FIELD(lines), NULL, "Look up source files and lines."},
	{"inlines", 0, QZ_OPTION_FLAG, FIELD(inlines), NULL, "Also show inlined procedures."},
	{"spin-symbols", 0, QZ_OPTION_STRINGS, FIELD(spin_symbols), "FILE",
	 "Rules about procedures that spin, in addition to\n/etc/quartz/spin-symbols.d; may be "
	 "repeated."},
	{"user", 'u', QZ_OPTION_STRING, FIELD(user), "USER", "Run COMMAND as this user."},
	{"remove-maps", 0, QZ_OPTION_FLAG, FIELD(remove_maps), NULL,
	 "Remove the maps of names in /tmp that processes\nof COMMAND have written, and V8's logs "
	 "of them."},
	{"config", 0, QZ_OPTION_STRING, FIELD(file), "FILE",
	 "Read settings from FILE. Default: with --system\n/etc/quartz/quartzd.conf and "
	 "quartzd.conf.d,\nelse none."},
	{"private", 0, QZ_OPTION_FLAG, FIELD(private), NULL,
	 "No socket and no text tables; several private\ninstances may run at a time."},
	{"quiet", 'q', QZ_OPTION_FLAG, FIELD(quiet), NULL, "Print errors only."},
	{"verbose", 'v', QZ_OPTION_FLAG, FIELD(verbose), NULL,
	 "Also print libbpf's messages and the unwind\ntables of each process."},
	{"version", 'V', QZ_OPTION_FLAG, FIELD(version), NULL, "Print the version."},
	{"help", 'h', QZ_OPTION_FLAG, FIELD(help), NULL, "Print this text."},
	{0},
};

void options__help(void)
{
	qz_options__help(stdout,
			 "Usage: quartzd --pid PID[,PID...] [OPTION...]\n"
			 "       quartzd --tree PID[,PID...] [OPTION...]\n"
			 "       quartzd --system [OPTION...]\n"
			 "       quartzd [OPTION...] -- COMMAND [ARGUMENT...]\n\n"
			 "Measures which procedures account for the elapsed time of parallel "
			 "programs.\n"
			 "quartzctl report shows the result.\n",
			 options_table);
}

static int check(const struct options *options, char *error, size_t size)
{
	int targets = !!options->pids.n + !!options->trees.n + options->system;

	if (options->command && targets)
		snprintf(error, size,
			 "a COMMAND cannot be combined with --pid, --tree or --system; --duration "
			 "says how long to measure");
	else if (options->user && !options->command)
		snprintf(error, size, "--user needs a COMMAND");
	else if (options->what_if && options->system)
		snprintf(error, size, "--what-if is for runs of programs, not for --system");
	else if (options->system && targets > 1)
		snprintf(error, size, "--system cannot be combined with --pid or --tree");
	else if (!options->command && !targets)
		snprintf(error, size,
			 "nothing to profile: give --pid, --tree, --system or -- COMMAND");
	else
		return 0;
	return -EINVAL;
}

/* As if the settings stood before the words of the command line, which therefore count more. */
static int parse_again(struct options *options, int argc, char *argv[], char *error, size_t size)
{
	struct config_file s;
	const char *file = options->file;
	char **words;
	int first;

	if (config_file__read(&s, file, error, size)) {
		config_file__free(&s);
		return -EBADMSG;
	}
	words = calloc(s.n + argc + 1, sizeof(*words));
	if (!words) {
		config_file__free(&s);
		snprintf(error, size, "out of memory");
		return -ENOMEM;
	}
	options__free(options);
	*options = (struct options) {DEFAULTS, .settings = s, .words = words};
	words[0] = argv[0];
	if (s.n) /* else there are no words */
		memcpy(words + 1, s.words, s.n * sizeof(*words));
	memcpy(words + 1 + s.n, argv + 1, (argc - 1) * sizeof(*words));
	first = qz_options__parse(argc + (int)s.n, words, options_table, options, error, size);
	return first < 0 ? first : first - (int)s.n;
}

int options__parse(struct options *options, int argc, char *argv[], char *error, size_t size)
{
	int first;

	*options = (struct options) {DEFAULTS};
	first = qz_options__parse(argc, argv, options_table, options, error, size);
	if (first < 0)
		return first;
	if (options->help || options->version)
		return 0;
	if (options->system || options->file)
		first = parse_again(options, argc, argv, error, size);
	if (first < 0)
		return first;
	if (first < argc)
		options->command = &argv[first];
	return check(options, error, size);
}

void options__free(struct options *options)
{
	free(options->pids.items);
	free(options->trees.items);
	free(options->spin_symbols.items);
	config_file__free(&options->settings);
	free(options->words);
	*options = (struct options) {0};
}

uint32_t options__page_rate(const struct options *options)
{
	return options->page_rate ? options->page_rate : PAGE_RATE;
}

uint32_t options__rate(const struct options *options)
{
	if (options->rate)
		return options->rate;
	return options->system ? SYSTEM_RATE : PROGRAM_RATE;
}

uint32_t options__max_overhead(const struct options *options)
{
	if (options->max_overhead >= 0)
		return (uint32_t)options->max_overhead;
	return options->system ? MAX_OVERHEAD : 0;
}

uint32_t options__processes(const struct options *options)
{
	return options->processes ? (uint32_t)options->processes : PROCESSES;
}
