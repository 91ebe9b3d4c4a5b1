// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/attribution/python_codes.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/base_name.h"
#include "core/util/hash_table.h"
#include "core/util/utf8.h"
#include "daemon/attribution/python_lines.h"
#include "daemon/kernel/bpf_python.h"
#include "daemon/util/log.h"

/*
 * Code objects of all images that are known at a time. When there are more, all are forgotten, and
 * reported again when they are met. Procedures stay as long as the profile; MOST_DIFFERENT of them
 * get names, ten times as many as large programs have.
 */
#define MOST_CODES     65536
#define MOST_DIFFERENT 262144
#define MOST_TABLES                                                                                \
	(32u << 20) /* bytes of line tables; code beyond has the line at which it begins */

#define TEXT_SIZE                                                                                  \
	(3 * QZ_PYTHON_TEXT + 1) /* a character of one or two bytes takes at most three in UTF-8 */

struct code {
	uint64_t code;
	uint32_t image;
	uint32_t location; /* where the code begins; QZ_NONE: it is invalid */
	uint32_t line;
	struct qz_python_table *table; /* allocated without its unused end; NULL: none */
	bool begins_thread;
};

struct python_codes {
	struct bpf_runtime *bpf;
	struct qz_profile *profile;
	struct code *items;
	uint32_t n;
	struct qz_hash_table by_code;
	uint32_t different;   /* locations made so far */
	uint32_t unknown;     /* location; QZ_NONE: not made yet */
	size_t tables;	      /* bytes */
	uint32_t loop, votes; /* how far it is ahead of others */
};

struct python_codes *python_codes__new(struct bpf_runtime *bpf, struct qz_profile *profile)
{
	struct python_codes *codes = calloc(1, sizeof(*codes));

	if (!codes)
		return NULL;
	codes->bpf = bpf;
	codes->profile = profile;
	codes->unknown = codes->loop = QZ_NONE;
	return codes;
}

static void free_items(struct python_codes *codes)
{
	for (uint32_t i = 0; i < codes->n; i++)
		free(codes->items[i].table);
	codes->n = 0;
	codes->tables = 0;
}

void python_codes__free(struct python_codes *codes)
{
	if (!codes)
		return;
	qz_hash_table__free(&codes->by_code);
	free_items(codes);
	free(codes->items);
	free(codes);
}

/* ---- names ---- */

static size_t encode(uint32_t c, char *to)
{
	if (c < 0x80) {
		to[0] = (char)(c ? c : ' ');
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c > 0xffff && c <= 0x10ffff) {
		to[0] = (char)(0xf0 | c >> 18);
		to[1] = (char)(0x80 | (c >> 12 & 63));
		to[2] = (char)(0x80 | (c >> 6 & 63));
		to[3] = (char)(0x80 | (c & 63));
		return 4;
	}
	if (c > 0xffff ||
	    (c >= 0xd800 && c < 0xe000)) /* surrogates stand for bytes of file names */
		c = 0xfffd;
	to[0] = (char)(0xe0 | c >> 12);
	to[1] = (char)(0x80 | (c >> 6 & 63));
	to[2] = (char)(0x80 | (c & 63));
	return 3;
}

/* Bytes that are UTF-8, if nothing is wrong with them. */
static void decode_bytes(const struct qz_python_text *text, char to[TEXT_SIZE])
{
	char bytes[QZ_PYTHON_TEXT + 1] = "";
	size_t at = 0;

	memcpy(bytes, text->bytes, text->size);
	for (uint32_t i = 0; i < text->size;) {
		uint32_t c = bytes[i] ? 0xfffd : 0;
		size_t n = bytes[i] ? qz_utf8__decode(bytes + i, &c) : 0;

		at += encode(c, to + at);
		i += n ? n : 1;
	}
	to[at] = '\0';
}

/* Decodes to terminated UTF-8. *cut: there is more text. False: it is no string. */
static bool decode(const struct qz_python_text *text, char to[TEXT_SIZE], bool *cut)
{
	bool ruby = text->state == QZ_RUBY_TEXT;
	uint32_t ascii, width = ruby ? 1 : qz_python_text__width(text->state, &ascii);
	size_t at = 0;

	if (!width || !text->size || text->size > QZ_PYTHON_TEXT)
		return false;
	*cut = text->length > text->size / width;
	if (ruby) {
		decode_bytes(text, to);
		return true;
	}
	for (uint32_t i = 0; i + width <= text->size; i += width) {
		uint32_t c = 0;

		memcpy(&c, text->bytes + i, width); /* little-endian, as x86-64 is */
		at += encode(c, to + at);
	}
	to[at] = '\0';
	return true;
}

static bool is_ruby(const struct qz_python_code *code)
{
	return code->name.state == QZ_RUBY_TEXT;
}

/*
 * Whether a file has many of this name: "<lambda>", "f.<locals>.<listcomp>". The code of a whole
 * file is "<module>". Of Ruby: "block in f", "block (2 levels) in f".
 */
static bool is_anonymous(const struct qz_python_code *code, const char *name)
{
	const char *last = strrchr(name, '.'), block[] = "block ";

	if (is_ruby(code))
		return !strncmp(name, block, sizeof(block) - 1);
	last = last ? last + 1 : name;
	return *last == '<' && strcmp(last, "<module>");
}

bool python_code__name(const struct qz_python_code *code, char *name, size_t size, char *path,
		       size_t path_size)
{
	char what[TEXT_SIZE], where[TEXT_SIZE], line[16] = "";
	bool cut_name, cut_path;
	const char *base;

	if (!decode(&code->name, what, &cut_name) || !decode(&code->file, where, &cut_path))
		return false;
	base = qz_base_name(where);
	if (is_anonymous(code, what))
		snprintf(line, sizeof(line), ":%u", code->line);
	snprintf(name, size, "%s%s (%s%s%s)", what, cut_name ? "..." : "",
		 cut_path && base == where ? "..." : "", base, line);
	snprintf(path, path_size, "%s%s", cut_path ? "..." : "", where);
	return true;
}

/* ---- locations ---- */

static uint32_t intern_location(struct python_codes *codes, uint32_t procedure, uint32_t line)
{
	struct qz_line place = {.procedure = procedure, .line = line};
	struct qz_location location = {.mapping = QZ_NONE, .lines = &place, .nlines = 1};
	uint32_t before = codes->profile->nlocations;
	int64_t index = qz_profile__intern_location(codes->profile, &location);

	codes->different += codes->profile->nlocations - before;
	return index < 0 ? QZ_NONE : (uint32_t)index;
}

static uint32_t intern(struct python_codes *codes, const char *module, const char *name,
		       const char *path, uint32_t line)
{
	struct qz_procedure procedure = {
		.name = (char *)name, .module = (char *)module, .file = (char *)path, .line = line};
	int64_t index = qz_profile__intern_procedure(codes->profile, &procedure);

	return index < 0 ? QZ_NONE : intern_location(codes, (uint32_t)index, 0);
}

/*
 * Thread._bootstrap, Thread._bootstrap_inner and Thread.run. Before 3.11, their names have no
 * class.
 */
static bool begins_thread(const char *name)
{
	static const char *const names[] = {"_bootstrap (threading.py)",
					    "_bootstrap_inner (threading.py)",
					    "run (threading.py)"};
	const char class[] = "Thread.";

	if (!strncmp(name, class, sizeof(class) - 1))
		name += sizeof(class) - 1;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static void keep_table(struct python_codes *codes, const struct qz_python_code *code,
		       struct code *to)
{
	size_t size = offsetof(struct qz_python_table, bytes) + code->table.size;

	if (!code->table.size || code->table.size > QZ_PYTHON_TABLE ||
	    codes->tables + size > MOST_TABLES)
		return;
	to->table = malloc(size);
	if (!to->table)
		return;
	memcpy(to->table, &code->table, size);
	codes->tables += size;
}

/* Finds the location of a code object; QZ_NONE: it has no name. */
static void locate(struct python_codes *codes, const struct qz_python_code *code, struct code *to)
{
	char name[2 * TEXT_SIZE + 32], path[TEXT_SIZE + 4];

	if (!python_code__name(code, name, sizeof(name), path, sizeof(path)) ||
	    codes->different >= MOST_DIFFERENT)
		return;
	if (codes->different == MOST_DIFFERENT - 1)
		log_warning("more than %d functions of Python or Ruby: others are not named",
			    MOST_DIFFERENT - 1);
	to->location = intern(codes, is_ruby(code) ? QZ_RUBY_MODULE : QZ_PYTHON_MODULE, name, path,
			      code->line);
	keep_table(codes, code, to);
	to->begins_thread = begins_thread(name);
}

static uint32_t find(const struct python_codes *codes, uint32_t image, uint64_t code)
{
	const struct code key = {.code = code, .image = image};

	return QZ_FIND(&codes->by_code, codes->items, &key, image);
}

/* Makes BPF report all code again that it meets from now on. */
static void forget(struct python_codes *codes)
{
	qz_hash_table__clear(&codes->by_code);
	free_items(codes);
	if (codes->bpf)
		bpf_python__forget(codes->bpf);
}

void python_codes__add(struct python_codes *codes, const struct qz_python_code *code)
{
	struct code new = {.code = QZ_PYTHON_CODE(code->code),
			   .image = code->image,
			   .line = code->line,
			   .location = QZ_NONE};

	if (find(codes, new.image, new.code) != UINT32_MAX)
		return;
	if (codes->n == MOST_CODES)
		forget(codes);
	locate(codes, code, &new);
	if (QZ_INTERN(&codes->by_code, &codes->items, &codes->n, &new, image) < 0)
		free(new.table);
}

static void on_code(void *context, const struct qz_python_code *code)
{
	python_codes__add(context, code);
}

void python_codes__read(struct python_codes *codes)
{
	bpf_python__consume(codes->bpf, on_code, codes);
}

void python_codes__vote_loop(struct python_codes *codes, uint32_t procedure)
{
	if (codes->loop == procedure) {
		codes->votes++;
	} else if (codes->votes) {
		codes->votes--;
	} else {
		codes->loop = procedure;
		codes->votes = 1;
	}
}

uint32_t python_codes__loop(const struct python_codes *codes)
{
	return codes->loop;
}

/* The location of the frame's line if that is known, else of its function. */
static uint32_t location_of(struct python_codes *codes, const struct code *code, uint64_t frame)
{
	uint32_t line, location;

	if (!code->table || codes->different >= MOST_DIFFERENT - 1)
		return code->location;
	line = python_lines__at(code->table, code->line, (uint32_t)QZ_PYTHON_INSTRUCTION(frame));
	if (!line)
		return code->location;
	location = intern_location(
		codes, codes->profile->locations[code->location].lines[0].procedure, line);
	return location == QZ_NONE ? code->location : location;
}

struct python_location python_codes__location(struct python_codes *codes, uint32_t image,
					      uint64_t frame)
{
	uint32_t i = find(codes, image,
			  codes->profile->addresses_sampled ? QZ_PYTHON_LINED_CODE(frame)
							    : QZ_PYTHON_CODE(frame));

	if (i != UINT32_MAX && codes->items[i].location != QZ_NONE)
		return (struct python_location) {location_of(codes, &codes->items[i], frame), true,
						 codes->items[i].begins_thread};
	if (codes->unknown == QZ_NONE)
		codes->unknown = intern(codes, QZ_PYTHON_MODULE, QZ_NAME_UNKNOWN, "", 0);
	return (struct python_location) {.location = codes->unknown};
}
