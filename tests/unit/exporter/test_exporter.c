/* SPDX-License-Identifier: GPL-2.0-only */
/* What strangers choose: the names by which a request calls quartz-exporter, its password, and names in labels. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/credentials.h"
#include "exporter/host.h"
#include "exporter/label.h"
#include "tests/unit/suites.h"

/* ---- the Host header ---- */

static const struct {
	const char *header;
	bool ours;
} hosts[] = {
	{"localhost", true},
	{"LocalHost:9972", true},
	{"localhost.:9972", true},
	{"127.0.0.1", true},
	{"127.8.9.10:80", true},
	{"[::1]:9972", true},
	{"[::ffff:127.0.0.1]", true},
	{"192.0.2.7:9972", true}, /* where it arrived */
	{"[::ffff:192.0.2.7]", true},
	{"Metrics.Example:9972", true}, /* one of the names */
	{"metrics.example.", true},
	{"192.0.2.8", false},
	{"evil.example", false},
	{"localhost.evil.example", false},
	{"127.0.0.1.evil.example", false},
	{"metrics.example.evil", false},
	{"evil.localhost", false},
	{"127.1", false},
	{"0.0.0.0", false},
	{"[::]", false},
	{"", false},
	{".", false},
	{":9972", false},
	{"[]", false},
	{"[::1", false},
	{"[::1]evil.example", false},
	{"localhost:80:80", false},
	{"localhost:evil.example", false},
	{"localhost@evil.example", false},
	{" localhost", false},
};

START_TEST(only_its_own_names_are_served)
{
	const char *items[] = {"other.example", "metrics.example"};
	const struct qz_texts names = {.items = items, .n = 2};
	struct sockaddr_in arrived = {.sin_family = AF_INET};

	inet_pton(AF_INET, "192.0.2.7", &arrived.sin_addr);
	ck_assert_int_eq(host__is_ours(hosts[_i].header, (struct sockaddr *)&arrived, &names),
			 hosts[_i].ours);
}
END_TEST

START_TEST(addresses_of_both_families_arrive)
{
	const struct qz_texts none = {0};
	struct sockaddr_in6 arrived = {.sin6_family = AF_INET6};
	char name[300];

	inet_pton(AF_INET6, "2001:db8::7", &arrived.sin6_addr);
	ck_assert(host__is_ours("[2001:db8::7]:1", (struct sockaddr *)&arrived, &none));
	ck_assert(!host__is_ours("[2001:db8::8]:1", (struct sockaddr *)&arrived, &none));
	inet_pton(AF_INET6, "::ffff:192.0.2.7", &arrived.sin6_addr);
	ck_assert(host__is_ours("192.0.2.7", (struct sockaddr *)&arrived, &none));
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	ck_assert(!host__is_ours(name, (struct sockaddr *)&arrived, &none));
}
END_TEST

/* ---- labels ---- */

static const struct {
	const char *name, *label;
} labels[] = {
	{"postgresql.service", "postgresql.service"},
	{"dev-disk-by\\x2duuid.swap", "dev-disk-by\\\\x2duuid.swap"}, /* as systemd writes */
	{"a\"b", "a\\\"b"},
	{"a\nb", "a\\\\x0ab"},
	{"a\\x0ab", "a\\\\x5cx0ab"},
	{"a\\x5cx0ab", "a\\\\x5cx5cx0ab"},
	{"\\#7", "\\\\x5c#7"},
	{"", "-"},
	{"-", "\\\\x2d"},
	{"\\x2d", "\\\\x5cx2d"},
	{"\\x2e", "\\\\x2e"},
	{"other (limited)", "\\\\x6fther (limited)"},
	{"\\x6fther (limited)", "\\\\x5cx6fther (limited)"},
	{"other (ended)", "\\\\x6fther (ended)"},
	{"[kernel]", "\\\\x5bkernel]"},
	{"[kernel", "[kernel"},
};

START_TEST(labels_can_be_read_back)
{
	char label[LABEL_SIZE];

	ck_assert_str_eq(label__of_name(label, labels[_i].name, 7), labels[_i].label);
}
END_TEST

/* All names of so many bytes of which each is one that matters: no two have one label, nor one of Quartz's own. */
START_TEST(no_two_names_have_one_label)
{
	static const char bytes[] = "\\x5cb1o\x1b#-";
	enum { BYTES = sizeof(bytes) - 1, LENGTH = 5, SIZE = 64 };
	size_t n = 1;
	char(*all)[SIZE], label[LABEL_SIZE], name[LENGTH + 1] = "";

	for (int i = 0; i < LENGTH; i++)
		n *= BYTES;
	all = calloc(n, SIZE);
	ck_assert_ptr_nonnull(all);
	for (size_t i = 0; i < n; i++) {
		size_t rest = i;

		for (int k = 0; k < LENGTH; k++, rest /= BYTES)
			name[k] = bytes[rest % BYTES];
		ck_assert_uint_lt(strlen(label__of_name(label, name, 0)), SIZE);
		strcpy(all[i], label);
	}
	qsort(all, n, SIZE, (int (*)(const void *, const void *))strcmp);
	for (size_t i = 1; i < n; i++)
		ck_assert_str_ne(all[i - 1], all[i]);
	free(all);
}
END_TEST

/* Names that are cut differ by their numbers, whatever they are cut within, and are no other name's label. */
START_TEST(long_names_differ)
{
	static const char *const pieces[] = {"a", "\x1b", "\\x1b", "\"", "\xe2\x82\xac"};
	char name[4096] = "", first[LABEL_SIZE], second[LABEL_SIZE];

	for (size_t i = 0; i < 8; i++)
		strcat(name, i % 2 ? "a" : pieces[_i]);
	while (strlen(name) < sizeof(name) - 8)
		strcat(name, pieces[_i]);
	label__of_name(first, name, UINT64_MAX);
	name[strlen(name) - 1] = 'b';
	label__of_name(second, name, UINT64_MAX - 1);
	ck_assert_str_ne(first, second);
	ck_assert_ptr_nonnull(strstr(first, "\\\\#18446744073709551615"));
	ck_assert_uint_lt(strlen(first), LABEL_SIZE);
}
END_TEST

/* ---- the password ---- */

static const struct {
	const char *header;
	bool has;
} authorizations[] = {
	{"Basic dXNlcjpzZXNhbWU=", true}, /* user:sesame */
	{"basic dXNlcjpzZXNhbWU=", true},
	{"BASIC   dXNlcjpzZXNhbWU=", true},
	{"Basic OnNlc2FtZQ==", true},	       /* :sesame */
	{"Basic dXNlcjpzZXNhbWUAeA==", false}, /* user:sesame, a 0 and x */
	{"Basic dQA6c2VzYW1l", true},	       /* a 0 in the name of the user */
	{"Basic dXNlcjpzZXNhbQ==", false},     /* user:sesam */
	{"Basic dXNlcjpzZXNhbWUx", false},     /* user:sesame1 */
	{"Basic dXNlcjp4OnNlc2FtZQ==", false}, /* user:x:sesame: all behind the first colon */
	{"Basic c2VzYW1l", false},	       /* no colon */
	{"Basic dXNlcjpzZXNhbWU", false},      /* no padding */
	{"Basic dXNlcjpzZXNhbWU=dXNl", false},
	{"Basic dXNlcjpzZ!NhbWU=", false},
	{"Basic", false},
	{"Basic ", false},
	{"Bearer dXNlcjpzZXNhbWU=", false},
	{"", false},
};

START_TEST(the_whole_password_counts)
{
	char large[4096] = "Basic ";

	ck_assert_int_eq(credentials__have(authorizations[_i].header, "sesame"),
			 authorizations[_i].has);
	memset(large + 6, 'a', sizeof(large) - 7);
	large[sizeof(large) - 1] = '\0';
	ck_assert(!credentials__have(large, "sesame"));
}
END_TEST

Suite *suite_exporter(void)
{
	Suite *suite = suite_create("exporter");
	TCase *names = tcase_create("names");

	tcase_add_loop_test(names, only_its_own_names_are_served, 0,
			    sizeof(hosts) / sizeof(*hosts));
	tcase_add_test(names, addresses_of_both_families_arrive);
	tcase_add_loop_test(names, labels_can_be_read_back, 0, sizeof(labels) / sizeof(*labels));
	tcase_add_test(names, no_two_names_have_one_label);
	tcase_add_loop_test(names, long_names_differ, 0, 5);
	tcase_add_loop_test(names, the_whole_password_counts, 0,
			    sizeof(authorizations) / sizeof(*authorizations));
	tcase_set_timeout(names, 60);
	suite_add_tcase(suite, names);
	return suite;
}
