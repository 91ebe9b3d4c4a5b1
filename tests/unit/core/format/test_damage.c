/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Snapshots that are cut, foreign, damaged or made to hurt: refused, each with its reason.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util/gzip.h"
#include "core/format/pprof.h"
#include "core/format/profile.pb-c.h"
#include "tests/unit/bytes.h"
#include "tests/unit/failing.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

static void assert_refused(const void *data, size_t size, int expected)
{
	const char *why = NULL;

	errno = 0;
	ck_assert_ptr_null(qz_pprof__parse(data, size, &why));
	ck_assert_msg(errno == expected, "errno %d, not %d (%s)", errno, expected, why);
	ck_assert_ptr_nonnull(why);
}

static void assert_file_refused(const void *data, size_t size, int expected)
{
	int fd = bytes__file(data, size);
	const char *why = NULL;

	errno = 0;
	ck_assert_ptr_null(qz_pprof__read(fd, &why));
	ck_assert_msg(errno == expected, "errno %d, not %d (%s)", errno, expected, why);
	ck_assert_ptr_nonnull(why);
	close(fd);
}

static struct bytes everything(void)
{
	struct qz_profile *p = fixture__everything();
	struct bytes gz = bytes__of_profile(p);

	qz_profile__free(p);
	return gz;
}

/* ---- files ---- */

/*
 * What says that the message is ours stands at its end, so a cut one may look foreign. The bytes
 * go to a buffer of just their size, so that a step too far is seen.
 */
START_TEST(each_cut_of_the_message_is_refused)
{
	struct bytes gz = everything(), raw = bytes__expand(&gz);

	for (size_t size = 0; size < raw.size; size++) {
		uint8_t *cut = malloc(size ? size : 1);
		const char *why = NULL;

		memcpy(cut, raw.data, size);
		ck_assert_ptr_null(qz_pprof__parse(cut, size, &why));
		ck_assert(errno == EBADMSG || errno == ENOTSUP);

		free(cut);
	}
	free(gz.data);
	free(raw.data);
}
END_TEST

START_TEST(each_cut_of_the_file_is_refused)
{
	struct bytes gz = everything();

	for (size_t size = 0; size < gz.size; size++)
		assert_file_refused(gz.data, size, EBADMSG);
	free(gz.data);
}
END_TEST

/* But for a bit that only fills up a byte, or the time in the header. */
START_TEST(a_flipped_bit_is_seen_or_means_nothing)
{
	struct qz_profile *p = fixture__everything();
	struct bytes gz = bytes__of_profile(p);
	size_t unseen = 0;

	for (size_t i = 0; i < gz.size; i++) {
		const char *why = NULL;
		struct qz_profile *q;
		int fd;

		gz.data[i] ^= 0x10;
		fd = bytes__file(gz.data, gz.size);
		q = qz_pprof__read(fd, &why);
		if (q) {
			fixture__assert_equal(p, q);
			unseen++;
		} else {
			ck_assert_int_eq(errno, EBADMSG);
		}
		qz_profile__free(q);
		close(fd);
		gz.data[i] ^= 0x10;
	}
	ck_assert_uint_le(unseen, 12);
	free(gz.data);
	qz_profile__free(p);
}
END_TEST

START_TEST(nothing_may_follow)
{
	struct bytes gz = everything();
	uint8_t *twice = malloc(2 * gz.size);

	memcpy(twice, gz.data, gz.size);
	memcpy(twice + gz.size, gz.data, gz.size);
	assert_file_refused(twice, gz.size + 1, EBADMSG);
	assert_file_refused(twice, 2 * gz.size, EBADMSG);
	free(twice);
	free(gz.data);
}
END_TEST

START_TEST(other_formats_are_refused)
{
	static const char text[] = "just a text";
	struct bytes gz = bytes__compress(text, sizeof(text));

	assert_file_refused(text, sizeof(text), EBADMSG);
	assert_file_refused(gz.data, gz.size, EBADMSG);
	free(gz.data);
}
END_TEST

/* ---- messages ---- */

/* A message to be changed at will: all of it goes with its memory, whatever points where. */
struct message {
	Pprof__Profile *m;
	uint8_t *memory;
	size_t used;
};

#define MESSAGE_MEMORY (1 << 20)

static void *message_alloc(void *data, size_t size)
{
	struct message *message = data;
	void *at = message->memory + message->used;

	message->used += (size + 15) / 16 * 16;
	ck_assert_uint_le(message->used, MESSAGE_MEMORY);
	return at;
}

static void message_free(void *data, void *at)
{
}

static void message_open(struct message *message)
{
	ProtobufCAllocator allocator = {message_alloc, message_free, message};
	struct bytes gz = everything(), raw = bytes__expand(&gz);

	message->used = 0;
	message->memory = malloc(MESSAGE_MEMORY);
	message->m = pprof__profile__unpack(&allocator, raw.size, raw.data);
	ck_assert_ptr_nonnull(message->m);
	free(gz.data);
	free(raw.data);
}

static struct bytes message_close(struct message *message)
{
	struct bytes raw = {.size = pprof__profile__get_packed_size(message->m)};

	raw.data = malloc(raw.size);
	pprof__profile__pack(message->m, raw.data);
	free(message->memory);
	return raw;
}

static void assert_message_refused(struct message *message, int expected)
{
	struct bytes raw = message_close(message);

	assert_refused(raw.data, raw.size, expected);
	free(raw.data);
}

static char **meta(Pprof__Profile *m)
{
	return &m->string_table[m->n_string_table - 1];
}

static void edit_meta(Pprof__Profile *m, const char *from, const char *to)
{
	static char edited[65536];
	const char *text = *meta(m), *at = strstr(text, from);

	ck_assert_ptr_nonnull(at);
	snprintf(edited, sizeof(edited), "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	*meta(m) = edited;
}

/* The first label of this key. */
static Pprof__Label *number_of(Pprof__Profile *m, const char *key)
{
	for (size_t i = 0; i < m->n_sample; i++)
		for (size_t k = 0; k < m->sample[i]->n_label; k++)
			if (!strcmp(m->string_table[m->sample[i]->label[k]->key], key))
				return m->sample[i]->label[k];
	ck_abort_msg("no label %s", key);
	return NULL;
}

/* ---- a stroke each ---- */

#define STRIKE(name, statement)                                                                    \
	static void name(Pprof__Profile *m)                                                        \
	{                                                                                          \
		statement;                                                                         \
	}

STRIKE(sample_type_string, m->sample_type[0]->type = 1000000)
STRIKE(sample_type_negative, m->sample_type[0]->type = -1)
STRIKE(sample_type_other, m->sample_type[1]->type = m->sample_type[0]->type)
STRIKE(sample_types_two, m->n_sample_type = 2)
STRIKE(meta_none, m->n_string_table--)
STRIKE(meta_other, *meta(m) = "{\"schema\":\"other/v1\"}")
STRIKE(strings_none, m->n_string_table = 0)
STRIKE(meta_broken, edit_meta(m, "}", ""))
STRIKE(meta_newer, edit_meta(m, "meta/v1", "meta/v2"))
STRIKE(meta_partial, *meta(m) = "{\"schema\":\"quartz.meta/v1\"}")
STRIKE(meta_no_threads, edit_meta(m, "\"threads\"", "\"thraeds\""))
STRIKE(meta_twice, edit_meta(m, "\"live\":true", "\"live\":true,\"live\":true"))
STRIKE(meta_wrong_type, edit_meta(m, "\"live\":true", "\"live\":1"))
STRIKE(meta_wrong_text, edit_meta(m, "\"event\":\"cpu-clock\"", "\"event\":1"))
STRIKE(meta_negative, edit_meta(m, "\"expected\":100", "\"expected\":-10"))
STRIKE(meta_loss_text, edit_meta(m, "\"map_full\":3", "\"map\":\"full\""))
STRIKE(meta_scope_kind, edit_meta(m, "\"kind\":2", "\"kind\":99"))
STRIKE(meta_thread_scope, edit_meta(m, "\"scope\":1", "\"scope\":2"))
STRIKE(meta_no_levels, edit_meta(m, "[100,2000,3000,4000]", "[]"))
STRIKE(meta_fewer_levels, edit_meta(m, "[100,2000,3000,4000]", "[100,2000,7000]"))
STRIKE(meta_level_product, edit_meta(m, "4000]", "4000000000000000000]"))
STRIKE(meta_level_sum, edit_meta(m, "[100,2000,", "[9223372036854775807,2000,"))
STRIKE(meta_module_index, edit_meta(m, "\"procedures\":[0,", "\"procedures\":[9,"))
STRIKE(meta_procedure_kind, edit_meta(m, "\"procedures\":[0,0", "\"procedures\":[0,99"))
STRIKE(time_negative, m->time_nanos = -1)
STRIKE(duration_negative, m->duration_nanos = INT64_MIN)
STRIKE(mapping_string, m->mapping[0]->filename = 1000000)
STRIKE(mapping_build_id, m->mapping[0]->build_id = -5)
STRIKE(mapping_id, m->mapping[0]->id = 2)
STRIKE(mapping_twice, m->mapping[1]->filename = m->mapping[0]->filename;
       m->mapping[1]->build_id = m->mapping[0]->build_id;
       m->mapping[1]->memory_start = m->mapping[0]->memory_start;
       m->mapping[1]->file_offset = m->mapping[0]->file_offset)
STRIKE(function_string, m->function[1]->name = 1000000)
STRIKE(function_file, m->function[1]->filename = INT64_MAX)
STRIKE(function_line, m->function[0]->start_line = (int64_t)UINT32_MAX + 1)
STRIKE(function_id, m->function[0]->id = 0)
STRIKE(function_twice, m->function[2]->name = m->function[1]->name)
STRIKE(functions_fewer, m->n_function--)
STRIKE(location_mapping, m->location[0]->mapping_id = m->n_mapping + 1)
STRIKE(location_function, m->location[0]->line[0]->function_id = m->n_function + 1)
STRIKE(location_function_0, m->location[0]->line[0]->function_id = 0)
STRIKE(location_line, m->location[0]->line[0]->line = -1)
STRIKE(location_id, m->location[0]->id = UINT64_MAX)
STRIKE(location_no_line, m->location[0]->n_line = 0)
STRIKE(sample_location, m->sample[0]->location_id[0] = m->n_location + 1)
STRIKE(sample_location_0, m->sample[0]->location_id[0] = 0)
STRIKE(sample_values, m->sample[0]->n_value = 2)
STRIKE(sample_negative, m->sample[0]->value[1] = -1)
STRIKE(sample_sum, m->sample[0]->value[2] = m->sample[1]->value[2] = INT64_MAX)
STRIKE(label_key, m->sample[0]->label[0]->key = 1000000)
STRIKE(label_scope, m->sample[0]->label[0]->num = 1)
STRIKE(label_scope_far, m->sample[0]->label[0]->num = 2)
STRIKE(label_level_0, m->sample[0]->label[1]->num = 0)
STRIKE(label_level_high, m->sample[0]->label[1]->num = 4)
STRIKE(label_thread, m->sample[0]->label[2]->num = 2)
STRIKE(label_wide, m->sample[0]->label[2]->num = 1ll << 32)
STRIKE(meta_object_scope, edit_meta(m, "\"objects\":[{\"scope\":0", "\"objects\":[{\"scope\":2"))
STRIKE(meta_object_kind, edit_meta(m, "\"kind\":10", "\"kind\":15"))
STRIKE(meta_object_nameless, edit_meta(m, "\"name\":\"pipe:[17]\"", "\"name\":\"\""))
STRIKE(meta_objects_wrong, edit_meta(m, "\"objects\":[", "\"objects\":[1,"))
STRIKE(meta_objects_fewer, edit_meta(m, "\"objects\"", "\"objetcs\""))
STRIKE(meta_queue_short, edit_meta(m, "\"queue_ns\":[0,10,", "\"queue_ns\":[0,"))
STRIKE(meta_queue_negative, edit_meta(m, "\"queue_ns\":[0,", "\"queue_ns\":[-1,"))
STRIKE(meta_queue_sum, edit_meta(m, "\"queue_ns\":[0,10", "\"queue_ns\":[0,9223372036854775807"))
STRIKE(meta_arrivals_none, edit_meta(m, "\"arrivals\"", "\"ariivals\""))
STRIKE(meta_wait_sum, edit_meta(m, "\"wait_ns\":0", "\"wait_ns\":9223372036854775807"))
STRIKE(meta_cause_twice, edit_meta(m, "\"preempted\"", "\"futex\""))
STRIKE(meta_cause_number, edit_meta(m, "\"preempted\"", "17"))
STRIKE(meta_causes_fewer, edit_meta(m, ",\"preempted\"", ""))
STRIKE(meta_calls_wrong, edit_meta(m, "\"calls\":[", "\"calls\":[1,"))
STRIKE(meta_calls_none, edit_meta(m, "\"calls\":[", "\"calls\":null,\"old\":["))
STRIKE(meta_call_scope, edit_meta(m, "\"calls\":[0,", "\"calls\":[2,"))
STRIKE(meta_call_caller, edit_meta(m, "\"calls\":[0,4294967295", "\"calls\":[0,4294967294"))
STRIKE(meta_call_wide, edit_meta(m, "\"calls\":[0,4294967295", "\"calls\":[0,4294967296"))
STRIKE(meta_call_sum, edit_meta(m, "9223372036854775797", "9223372036854775807"))
STRIKE(meta_call_negative, edit_meta(m, "9223372036854775797", "-1"))
STRIKE(meta_call_twice,
       edit_meta(m, "\"calls\":[0,4294967295,1,1", "\"calls\":[0,4294967295,1,1,0,4294967295,1,1"))
STRIKE(meta_sets_wrong, edit_meta(m, "\"sets\":[", "\"sets\":[0,"))
STRIKE(meta_sets_none, edit_meta(m, "\"sets\"", "\"stes\""))
STRIKE(meta_set_scope, edit_meta(m, "\"sets\":[0,", "\"sets\":[2,"))
STRIKE(meta_set_of_nothing, edit_meta(m, "\"sets\":[0,4,", "\"sets\":[0,0,"))
STRIKE(meta_set_wide, edit_meta(m, "\"sets\":[0,4,0,", "\"sets\":[0,4,8193,"))
STRIKE(meta_set_cut, edit_meta(m, "\"sets\":[0,4,0,", "\"sets\":[0,4,8000,"))
STRIKE(meta_set_member, edit_meta(m, "\"sets\":[0,4,0,", "\"sets\":[0,4,1,4294967294,"))
STRIKE(meta_set_twice, edit_meta(m, "\"sets\":[0,4,0,", "\"sets\":[0,4,0,0,4,0,"))
STRIKE(meta_set_sum, edit_meta(m, "2147483647", "9223372036854775807"))
STRIKE(meta_instants_fewer, edit_meta(m, "\"taken\"", "\"tekan\""))
STRIKE(meta_instants_no_rate,
       edit_meta(m, "\"instants\":{\"rate_hz\":100", "\"instants\":{\"rate_hz\":0"))
STRIKE(sample_types_eight, m->n_sample_type = 8)
STRIKE(sample_type_last, m->sample_type[8]->type = m->sample_type[7]->type)
STRIKE(label_busy, number_of(m, "busy")->num = 2)
STRIKE(label_spinning, number_of(m, "spinning")->num = 2)
STRIKE(label_object, number_of(m, "object_index")->num = 2)
STRIKE(label_object_foreign, number_of(m, "object_index")->num = 0)
STRIKE(label_cause, number_of(m, "cause_index")->num = 2)
STRIKE(label_cause_none, number_of(m, "cause_index")->key = 0)
STRIKE(label_nominal, number_of(m, "nominal")->num = -1)
STRIKE(label_kind, number_of(m, "kind")->str = 0)
STRIKE(label_kind_string, number_of(m, "kind")->str = 1000000)
STRIKE(wait_twice, m->sample[m->n_sample - 1] = m->sample[m->n_sample - 2])
STRIKE(wait_sum,
       m->sample[m->n_sample - 1]->value[8] = m->sample[m->n_sample - 2]->value[8] = INT64_MAX)
STRIKE(sample_twice, m->sample[1] = m->sample[0])
STRIKE(labels_none, m->sample[0]->n_label = 0)

static const struct {
	void (*strike)(Pprof__Profile *m);
	int expected;
} damages[] = {
	{sample_type_string, EBADMSG},
	{sample_type_negative, EBADMSG},
	{sample_type_other, ENOTSUP},
	{sample_types_two, ENOTSUP},
	{meta_none, ENOTSUP},
	{meta_other, ENOTSUP},
	{strings_none, EBADMSG},
	{meta_broken, EBADMSG},
	{meta_newer, ENOTSUP},
	{meta_partial, EBADMSG},
	{meta_no_threads, EBADMSG},
	{meta_twice, EBADMSG},
	{meta_wrong_type, EBADMSG},
	{meta_wrong_text, EBADMSG},
	{meta_negative, EBADMSG},
	{meta_loss_text, EBADMSG},
	{meta_scope_kind, EBADMSG},
	{meta_thread_scope, EBADMSG},
	{meta_no_levels, EBADMSG},
	{meta_fewer_levels, EBADMSG},
	{meta_level_product, EBADMSG},
	{meta_level_sum, EBADMSG},
	{meta_module_index, EBADMSG},
	{meta_procedure_kind, EBADMSG},
	{time_negative, EBADMSG},
	{duration_negative, EBADMSG},
	{mapping_string, EBADMSG},
	{mapping_build_id, EBADMSG},
	{mapping_id, EBADMSG},
	{mapping_twice, EBADMSG},
	{function_string, EBADMSG},
	{function_file, EBADMSG},
	{function_line, EBADMSG},
	{function_id, EBADMSG},
	{function_twice, EBADMSG},
	{functions_fewer, EBADMSG},
	{location_mapping, EBADMSG},
	{location_function, EBADMSG},
	{location_function_0, EBADMSG},
	{location_line, EBADMSG},
	{location_id, EBADMSG},
	{location_no_line, EBADMSG},
	{sample_location, EBADMSG},
	{sample_location_0, EBADMSG},
	{sample_values, EBADMSG},
	{sample_negative, EBADMSG},
	{sample_sum, EBADMSG},
	{label_key, EBADMSG},
	{label_scope, EBADMSG},
	{label_scope_far, EBADMSG},
	{label_level_0, EBADMSG},
	{label_level_high, EBADMSG},
	{label_thread, EBADMSG},
	{label_wide, EBADMSG},
	{sample_twice, EBADMSG},
	{labels_none, EBADMSG},
	{meta_object_scope, EBADMSG},
	{meta_object_kind, EBADMSG},
	{meta_object_nameless, EBADMSG},
	{meta_objects_wrong, EBADMSG},
	{meta_objects_fewer, EBADMSG},
	{meta_queue_short, EBADMSG},
	{meta_queue_negative, EBADMSG},
	{meta_queue_sum, EBADMSG},
	{meta_arrivals_none, EBADMSG},
	{meta_wait_sum, EBADMSG},
	{meta_cause_twice, EBADMSG},
	{meta_cause_number, EBADMSG},
	{meta_causes_fewer, EBADMSG},
	{meta_calls_wrong, EBADMSG},
	{meta_calls_none, EBADMSG},
	{meta_call_scope, EBADMSG},
	{meta_call_caller, EBADMSG},
	{meta_call_wide, EBADMSG},
	{meta_call_sum, EBADMSG},
	{meta_call_negative, EBADMSG},
	{meta_call_twice, EBADMSG},
	{meta_sets_wrong, EBADMSG},
	{meta_sets_none, EBADMSG},
	{meta_set_scope, EBADMSG},
	{meta_set_of_nothing, EBADMSG},
	{meta_set_wide, EBADMSG},
	{meta_set_cut, EBADMSG},
	{meta_set_member, EBADMSG},
	{meta_set_twice, EBADMSG},
	{meta_set_sum, EBADMSG},
	{meta_instants_fewer, EBADMSG},
	{meta_instants_no_rate, EBADMSG},
	{sample_types_eight, ENOTSUP},
	{sample_type_last, ENOTSUP},
	{label_busy, EBADMSG},
	{label_spinning, EBADMSG},
	{label_object, EBADMSG},
	{label_object_foreign, EBADMSG},
	{label_cause, EBADMSG},
	{label_cause_none, EBADMSG},
	{label_nominal, EBADMSG},
	{label_kind, EBADMSG},
	{label_kind_string, EBADMSG},
	{wait_twice, EBADMSG},
	{wait_sum, EBADMSG},
};

START_TEST(each_damage_is_seen)
{
	struct message message;

	message_open(&message);
	damages[_i].strike(message.m);
	assert_message_refused(&message, damages[_i].expected);
}
END_TEST

/* What a later version or another tool may add. */
START_TEST(additions_are_ignored)
{
	struct message message;
	struct bytes raw;
	struct qz_profile *p;
	const char *why = NULL;

	message_open(&message);
	edit_meta(message.m, "\"live\":true", "\"live\":true,\"unheard\":[{\"of\":1}]");
	message.m->sample[0]->label[4]->key = message.m->sample_type[0]->type;
	raw = message_close(&message);
	p = qz_pprof__parse(raw.data, raw.size, &why);
	ck_assert_msg(p != NULL, "%s", why);
	qz_profile__free(p);
	free(raw.data);
}
END_TEST

/* ---- what is too much ---- */

START_TEST(a_stack_too_deep)
{
	static uint64_t ids[QZ_MAX_DEPTH + 1];
	struct message message;

	for (int i = 0; i <= QZ_MAX_DEPTH; i++)
		ids[i] = 1;
	message_open(&message);
	message.m->sample[0]->n_location_id = QZ_MAX_DEPTH + 1;
	message.m->sample[0]->location_id = ids;
	assert_message_refused(&message, EFBIG);
}
END_TEST

START_TEST(too_many_inlined_procedures)
{
	static Pprof__Line *lines[QZ_MAX_INLINED + 1];
	struct message message;

	message_open(&message);
	for (int i = 0; i <= QZ_MAX_INLINED; i++)
		lines[i] = message.m->location[0]->line[0];
	message.m->location[0]->n_line = QZ_MAX_INLINED + 1;
	message.m->location[0]->line = lines;
	assert_message_refused(&message, EFBIG);
}
END_TEST

START_TEST(too_many_levels)
{
	static char levels[2 * (QZ_MAX_LEVELS + 1) + 4] = "[";
	struct message message;
	char *at = levels + 1;

	for (int i = 0; i <= QZ_MAX_LEVELS; i++)
		at += sprintf(at, "%s0", i ? "," : "");
	strcpy(at, "]");
	message_open(&message);
	edit_meta(message.m, "[100,2000,3000,4000]", levels);
	assert_message_refused(&message, EFBIG);
}
END_TEST

/* One sample whose packed list of locations takes eight times its size in memory. */
START_TEST(a_message_that_unpacks_to_too_much)
{
	const size_t list = 140u << 20;
	uint8_t *data = malloc(list + 16);
	size_t at = 0;

	data[at++] = 0x12; /* sample, of list + 5 bytes */
	for (size_t rest = list + 5; rest; rest >>= 7)
		data[at++] = (uint8_t)((rest & 0x7f) | (rest >> 7 ? 0x80 : 0));
	data[at++] = 0x0a; /* location_id, of list bytes */
	for (size_t rest = list; rest; rest >>= 7)
		data[at++] = (uint8_t)((rest & 0x7f) | (rest >> 7 ? 0x80 : 0));
	memset(data + at, 1, list);
	assert_refused(data, at + list, EFBIG);
	free(data);
}
END_TEST

/* What of a message takes most memory for its length. None of it is allocated. */
static const struct {
	const char *bytes;
	size_t size;
} dense[] = {
	{"\x12\x00", 2},				  /* a sample with nothing in it */
	{"\x1a\x00", 2},				  /* a mapping */
	{"\x22\x00", 2},				  /* a location */
	{"\x22\x04\x22\x00\x22\x00", 6},		  /* one with two lines */
	{"\x2a\x00", 2},				  /* a procedure */
	{"\x32\x00", 2},				  /* a string */
	{"\x12\x08\x1a\x00\x1a\x00\x1a\x00\x1a\x00", 10}, /* a sample with four labels */
	{"\x78\x00", 2},				  /* an unknown member */
};

START_TEST(a_message_that_unpacks_to_far_more)
{
	const size_t size = 8u << 20, n = size / dense[_i].size;
	uint8_t *data = malloc(size);

	for (size_t i = 0; i < n; i++)
		memcpy(data + i * dense[_i].size, dense[_i].bytes, dense[_i].size);
	failing__arm(100);
	assert_refused(data, n * dense[_i].size, EFBIG);
	ck_assert(!failing__disarm());
	free(data);
}
END_TEST

static const char *const dense_meta[] = {"{},", "[],", "\"\",", "[[]],"};

START_TEST(a_note_that_parses_to_far_more)
{
	const size_t size = 4u << 20, length = strlen(dense_meta[_i]);
	struct message message;
	char *text = malloc(size + 64), *at = text;

	at += sprintf(at, "{\"schema\":\"quartz.meta/v1\",\"x\":[");
	for (; (size_t)(at - text) < size; at += length)
		memcpy(at, dense_meta[_i], length);
	strcpy(at, "0]}");
	message_open(&message);
	*meta(message.m) = text;
	assert_message_refused(&message, EFBIG);
	free(text);
}
END_TEST

/* What gzip itself would take: bytes after the end, and a second file behind the first. */
START_TEST(what_follows_the_profile)
{
	struct qz_profile *p = fixture__everything();
	struct bytes gz = bytes__of_profile(p);
	uint8_t *twice = malloc(2 * gz.size);
	const char *why = NULL;

	memcpy(mempcpy(twice, gz.data, gz.size), gz.data, gz.size);
	for (size_t more = 1; more <= gz.size; more += gz.size - 1) {
		int fd = bytes__file(twice, gz.size + more);

		ck_assert_ptr_null(qz_pprof__read(fd, &why));
		ck_assert_int_eq(errno, EBADMSG);
		close(fd);
	}
	free(twice);
	free(gz.data);
	qz_profile__free(p);
}
END_TEST

START_TEST(a_file_that_expands_to_too_much)
{
	const size_t chunk = 1 << 20;
	int fd = bytes__file("", 0);
	gzFile gz = qz_gzip__open(fd);
	uint8_t *zeros = calloc(1, chunk);
	const char *why = NULL;

	for (int i = 0; i < 257; i++)
		ck_assert_int_eq(qz_gzip__write(gz, zeros, chunk), 0);
	ck_assert_int_eq(qz_gzip__close(gz), 0);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	ck_assert_ptr_null(qz_pprof__read(fd, &why));
	ck_assert_int_eq(errno, EFBIG);
	ck_assert_str_eq(why, "larger than Quartz reads");
	ck_assert_int_le(lseek(fd, 0, SEEK_CUR), 2 * 65536); /* not to its end */
	free(zeros);
	close(fd);
}
END_TEST

Suite *suite_damage(void)
{
	Suite *s = suite_create("damage");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, each_cut_of_the_message_is_refused);
	tcase_add_test(tc, each_cut_of_the_file_is_refused);
	tcase_add_test(tc, a_flipped_bit_is_seen_or_means_nothing);
	tcase_add_test(tc, nothing_may_follow);
	tcase_add_test(tc, other_formats_are_refused);
	tcase_add_loop_test(tc, each_damage_is_seen, 0, sizeof(damages) / sizeof(*damages));
	tcase_add_test(tc, additions_are_ignored);
	tcase_add_test(tc, a_stack_too_deep);
	tcase_add_test(tc, too_many_inlined_procedures);
	tcase_add_test(tc, too_many_levels);
	tcase_add_test(tc, a_message_that_unpacks_to_too_much);
	tcase_add_loop_test(tc, a_message_that_unpacks_to_far_more, 0,
			    sizeof(dense) / sizeof(*dense));
	tcase_add_loop_test(tc, a_note_that_parses_to_far_more, 0,
			    sizeof(dense_meta) / sizeof(*dense_meta));
	tcase_add_test(tc, what_follows_the_profile);
	tcase_add_test(tc, a_file_that_expands_to_too_much);
	suite_add_tcase(s, tc);
	return s;
}
