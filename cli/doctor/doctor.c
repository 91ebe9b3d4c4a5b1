/* SPDX-License-Identifier: GPL-2.0-only */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/doctor_stacks.h"

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
			complete = !json_array_append_new(list, finding__json(c->name, &f));
		else
			complete = finding__print(c->name, &f);
	}
	if (!complete)
		status = out_of_memory();
	else if (config->json)
		status = finding__print_list("checks", list);
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
