/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/html/html_columns.h"

#include <inttypes.h>

#include "core/format/json_fields.h"

static int put_value(FILE *out, const struct qz_field *f, const void *row)
{
	const void *at = (const char *)row + f->at;

	switch (f->type) {
	case QZ_FIELD_U32:
		if (*(const uint32_t *)at == QZ_NONE)
			fputs("-1", out);
		else
			fprintf(out, "%" PRIu32, *(const uint32_t *)at);
		return 0;
	case QZ_FIELD_I32:
		fprintf(out, "%" PRId32, *(const int32_t *)at);
		return 0;
	case QZ_FIELD_BOOL:
		fputs(*(const bool *)at ? "1" : "0", out);
		return 0;
	case QZ_FIELD_TEXT:
		return qz_json_fields__put(out, qz_json_fields__text(*(char *const *)at));
	default:
		fprintf(out, "%" PRIu64, *(const uint64_t *)at);
		return 0;
	}
}

int qz_html_columns__put(FILE *out, const char *before, const struct qz_field *fields,
			 const struct qz_html_table *table)
{
	int err = 0;

	for (const struct qz_field *f = fields; !err && f->name; f++) {
		const char *row = table->rows;

		if (!(f->uses & QZ_SHOWN))
			continue;
		fprintf(out, "%s\"%s\":[", before, f->name);
		for (uint32_t i = 0; !err && i < table->n; i++, row += table->stride) {
			fputs(i ? "," : "", out);
			err = put_value(out, f, row);
		}
		fputs("]", out);
		before = ",\n";
	}
	return err;
}
