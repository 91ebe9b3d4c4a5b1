/* SPDX-License-Identifier: GPL-2.0-only */
/* What a check found, as text and as JSON. */
#ifndef QUARTZ_CLI_FINDING_H
#define QUARTZ_CLI_FINDING_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/doctor/doctor_checks.h"
#include "cli/cli.h"

/* Prints one or two lines of text. False: out of memory. */
bool finding__print(const char *name, const struct finding *f);

/* A new JSON object; NULL: out of memory. */
json_t *finding__json(const char *name, const struct finding *f);

/* Prints the document with this list as the member `key`. Borrows the list. */
enum status finding__print_list(const char *key, json_t *list);

#endif
