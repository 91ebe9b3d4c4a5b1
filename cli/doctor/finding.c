/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/doctor/finding.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/render/output.h"

static const char *const verdicts[] = {
	[CHECK_OK] = "ok", [CHECK_WARN] = "warn", [CHECK_FAIL] = "fail"};

bool finding__print(const char *name, const struct finding *f)
{
	char *detail = output__escape(f->detail);

	if (!detail)
		return false;
	printf("%-4s  %-19s  %s\n", verdicts[f->verdict], name, detail);
	if (f->remedy)
		printf("%27s%s\n", "remedy: ", f->remedy);
	free(detail);
	return true;
}

json_t *finding__json(const char *name, const struct finding *f)
{
	char *detail = output__escape(f->detail);
	json_t *object;

	if (!detail)
		return NULL;
	object = json_pack("{ss, ss, ss, ss}", "check", name, "verdict", verdicts[f->verdict],
			   "detail", detail, "remedy", f->remedy ? f->remedy : "");
	free(detail);
	return object;
}

enum status finding__print_list(const char *key, json_t *list)
{
	return output__json(json_pack("{ss, sO}", "schema", "quartz.doctor/v1", key, list), 2);
}
