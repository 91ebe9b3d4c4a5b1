/* SPDX-License-Identifier: GPL-2.0-only */
#include "exporter/credentials.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

#define MAX_BYTES 1023

/* The bytes that base64 stands for, which may be any, 0 among them. Their number, or -1: it is not base64, or too long. */
static ssize_t decode(const char *text, unsigned char bytes[MAX_BYTES])
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t length = strcspn(text, "="), n = 0;
	unsigned int bits = 0, have = 0;

	if (strspn(text + length, "=") != (4 - length % 4) % 4 ||
	    text[length + (4 - length % 4) % 4])
		return -1;
	for (size_t i = 0; i < length; i++) {
		const char *digit = memchr(digits, text[i], sizeof(digits) - 1);

		if (!digit || n == MAX_BYTES)
			return -1;
		bits = bits << 6 | (unsigned int)(digit - digits);
		have += 6;
		if (have >= 8) {
			have -= 8;
			bytes[n++] = (unsigned char)(bits >> have);
		}
	}
	return (ssize_t)n;
}

static bool is_equal(const unsigned char *given, size_t length, const char *wanted)
{
	size_t n = strlen(wanted);
	unsigned char differ = length != n;

	for (size_t i = 0; i < n; i++)
		differ |= (unsigned char)(wanted[i]) ^ (i < length ? given[i] : 0);
	return !differ;
}

bool credentials__have(const char *authorization, const char *password)
{
	static const char scheme[] = "Basic ";
	unsigned char bytes[MAX_BYTES];
	const unsigned char *colon;
	ssize_t n;

	if (strncasecmp(authorization, scheme, sizeof(scheme) - 1))
		return false;
	authorization += sizeof(scheme) - 1;
	n = decode(authorization + strspn(authorization, " "), bytes);
	colon = n > 0 ? memchr(bytes, ':', (size_t)n) : NULL;
	return colon && is_equal(colon + 1, (size_t)(bytes + n - colon - 1), password);
}
