/* SPDX-License-Identifier: GPL-2.0-only */
/* How quartzctl doctor shows what it found. */
#ifndef QUARTZ_CLI_DOCTOR_H
#define QUARTZ_CLI_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/checks.h"
#include "cli/cli.h"

/* As one or two lines of text. False when memory ran out. */
bool doctor__print(const char *name, const struct finding *f);

/* As an object; NULL when memory ran out. */
json_t *doctor__json(const char *name, const struct finding *f);

/* Prints the document that has this list under `key`. */
enum status doctor__print_json(const char *key, json_t *list);

#endif
