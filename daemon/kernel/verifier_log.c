// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "daemon/kernel/verifier_log.h"
#include "daemon/util/log.h"

#define STATISTICS 4 /* log level: BPF_LOG_STATS, since Linux 5.2 */
#define TEXT	   65536
#define PROGRAMS   64
#define TIME	   "verification time " /* how statistics begin */

struct verifier_log {
	char text[PROGRAMS][TEXT];
};

struct verifier_log *verifier_log__new(struct bpf_object *object)
{
	struct verifier_log *log = calloc(1, sizeof(*log));
	struct bpf_program *p;
	size_t i = 0;

	if (!log)
		return NULL;
	bpf_object__for_each_program(p, object)
	{
		if (i == PROGRAMS)
			break;
		bpf_program__set_log_level(p, STATISTICS);
		bpf_program__set_log_buf(p, log->text[i++], TEXT);
	}
	return log;
}

/* The number after a word of the verifier's statistics; 0: none. */
static unsigned long number_behind(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	return at ? strtoul(at + strlen(word), NULL, 10) : 0;
}

void verifier_log__print(const struct verifier_log *log, struct bpf_object *object)
{
	unsigned long us, processed, sum = 0, all = 0;
	struct bpf_program *p;
	const char *text;
	size_t i = 0;

	if (!log)
		return;
	bpf_object__for_each_program(p, object)
	{
		if (i == PROGRAMS)
			break;
		text = log->text[i++];
		/* statistics are all that is said of a program that was not refused */
		if (*text && strncmp(text, TIME, strlen(TIME)))
			log_debug("verifier: %s: %s", bpf_program__name(p), text);
		us = number_behind(text, TIME);
		processed = number_behind(text, "processed ");
		if (!processed)
			continue;
		sum += us;
		all += processed;
		log_debug("verifier: %-18s %6zu instructions %8lu processed %8.1f ms",
			  bpf_program__name(p), bpf_program__insn_cnt(p), processed, us / 1e3);
	}
	log_debug("verifier: %-18s %28lu processed %8.1f ms", "all", all, sum / 1e3);
}

void verifier_log__free(struct verifier_log *log)
{
	free(log);
}
