/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzzes what quartzctl believes of the knobs of another process: the input is laid over an empty page. What is valid is
 * shown, so names must end, choices must be there, and the value must be one of the knob's.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/knobs/knob_page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool law)
{
	if (!law)
		abort();
}

static void check_text(const char *text, size_t room)
{
	check(memchr(text, 0, room) != NULL && *text);
	for (; *text; text++)
		check(*text > ' ' && *text < 127);
}

static void check_knob(const struct qz_knob *k)
{
	check_text(k->name, sizeof(k->name));
	check(k->choices <= QZ_KNOB_CHOICES && k->role < QZ_KNOB_ROLES && k->step >= 1);
	check(k->least <= k->value && k->value <= k->most);
	check(knob_page__allows(k, k->least) && knob_page__allows(k, k->value));
	for (uint32_t i = 0; i < k->choices; i++)
		check_text(k->choice[i], sizeof(k->choice[i]));
	check(!k->choices || k->value < (int64_t)k->choices);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct knob_page p;

	memset(&p.copy, 0, sizeof(p.copy));
	memcpy(&p.copy, data, size < sizeof(p.copy) ? size : sizeof(p.copy));
	if (!knob_page__is_valid(&p.copy))
		return 0;
	check(p.copy.used <= QZ_KNOBS);
	for (uint32_t i = 0; i < p.copy.used; i++) {
		check_knob(&p.copy.knobs[i]);
		check(knob_page__find(&p, p.copy.knobs[i].name) != NULL);
	}
	return 0;
}
