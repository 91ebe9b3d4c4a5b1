/* SPDX-License-Identifier: GPL-2.0-only */
/* What quartzd was asked to do on its command line. */
#ifndef QUARTZ_DAEMON_OPTIONS_H
#define QUARTZ_DAEMON_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/util/exit_status.h"
#include "core/util/options.h"
#include "daemon/session/config_file.h"

struct options {
	struct qz_integers pids;  /* processes, each a scope */
	struct qz_integers trees; /* processes with all their descendants, each a scope */
	bool system;		  /* every process a scope */
	uint64_t duration;	  /* ns, 0: until the targets end */
	uint64_t delay;		  /* ns before measuring begins */
	const char *output;
	int64_t processes;    /* at a time, most, 0: the default */
	uint64_t history;     /* ns that slices are kept for, 0: none are made */
	uint64_t slice;	      /* ns that each is of */
	int64_t history_size; /* MiB, of all of them */
	int64_t ended_memory; /* MiB, of those that have ended */
	int64_t cache_size;   /* MiB, of unwind tables that are kept; 0: none are */
	int64_t rate;	      /* Hz, 0: the default of what is profiled */
	int64_t max_overhead; /* millionths of the processors, negative: the default */
	const char *cpu;
	const char *log;     /* file of the scheduler's log, NULL: it is not kept */
	const char *what_if; /* candidates, NULL: none */
	const char *user;    /* whom the command is run as, NULL: the same user as quartzd */
	int64_t page_rate;   /* Hz, 0: not given */
	int64_t snapshots;   /* Hz, 0: none */
	bool busy;	     /* poll without a pause */
	struct qz_texts spin_symbols; /* files */
	bool woken, exact, lines, inlines, private, quiet, verbose, version, help;
	bool remove_maps;     /* that have given names, when these were taken */
	const char *file;     /* of settings, NULL: the usual ones for --system, else none */
	char *const *command; /* NULL-terminated, NULL: none */
	struct config_file settings;
	char **words; /* settings and command line together; strings above point into them */
};

extern const struct qz_option options_table[];

/*
 * Reads the command line, and quartzd.conf where it counts. 0, or one line in error with -EINVAL for the
 * command line and -EBADMSG for a file of settings. What options holds is freed with options__free.
 */
int options__parse(struct options *options, int argc, char *argv[], char *error, size_t size);
void options__free(struct options *options);
void options__help(void);

/* Rounds of the pollers per second. */
uint32_t options__page_rate(const struct options *options);

/* How many processes of the machine may be followed at a time. */
uint32_t options__processes(const struct options *options);

/* What Quartz may cost, in millionths of the time of all processors; 0: that is not watched. */
uint32_t options__max_overhead(const struct options *options);

/* The rate that is asked for. */
uint32_t options__rate(const struct options *options);

#endif
