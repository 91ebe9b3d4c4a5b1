/* SPDX-License-Identifier: GPL-2.0-only */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/doctor/doctor.h"
#include "cli/render/output.h"
#include "cli/doctor/doctor_stacks.h"

static const char *const verdicts[] = {
	[CHECK_OK] = "ok", [CHECK_WARN] = "warn", [CHECK_FAIL] = "fail"};

bool doctor__print(const char *name, const struct finding *f)
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

json_t *doctor__json(const char *name, const struct finding *f)
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

enum status doctor__print_json(const char *key, json_t *list)
{
	return output__json(json_pack("{ss, sO}", "schema", "quartz.doctor/v1", key, list), 2);
}

static enum status examine_machine(const struct config *config)
{
	const char *root = getenv("QUARTZ_DOCTOR_ROOT"); /* for tests: another machine's files */
	enum status status = STATUS_OK;
	json_t *list = json_array();
	bool failed = false, complete = list;

	for (const struct check *c = checks; complete && c->name; c++) {
		struct finding f;

		c->run(root ? root : "", &f);
		failed |= f.verdict == CHECK_FAIL;
		if (config->json)
			complete = !json_array_append_new(list, doctor__json(c->name, &f));
		else
			complete = doctor__print(c->name, &f);
	}
	if (!complete)
		status = out_of_memory();
	else if (config->json)
		status = doctor__print_json("checks", list);
	json_decref(list);
	return status == STATUS_OK && failed ? STATUS_FAILURE : status;
}

static enum status doctor(const struct config *config)
{
	return config->pid ? doctor_stacks__examine(config) : examine_machine(config);
}

static const struct qz_option options[] = {
	{"input", 'i', QZ_OPTION_STRING, FIELD(input), "FILE",
	 "With PID: examine this snapshot. Default: the\nrunning quartzd, else the newest "
	 "snapshot."},
	{0},
};

const struct command cmd_doctor = {
	.name = "doctor",
	.operands = " [PID]",
	.summary = "Check whether this machine can run quartzd",
	.details = "With PID: show how well the stacks of that process could be walked.\n",
	.options = options,
	.shared = SHARED_JSON,
	.takes_pid = true,
	.live_first = true,
	.run = doctor,
};
