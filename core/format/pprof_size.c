/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/format/pprof_size.h"

#include <stdbool.h>

#include "core/format/profile.pb-c.h"

#define ALLOCATION 16 /* what malloc adds, and rounds up to */
#define MEMBER	   40 /* protobuf-c's note of a field, until the message is whole */

enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

struct scan {
	const uint8_t *at, *end;
};

struct field {
	uint32_t number;
	uint32_t wire;
	const uint8_t *bytes; /* BYTES only */
	size_t size;
};

static bool take_varint(struct scan *s, uint64_t *value)
{
	*value = 0;
	for (unsigned int shift = 0; s->at < s->end && shift < 64; shift += 7) {
		uint8_t byte = *s->at++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool skip(struct scan *s, uint64_t size)
{
	if (size > (size_t)(s->end - s->at))
		return false;
	s->at += size;
	return true;
}

static bool take_field(struct scan *s, struct field *f)
{
	uint64_t key, value = 0;

	if (!take_varint(s, &key) || key >> 3 == 0 || key >> 3 > UINT32_MAX)
		return false;
	f->number = (uint32_t)(key >> 3);
	f->wire = key & 7;
	f->size = 0;
	switch (f->wire) {
	case VARINT:
		return take_varint(s, &value);
	case FIXED64:
		return skip(s, 8);
	case FIXED32:
		return skip(s, 4);
	case BYTES:
		if (!take_varint(s, &value))
			return false;
		f->bytes = s->at;
		f->size = (size_t)value;
		return skip(s, value);
	default:
		return false;
	}
}

static size_t allocated(size_t size)
{
	return (size + 2 * ALLOCATION - 1) / ALLOCATION * ALLOCATION;
}

/* The numbers of a packed list: each ends with a byte below 0x80. */
static size_t packed(const struct field *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->size; i++)
		n += f->bytes[i] < 0x80;
	return n * sizeof(uint64_t);
}

static size_t size_of(const ProtobufCMessageDescriptor *type, const uint8_t *data, size_t size);

/* Nothing can be as large as SIZE_MAX but what is no whole message. */
static size_t size_of_field(const ProtobufCMessageDescriptor *type, const struct field *f)
{
	const ProtobufCFieldDescriptor *d =
		protobuf_c_message_descriptor_get_field(type, f->number);
	size_t inner;

	if (!d)
		return sizeof(ProtobufCMessageUnknownField) + allocated(f->size);
	if (f->wire != BYTES)
		return d->label == PROTOBUF_C_LABEL_REPEATED ? sizeof(uint64_t) : 0;
	if (d->type == PROTOBUF_C_TYPE_STRING)
		return sizeof(char *) + allocated(f->size + 1);
	if (d->type != PROTOBUF_C_TYPE_MESSAGE)
		return packed(f);
	inner = size_of(d->descriptor, f->bytes, f->size);
	return inner == SIZE_MAX ? inner : sizeof(void *) + inner;
}

/* The types of profiles do not contain each other: three messages are the deepest. */
static size_t size_of(const ProtobufCMessageDescriptor *type, const uint8_t *data, size_t size)
{
	struct scan s = {data, data + size};
	size_t sum = allocated(type->sizeof_message), members = 0;
	struct field f;

	for (; s.at < s.end; members++) {
		size_t more = take_field(&s, &f) ? size_of_field(type, &f) : SIZE_MAX;

		if (more == SIZE_MAX)
			return SIZE_MAX;
		sum += more;
	}
	/* the notes of an inner message are freed before the next one is begun */
	return type == &pprof__profile__descriptor ? sum + members * MEMBER : sum;
}

size_t qz_pprof__unpacked_size(const uint8_t *data, size_t size)
{
	return size_of(&pprof__profile__descriptor, data, size);
}
