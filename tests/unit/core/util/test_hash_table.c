/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>

#include "core/util/hash_table.h"
#include "tests/unit/suites.h"

#define KEYS 2000

static uint32_t spread; /* hashes are below it, so that many are equal or neighbours */

static uint32_t hash(uint32_t key)
{
	return qz_hash_table__hash_number(0, key) % spread;
}

static bool is_key(const void *context, uint32_t index, const void *key)
{
	(void)context;
	return index == *(const uint32_t *)key;
}

/* Keys come and go by chance: exactly those that are there are found. */
static void churn(uint32_t hashes)
{
	struct qz_hash_table t = {0};
	bool there[KEYS] = {false};
	uint32_t n = 0;

	spread = hashes;
	srand(hashes);
	for (int step = 0; step < 20000; step++) {
		uint32_t key = (uint32_t)rand() % KEYS;

		if (there[key]) {
			qz_hash_table__remove(&t, hash(key), key);
			n--;
		} else {
			ck_assert_int_eq(qz_hash_table__reserve(&t), 0);
			qz_hash_table__insert(&t, hash(key), key);
			n++;
		}
		there[key] = !there[key];
		qz_hash_table__remove(&t, hash(key), KEYS); /* nothing */
		ck_assert_uint_eq(t.used, n);
		if (step % 1000)
			continue;
		for (uint32_t i = 0; i < KEYS; i++)
			ck_assert_uint_eq(qz_hash_table__find(&t, hash(i), is_key, NULL, &i),
					  there[i] ? i : UINT32_MAX);
	}
	qz_hash_table__free(&t);
}

START_TEST(removing)
{
	struct qz_hash_table t = {0};

	qz_hash_table__remove(&t, 0, 0);
	churn(1u << 31);
	churn(500);
	churn(20);
}
END_TEST

struct item {
	uint64_t place;
	uint32_t kind;
	uint16_t rest; /* the last of the key, which is no multiple of a word */
	uint64_t count;
};

/* Each key has one item, the first that came, and keys that differ in any member have different ones. */
START_TEST(interns_by_the_first_members)
{
	struct qz_hash_table t = {0};
	struct item *items = NULL;
	uint32_t n = 0;

	for (uint32_t turn = 0; turn < 2; turn++)
		for (uint32_t i = 0; i < KEYS; i++) {
			const struct item new = {.place = i / 100,
						 .kind = i / 10 % 10,
						 .rest = (uint16_t)(i % 10),
						 .count = turn};

			ck_assert_uint_eq(QZ_FIND(&t, items, &new, rest), turn ? i : UINT32_MAX);
			ck_assert_int_eq(QZ_INTERN(&t, &items, &n, &new, rest), i);
			ck_assert_uint_eq(items[i].count, 0);
		}
	ck_assert_uint_eq(n, KEYS);
	qz_hash_table__remove(&t, QZ_HASH(&items[7], rest), 7);
	ck_assert_uint_eq(QZ_FIND(&t, items, &items[7], rest), UINT32_MAX);
	free(items);
	qz_hash_table__free(&t);
}
END_TEST

Suite *suite_hash_table(void)
{
	Suite *s = suite_create("hash_table");
	TCase *tc = tcase_create("hash_table");

	tcase_add_test(tc, removing);
	tcase_add_test(tc, interns_by_the_first_members);
	suite_add_tcase(s, tc);
	return s;
}
