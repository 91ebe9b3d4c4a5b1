/* SPDX-License-Identifier: GPL-2.0-only */
/* Which code an image has at a place where one file takes the place of another, and when. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/clock.h"
#include "daemon/target/address_spaces.h"
#include "tests/unit/suites.h"

#define PLACE 0x7f0000001000ull
#define SIZE  0x1000ull

enum { IMAGE = 1, CHILD, SCOPE = 1 };

struct world {
	struct modules *modules;
	struct address_spaces *spaces;
	struct image *image;
	pid_t pid;
};

static void add_image(struct world *w, enum qz_image_cause cause, uint32_t number, pid_t pid)
{
	const struct qz_process_event e = {
		.event = {.type = QZ_EVENT_PROCESS, .length = sizeof(e), .time = 1},
		.cause = cause,
		.image = number,
		.parent = number == CHILD ? IMAGE : 0,
		.scope = SCOPE,
		.tgid = pid,
	};

	ck_assert_int_eq(address_spaces__process(w->spaces, &e), 0);
}

static struct world begin(pid_t pid)
{
	struct world w = {.modules = modules__new(NULL), .pid = pid};

	ck_assert_ptr_nonnull(w.modules);
	w.spaces = address_spaces__new(w.modules);
	ck_assert_ptr_nonnull(w.spaces);
	add_image(&w, QZ_IMAGE_FOUND, IMAGE, pid);
	w.image = address_spaces__get(w.spaces, IMAGE);
	ck_assert_ptr_nonnull(w.image);
	return w;
}

static void end(struct world *w)
{
	address_spaces__free(w->spaces);
	modules__free(w->modules);
}

/* One whose mappings can no longer be read. */
static pid_t ended_process(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return pid;
}

/* A file that cannot be opened is told apart by its name. */
static bool report(struct world *w, uint64_t time, uint64_t start, const char *path,
		   struct remap *remap)
{
	const struct perf_sampler_mapping m = {
		.time = time, .pid = w->pid, .start = start, .end = start + SIZE, .path = path};

	return address_spaces__mapping(w->spaces, &m, remap);
}

static const char *name_at(const struct world *w, const struct image *image, uint64_t address,
			   bool ahead)
{
	const struct region *r = address_spaces__find(image, address, ahead);
	const struct module *m = r ? modules__get(w->modules, r->module) : NULL;

	return m ? m->path : "";
}

static void check_name(const struct world *w, const char *ahead, const char *name)
{
	ck_assert_str_eq(name_at(w, w->image, PLACE, false), name);
	ck_assert_str_eq(name_at(w, w->image, PLACE, true), ahead);
}

/*
 * The last library of a program that has ended by the time its report is taken: stacks that have met stale tables are the
 * new one's, others are the old one's, until these have their names.
 */
START_TEST(what_was_reported_last_is_known_after_the_end)
{
	struct world w = begin(ended_process());
	struct remap second, third, other;

	ck_assert(!report(&w, 10, PLACE, "/first.so", &second));
	ck_assert(report(&w, 20, PLACE, "/second.so", &second));
	check_name(&w, "/second.so", "/first.so");
	ck_assert(report(&w, 21, PLACE + SIZE, "/other.so", &other));
	ck_assert(report(&w, 30, PLACE, "/third.so", &third));
	check_name(&w, "/third.so", "/first.so");
	address_spaces__remap(w.spaces, &second);
	check_name(&w, "/third.so", "/second.so");
	address_spaces__remap(w.spaces, &other);
	address_spaces__remap(w.spaces, &third);
	check_name(&w, "/third.so", "/third.so");
	ck_assert_str_eq(name_at(&w, w.image, PLACE + SIZE, false), "/other.so");
	ck_assert_uint_eq(w.image->next.n, 0);
	end(&w);
}
END_TEST

/* What is deferred because something else is replaces nothing. */
START_TEST(only_what_was_replaced_is_disputed)
{
	struct world w = begin(ended_process());
	struct remap remap;

	ck_assert(!report(&w, 10, PLACE, "/first.so", &remap));
	ck_assert(report(&w, 20, PLACE, "/second.so", &remap));
	ck_assert(report(&w, 21, PLACE + SIZE, "/other.so", &remap));
	ck_assert(disputes__has(&w.image->disputes, PLACE, TABLES_LACKING, 15));
	ck_assert(!disputes__has(&w.image->disputes, PLACE, TABLES_STALE, 15));
	ck_assert(!disputes__has(&w.image->disputes, PLACE + SIZE, TABLES_LACKING, 15));
	ck_assert(report(&w, 30, PLACE + SIZE, "/third.so", &remap));
	ck_assert(disputes__has(&w.image->disputes, PLACE + SIZE, TABLES_LACKING, 29));
	ck_assert(disputes__has(&w.image->disputes, PLACE + SIZE, TABLES_STALE, 29));
	end(&w);
}
END_TEST

/* A copy is what look-ups see. */
START_TEST(a_copy_looks_ahead)
{
	struct world w = begin(ended_process());
	struct address_map copy;
	struct remap remap;
	uint64_t contents;

	ck_assert(!report(&w, 10, PLACE, "/first.so", &remap));
	ck_assert(report(&w, 20, PLACE, "/second.so", &remap));
	copy = address_spaces__copy(w.spaces, w.image, false, &contents);
	ck_assert(address_map__equal(&copy, &w.image->map));
	address_map__free(&copy);
	copy = address_spaces__copy(w.spaces, w.image, true, &contents);
	ck_assert(address_map__equal(&copy, &w.image->next));
	address_map__free(&copy);
	end(&w);
}
END_TEST

/* It has what its parent has mapped, though samples of the parent's old code have no names yet. */
START_TEST(a_forked_process_has_what_is_deferred)
{
	struct world w = begin(ended_process());
	const struct image *child;
	struct remap remap;

	ck_assert(!report(&w, 10, PLACE, "/first.so", &remap));
	ck_assert(!report(&w, 10, PLACE + SIZE, "/other.so", &remap));
	ck_assert(report(&w, 20, PLACE, "/second.so", &remap));
	add_image(&w, QZ_IMAGE_FORK, CHILD, ended_process());
	child = address_spaces__get(w.spaces, CHILD);
	ck_assert_str_eq(name_at(&w, child, PLACE, false), "/second.so");
	ck_assert_str_eq(name_at(&w, child, PLACE + SIZE, false), "/other.so");
	ck_assert_uint_ne(child->contents, w.image->contents);
	ck_assert_str_eq(name_at(&w, w.image, PLACE, false), "/first.so");
	address_spaces__remap(w.spaces, &remap);
	end(&w);
}
END_TEST

static uint64_t own_code(void)
{
	return (uint64_t)(uintptr_t)own_code;
}

/*
 * Reports were lost, and so it is not known since when the code is there that is read then. Samples of before have no
 * name at such places, and at others they have.
 */
START_TEST(code_whose_report_was_lost_is_disputed)
{
	struct world w = begin(getpid());
	uint64_t place = own_code(), page = place & -SIZE, before = qz_clock__now();
	const struct region *other;
	struct remap remap;
	char path[256];

	snprintf(path, sizeof(path), "%s", name_at(&w, w.image, place, false));
	ck_assert_str_ne(path, "");
	address_spaces__distrust(w.spaces);
	ck_assert(!disputes__has(&w.image->disputes, place, TABLES_CURRENT, before));
	ck_assert(report(&w, 20, page, "/first.so", &remap));
	address_spaces__remap(w.spaces, &remap);
	ck_assert_str_eq(name_at(&w, w.image, place, false), "/first.so");
	ck_assert(!disputes__has(&w.image->disputes, place, TABLES_CURRENT, before));
	address_spaces__distrust(w.spaces);
	ck_assert_str_eq(name_at(&w, w.image, place, false), path);
	ck_assert(disputes__has(&w.image->disputes, place, TABLES_CURRENT, before));
	ck_assert(!disputes__has(&w.image->disputes, place, TABLES_CURRENT, qz_clock__now()));
	other = &w.image->map.items[w.image->map.n - 1];
	ck_assert_uint_gt(other->start, place);
	ck_assert(!disputes__has(&w.image->disputes, other->start, TABLES_CURRENT, before));
	end(&w);
}
END_TEST

/* What is read then stays when what was deferred, and is older, comes. */
START_TEST(what_is_read_outlasts_what_is_deferred)
{
	struct world w = begin(getpid());
	uint64_t place = own_code(), page = place & -SIZE, before = qz_clock__now();
	struct remap remap;
	char path[256];

	snprintf(path, sizeof(path), "%s", name_at(&w, w.image, place, false));
	ck_assert(report(&w, 20, page, "/first.so", &remap));
	address_spaces__distrust(w.spaces);
	ck_assert(disputes__has(&w.image->disputes, place, TABLES_STALE, before));
	address_spaces__remap(w.spaces, &remap);
	ck_assert_str_eq(name_at(&w, w.image, place, false), path);
	end(&w);
}
END_TEST

Suite *suite_address_spaces(void)
{
	Suite *s = suite_create("address_spaces");
	TCase *c = tcase_create("all");

	tcase_add_test(c, what_was_reported_last_is_known_after_the_end);
	tcase_add_test(c, only_what_was_replaced_is_disputed);
	tcase_add_test(c, a_copy_looks_ahead);
	tcase_add_test(c, a_forked_process_has_what_is_deferred);
	tcase_add_test(c, code_whose_report_was_lost_is_disputed);
	tcase_add_test(c, what_is_read_outlasts_what_is_deferred);
	suite_add_tcase(s, c);
	return s;
}
