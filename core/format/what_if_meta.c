/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/format/what_if_meta.h"

#include <errno.h>

#include "core/format/json_fields.h"
#include "core/model/what_if.h"

int qz_what_if_meta__print(FILE *out, const struct qz_profile *p)
{
	int err = 0;

	fputs(",\"what_ifs\":[", out);
	for (uint32_t i = 0; !err && i < p->nwhat_ifs; i++) {
		if (i)
			fputc(',', out);
		err = qz_json_fields__print(out, '{', qz_what_if_fields, &p->what_ifs[i]);
		fputc('}', out);
	}
	fputc(']', out);
	return err;
}

int qz_what_if_meta__read(const json_t *array, struct qz_profile *p)
{
	int err = array && !json_is_array(array) ? -EBADMSG : 0;

	for (size_t i = 0; !err && i < json_array_size(array); i++) {
		struct qz_what_if w = {0};

		err = qz_json_fields__read(json_array_get(array, i), qz_what_if_fields, &w);
		if (!err)
			err = qz_what_ifs__add(p, &w);
		qz_fields__free(&w, qz_what_if_fields);
	}
	return err == -EINVAL ? -EBADMSG : err == -E2BIG ? -EFBIG : err;
}
