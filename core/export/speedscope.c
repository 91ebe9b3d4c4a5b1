/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/export/speedscope.h"

#include <inttypes.h>

#include "core/format/json_fields.h"

static const char *const value_names[QZ_STACK_VALUES] = {
	[QZ_STACK_NORM] = "normalized time",
	[QZ_STACK_CPU] = "processor time",
	[QZ_STACK_BLOCKED] = "blocked",
	[QZ_STACK_SPIN] = "spinning",
};

static json_t *frame_of(const struct qz_stack_frame *f)
{
	json_t *frame = json_object();
	bool failed =
		json_object_set_new(frame, "name", qz_json_fields__text(f->name)) ||
		(*f->file && json_object_set_new(frame, "file", qz_json_fields__text(f->file))) ||
		(f->line && json_object_set_new(frame, "line", json_integer(f->line)));

	return qz_json_fields__unless(failed, frame);
}

static int put_frames(FILE *out, const struct qz_stacks *s)
{
	int err = 0;

	fputs(",\"shared\":{\"frames\":[", out);
	for (uint32_t i = 0; !err && i < s->nframes; i++) {
		fputs(i ? ",\n" : "\n", out);
		err = qz_json_fields__put(out, frame_of(&s->frames[i]));
	}
	fputs("]}", out);
	return err;
}

static void put_samples(FILE *out, const struct qz_stacks *s, enum qz_stack_value which)
{
	uint32_t path[QZ_MAX_STACK_FRAMES];
	const char *before = "\n[";

	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t n;

		if (!s->stacks[s->order[i]].values[which])
			continue;
		n = qz_stacks__path(s, s->order[i], path);
		for (uint32_t k = 0; k < n; k++)
			fprintf(out, "%s%" PRIu32, k ? "," : before, path[k]);
		fputs("]", out);
		before = ",\n[";
	}
}

static void put_weights(FILE *out, const struct qz_stacks *s, enum qz_stack_value which)
{
	const char *before = "";

	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t ns = s->stacks[s->order[i]].values[which];

		if (!ns)
			continue;
		fprintf(out, "%s%" PRIu64, before, ns);
		before = ",";
	}
}

static void put_profile(FILE *out, const struct qz_stacks *s, enum qz_stack_value which)
{
	fprintf(out,
		"{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"nanoseconds\","
		"\"startValue\":0,\"endValue\":%" PRIu64 ",\"samples\":[",
		value_names[which], s->sums[which]);
	put_samples(out, s, which);
	fputs("],\"weights\":[", out);
	put_weights(out, s, which);
	fputs("]}", out);
}

int qz_speedscope__write(FILE *out, const struct qz_stacks *s, const char *name)
{
	int err;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
	      "\"exporter\":\"quartzctl\",\"name\":",
	      out);
	err = qz_json_fields__put(out, qz_json_fields__text(name));
	err = err ? err : put_frames(out, s);
	fputs(",\"profiles\":[\n", out);
	for (int which = 0; which < QZ_STACK_VALUES; which++) {
		if (which != QZ_STACK_NORM && !s->sums[which])
			continue;
		fputs(which ? ",\n" : "", out);
		put_profile(out, s, which);
	}
	fputs("]}\n", out);
	return err;
}
