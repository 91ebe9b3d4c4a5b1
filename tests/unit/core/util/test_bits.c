/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "core/util/bits.h"
#include "tests/unit/suites.h"

#define N 200 /* not a multiple of 64 */

START_TEST(each)
{
	static const uint32_t in[] = {0, 1, 63, 64, 127, 130, 199};
	uint64_t bits[N / 64 + 1] = {0};
	uint32_t n = 0;

	ck_assert_uint_eq(qz_bits__next(bits, N, 0), N);
	for (size_t i = 0; i < sizeof(in) / sizeof(*in); i++)
		qz_bits__set(bits, in[i]);
	bits[N / 64] |= 1ull << 63; /* beyond the end */
	qz_bits__for_each(i, bits, N)
		ck_assert_uint_eq(i, in[n++]);
	ck_assert_uint_eq(n, sizeof(in) / sizeof(*in));
	ck_assert_uint_eq(qz_bits__next(bits, N, 64), 64);
	ck_assert_uint_eq(qz_bits__next(bits, N, 65), 127);
	ck_assert_uint_eq(qz_bits__next(bits, N, N), N);
	ck_assert_uint_eq(qz_bits__next(bits, 128, 128), 128);
}
END_TEST

/* What is taken out or added while the set is gone through. */
START_TEST(changing)
{
	uint64_t bits[N / 64 + 1];
	uint32_t n = 0;

	memset(bits, 0xff, sizeof(bits));
	qz_bits__for_each(i, bits, N) {
		qz_bits__clear(bits, i);
		if (i < N / 2)
			qz_bits__clear(bits, N / 2 + i);
		n++;
	}
	ck_assert_uint_eq(n, N / 2);
	ck_assert_uint_eq(qz_bits__next(bits, N, 0), N);
}
END_TEST

Suite *suite_bits(void)
{
	Suite *s = suite_create("bits");
	TCase *tc = tcase_create("bits");

	tcase_add_test(tc, each);
	tcase_add_test(tc, changing);
	suite_add_tcase(s, tc);
	return s;
}
