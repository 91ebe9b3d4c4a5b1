/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages of quartzd: one line each on stderr, "quartzd: ..." or "quartzctl: ...". The only file that prints them. */
#ifndef QUARTZ_DAEMON_LOG_H
#define QUARTZ_DAEMON_LOG_H

#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

/*
 * `quartzctl record` executes quartzd, whose messages then begin with "quartzctl: ". `called` is the first word of the
 * command line.
 */
void log__set_name(const char *called);

/* What to type for help. */
const char *log__help(void);

/* Messages above this level are dropped. */
void log__set_level(enum log_level level);

/* Whether messages of this level are printed: for what is work to find out. */
bool log__prints(enum log_level level);

__attribute__((format(printf, 2, 3))) void log__print(enum log_level level, const char *format,
						      ...);

#define log_error(...)	 log__print(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log__print(LOG_WARNING, __VA_ARGS__)
#define log_info(...)	 log__print(LOG_INFO, __VA_ARGS__)
#define log_debug(...)	 log__print(LOG_DEBUG, __VA_ARGS__)

#endif
