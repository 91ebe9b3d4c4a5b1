// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "daemon/shm/poll_table.h"

#define PROBES 32

_Static_assert(sizeof(struct poll_key) == 5 * sizeof(uint64_t), "five words without a gap");

/* Digits of pi, so that no factor is 0 but by chance. */
static const uint64_t salt[] = {0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0,
				0x082efa98ec4e6c89, 0x452821e638d01377, 0xbe5466cf34e90c6c};

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The products of the key do not wait for each other. */
static uint64_t hash_sample(const struct poll_key *key, const uint32_t *ids, uint32_t n)
{
	uint64_t words[5], pairs[2], h;

	memcpy(words, key, sizeof(words));
	h = mix(words[0] ^ salt[0], words[1] ^ salt[1]) ^
	    mix(words[2] ^ salt[2], words[3] ^ salt[3]) ^ mix(words[4] ^ salt[4], n ^ salt[5]);
	for (; n >= 4; ids += 4, n -= 4) {
		memcpy(pairs, ids, sizeof(pairs));
		h = mix(h ^ pairs[0], pairs[1] ^ salt[0]);
	}
	for (; n; ids++, n--)
		h = mix(h ^ *ids, salt[1]);
	return h ? h : 1;
}

static bool add(struct poll_buffer *buffer, struct poll_sample *sample, uint64_t hash,
		const struct poll_key *key, const uint32_t *ids, uint32_t n)
{
	if (buffer->used >= POLL_SAMPLES / 4 * 3 || n > POLL_IDS - buffer->ids_used)
		return false;
	memcpy(&buffer->ids[buffer->ids_used], ids, n * sizeof(*ids));
	*sample = (struct poll_sample) {hash, *key, 1, n, buffer->ids_used};
	buffer->ids_used += n;
	buffer->used++;
	return true;
}

static bool is_of(const struct poll_buffer *buffer, const struct poll_sample *sample,
		  const struct poll_key *key, const uint32_t *ids, uint32_t n)
{
	return !memcmp(&sample->key, key, sizeof(*key)) && sample->n == n &&
	       !memcmp(&buffer->ids[sample->first], ids, n * sizeof(*ids));
}

bool poll_buffer__count(struct poll_buffer *buffer, const struct poll_key *key, const uint32_t *ids,
			uint32_t n)
{
	uint64_t hash = hash_sample(key, ids, n);

	for (uint32_t i = 0; i < PROBES; i++) {
		struct poll_sample *sample =
			&buffer->samples[((hash >> 32) + i) & (POLL_SAMPLES - 1)];

		if (sample->hash == hash && is_of(buffer, sample, key, ids, n)) {
			sample->count++;
			return true;
		}
		if (sample->hash)
			continue;
		if (add(buffer, sample, hash, key, ids, n))
			return true;
		break;
	}
	buffer->lost++;
	return false;
}

void poll_buffer__clear(struct poll_buffer *buffer)
{
	memset(buffer->samples, 0, sizeof(buffer->samples));
	buffer->used = buffer->ids_used = 0;
}
