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
static void report(struct world *w, uint64_t time, uint64_t start, const char *path)
{
	const struct perf_sampler_mapping m = {
		.time = time, .pid = w->pid, .start = start, .end = start + SIZE, .path = path};

	address_spaces__mapping(w->spaces, &m);
}

static const char *path_of(const struct world *w, const struct region *r)
{
	const struct module *m = r ? modules__get(w->modules, r->module) : NULL;

	return m ? m->path : "";
}

static const char *name_at(const struct world *w, const struct image *image, uint64_t address,
			   uint64_t time)
{
	return path_of(w, address_spaces__find(image, address, time));
}

static bool is_unknown(const struct world *w, uint64_t address, uint64_t time)
{
	return past__is_unknown(&w->image->past, address, time);
}

/* Of a program that has ended by the time its reports are taken, the code of each time is known, also of the last library. */
START_TEST(each_time_has_its_library)
{
	struct world w = begin(ended_process());

	report(&w, 10, PLACE, "/first.so");
	report(&w, 20, PLACE, "/second.so");
	report(&w, 21, PLACE + SIZE, "/other.so");
	report(&w, 30, PLACE, "/third.so");
	ck_assert_str_eq(name_at(&w, w.image, PLACE, 19), "/first.so");
	ck_assert_str_eq(name_at(&w, w.image, PLACE, 20), "/second.so");
	ck_assert_str_eq(name_at(&w, w.image, PLACE, 29), "/second.so");
	ck_assert_str_eq(name_at(&w, w.image, PLACE, 30), "/third.so");
	ck_assert_str_eq(name_at(&w, w.image, PLACE, ADDRESS_SPACES_NOW), "/third.so");
	ck_assert_str_eq(name_at(&w, w.image, PLACE + SIZE, 25), "/other.so");
	ck_assert(!is_unknown(&w, PLACE, 19));
	end(&w);
}
END_TEST

/* What is mapped again where it is takes no place. */
START_TEST(the_same_again_replaces_nothing)
{
	struct world w = begin(ended_process());

	report(&w, 10, PLACE, "/first.so");
	report(&w, 20, PLACE, "/first.so");
	report(&w, 30, PLACE + SIZE, "/other.so");
	ck_assert_uint_eq(w.image->past.n, 0);
	end(&w);
}
END_TEST

/* A copy is what look-ups see. */
START_TEST(a_copy_has_what_was_there_then)
{
	struct world w = begin(ended_process());
	uint64_t contents[3];
	const uint64_t times[] = {15, 25, ADDRESS_SPACES_NOW};
	const char *const names[] = {"/first.so", "/second.so", "/third.so"};

	report(&w, 10, PLACE, "/first.so");
	report(&w, 20, PLACE, "/second.so");
	report(&w, 30, PLACE, "/third.so");
	for (int i = 0; i < 3; i++) {
		struct address_map copy =
			address_spaces__copy(w.spaces, w.image, times[i], &contents[i]);

		ck_assert_str_eq(path_of(&w, address_map__find(&copy, PLACE)), names[i]);
		address_map__free(&copy);
	}
	ck_assert_uint_ne(contents[0], contents[1]);
	ck_assert_uint_ne(contents[1], contents[2]);
	ck_assert_uint_eq(contents[2], w.image->contents);
	end(&w);
}
END_TEST

/* It has what its parent has mapped by then. */
START_TEST(a_forked_process_has_what_is_there)
{
	struct world w = begin(ended_process());
	const struct image *child;

	report(&w, 10, PLACE, "/first.so");
	report(&w, 20, PLACE, "/second.so");
	add_image(&w, QZ_IMAGE_FORK, CHILD, ended_process());
	child = address_spaces__get(w.spaces, CHILD);
	ck_assert_str_eq(name_at(&w, child, PLACE, ADDRESS_SPACES_NOW), "/second.so");
	ck_assert_uint_eq(child->contents, w.image->contents);
	report(&w, 30, PLACE, "/third.so");
	ck_assert_str_eq(name_at(&w, child, PLACE, ADDRESS_SPACES_NOW), "/second.so");
	ck_assert_uint_ne(child->contents, w.image->contents);
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
	char path[256];

	snprintf(path, sizeof(path), "%s", name_at(&w, w.image, place, before));
	ck_assert_str_ne(path, "");
	address_spaces__distrust(w.spaces);
	ck_assert(!is_unknown(&w, place, before));
	report(&w, qz_clock__now(), page, "/first.so");
	ck_assert_str_eq(name_at(&w, w.image, place, ADDRESS_SPACES_NOW), "/first.so");
	ck_assert_str_eq(name_at(&w, w.image, place, before), path);
	ck_assert(!is_unknown(&w, place, before));
	before = qz_clock__now();
	address_spaces__distrust(w.spaces);
	ck_assert_str_eq(name_at(&w, w.image, place, ADDRESS_SPACES_NOW), path);
	ck_assert(is_unknown(&w, place, before));
	ck_assert(!is_unknown(&w, place, qz_clock__now()));
	other = &w.image->map.items[w.image->map.n - 1];
	ck_assert_uint_gt(other->start, place);
	ck_assert(!is_unknown(&w, other->start, before));
	end(&w);
}
END_TEST

/* What was read may be newer than a report that comes later: it is not known that it was there before that. */
START_TEST(what_is_read_is_not_older_than_a_report)
{
	struct world w = begin(getpid());
	uint64_t place = own_code(), page = place & -SIZE;

	report(&w, 20, page, "/first.so");
	ck_assert(is_unknown(&w, place, 19));
	ck_assert(!is_unknown(&w, place, 20));
	ck_assert_str_eq(name_at(&w, w.image, place, 20), "/first.so");
	end(&w);
}
END_TEST

Suite *suite_address_spaces(void)
{
	Suite *s = suite_create("address_spaces");
	TCase *c = tcase_create("all");

	tcase_add_test(c, each_time_has_its_library);
	tcase_add_test(c, the_same_again_replaces_nothing);
	tcase_add_test(c, a_copy_has_what_was_there_then);
	tcase_add_test(c, a_forked_process_has_what_is_there);
	tcase_add_test(c, code_whose_report_was_lost_is_disputed);
	tcase_add_test(c, what_is_read_is_not_older_than_a_report);
	suite_add_tcase(s, c);
	return s;
}
