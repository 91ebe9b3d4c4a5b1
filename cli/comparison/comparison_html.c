/* SPDX-License-Identifier: GPL-2.0-only */
/* The changes between two sides of profiles for the page. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/comparison/comparison.h"
#include "core/format/json_fields.h"

/* Lines of a text as an array. */
static json_t *lines_of(char *text)
{
	json_t *array = json_array();
	bool failed = !array;
	char *rest = text, *line;

	while (!failed && (line = strsep(&rest, "\n")))
		if (*line)
			failed = json_array_append_new(array, qz_json_fields__text(line));
	return qz_json_fields__unless(failed, array);
}

/* A page is read as UTF-8 wherever it was written. */
json_t *comparison__html_json(const struct compared_scope *s, const struct config *config)
{
	json_t *o = comparison__json(s, UINT32_MAX);
	struct output out = {.utf8 = true};
	char *headline = NULL, *notes = NULL;
	size_t size;
	bool failed = true;

	out.file = open_memstream(&headline, &size);
	if (out.file) {
		comparison__print_headline(s, &out, config);
		failed = fclose(out.file);
	}
	out.file = failed ? NULL : open_memstream(&notes, &size);
	if (out.file) {
		failed = comparison__print_notes(s, &out, config);
		failed |= fclose(out.file);
	}
	failed = failed || !headline || !notes ||
		 json_object_set_new(o, "headline", qz_json_fields__text(strtok(headline, "\n"))) ||
		 json_object_set_new(o, "notes", lines_of(notes));
	free(headline);
	free(notes);
	return qz_json_fields__unless(failed, o);
}
