/* SPDX-License-Identifier: GPL-2.0-only */
/* Output of quartzctl doctor. */
#ifndef QUARTZ_CLI_DOCTOR_H
#define QUARTZ_CLI_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/doctor/doctor_checks.h"
#include "cli/cli.h"

/* Prints one or two lines of text. False: out of memory. */
bool doctor__print(const char *name, const struct finding *f);

/* A new JSON object; NULL: out of memory. */
json_t *doctor__json(const char *name, const struct finding *f);

/* Prints the document with this list as the member `key`. Borrows the list. */
enum status doctor__print_json(const char *key, json_t *list);

#endif
