/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/failing.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static unsigned int left; /* allocations until one fails; 0: none will */
static bool struck;

static bool fails(void)
{
	if (left == 0 || --left > 0)
		return false;
	struck = true;
	errno = ENOMEM;
	return true;
}

void failing__arm(unsigned int n)
{
	left = n;
	struck = false;
}

bool failing__disarm(void)
{
	left = 0;
	return struck;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size)
{
	return fails() ? NULL : __real_realloc(memory, size);
}

void *__real_reallocarray(void *memory, size_t n, size_t size);
void *__wrap_reallocarray(void *memory, size_t n, size_t size);
void *__wrap_reallocarray(void *memory, size_t n, size_t size)
{
	return fails() ? NULL : __real_reallocarray(memory, n, size);
}

FILE *__real_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size)
{
	return fails() ? NULL : __real_open_memstream(text, size);
}

char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);
char *__wrap_strdup(const char *s)
{
	return fails() ? NULL : __real_strdup(s);
}

int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **text, const char *format, ...)
{
	va_list args;
	int length;

	if (fails())
		return -1;
	va_start(args, format);
	length = vasprintf(text, format, args);
	va_end(args);
	return length;
}

gzFile __real_gzdopen(int fd, const char *mode);
gzFile __wrap_gzdopen(int fd, const char *mode);
gzFile __wrap_gzdopen(int fd, const char *mode)
{
	return fails() ? NULL : __real_gzdopen(fd, mode);
}

int __real_inflateInit2_(z_streamp stream, int window, const char *version, int size);
int __wrap_inflateInit2_(z_streamp stream, int window, const char *version, int size);
int __wrap_inflateInit2_(z_streamp stream, int window, const char *version, int size)
{
	return fails() ? Z_MEM_ERROR : __real_inflateInit2_(stream, window, version, size);
}

void failing__include_jansson(bool include)
{
	json_set_alloc_funcs(include ? __wrap_malloc : __real_malloc, free);
}

void failing__init(void)
{
	failing__include_jansson(true);
}
