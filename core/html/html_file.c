/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/html/html_file.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW (MAX_WBITS + 16) /* zlib's way to ask for the gzip format */
#define LINE	    76		     /* characters of base64 */

/* web/page.html as it was put together, and what follows its end. */
__asm__(".section .rodata\n"
	".global qz_html_file__template, qz_html_file__end\n"
	"qz_html_file__template: .incbin \"" QZ_HTML_TEMPLATE "\"\n"
	"qz_html_file__end: .byte 0\n"
	".previous\n");
extern const char qz_html_file__template[], qz_html_file__end[];

static void put_base64(FILE *out, const uint8_t *data, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		uint32_t word = (uint32_t)data[i] << 16;
		char four[4];

		word |= i + 1 < size ? (uint32_t)data[i + 1] << 8 : 0;
		word |= i + 2 < size ? data[i + 2] : 0;
		for (int k = 0; k < 4; k++)
			four[k] = digits[word >> (18 - 6 * k) & 63];
		if (i + 1 >= size)
			four[2] = '=';
		if (i + 2 >= size)
			four[3] = '=';
		fwrite(four, 1, sizeof(four), out);
		if (i / 3 % (LINE / 4) == LINE / 4 - 1)
			fputc('\n', out);
	}
}

/* zlib counts in unsigned int. */
static int pack(const char *document, size_t size, uint8_t **packed, size_t *n)
{
	z_stream stream = {0};
	int status;

	*packed = NULL;
	if (size > INT_MAX)
		return -E2BIG;
	if (deflateInit2(&stream, 9, Z_DEFLATED, GZIP_WINDOW, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	*n = deflateBound(&stream, size);
	*packed = malloc(*n);
	stream.next_in = (Bytef *)document;
	stream.avail_in = (uInt)size;
	stream.next_out = *packed;
	stream.avail_out = (uInt)*n;
	status = *packed ? deflate(&stream, Z_FINISH) : Z_MEM_ERROR;
	*n = stream.total_out;
	deflateEnd(&stream);
	return status == Z_STREAM_END ? 0 : -ENOMEM;
}

/* Writes the template up to a placeholder, and returns what follows it. */
static const char *put_until(FILE *out, const char *from, const char *place)
{
	const char *at = strstr(from, place);

	fwrite(from, 1, (size_t)(at - from), out);
	return at + strlen(place);
}

int qz_html_file__write(FILE *out, const char *document, size_t size)
{
	const char *rest;
	uint8_t *packed = NULL;
	size_t n = 0;
	int err = document ? pack(document, size, &packed, &n) : 0;

	if (!err) {
		rest = put_until(out, qz_html_file__template, "@connect@");
		fputs(document ? "" : "connect-src 'self'; ", out);
		rest = put_until(out, rest, "@data@");
		put_base64(out, packed, n);
		fwrite(rest, 1, (size_t)(qz_html_file__end - rest), out);
	}
	free(packed);
	return err;
}
