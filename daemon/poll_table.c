// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "daemon/poll_table.h"

#define PROBES 32

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static uint64_t hash_sample(const struct poll_key *key, const uint32_t *ids, uint32_t n)
{
	uint64_t words[sizeof(*key) / sizeof(uint64_t)], h = n, two;

	memcpy(words, key, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		h = mix(h, words[i]);
	for (; n >= 2; ids += 2, n -= 2) {
		memcpy(&two, ids, sizeof(two));
		h = mix(h, two);
	}
	if (n)
		h = mix(h, *ids);
	return h ? h : 1;
}

static bool add(struct poll_half *h, struct poll_sample *sample, uint64_t hash,
		const struct poll_key *key, const uint32_t *ids, uint32_t n)
{
	if (h->used >= POLL_SAMPLES / 4 * 3 || n > POLL_IDS - h->ids_used)
		return false;
	memcpy(&h->ids[h->ids_used], ids, n * sizeof(*ids));
	*sample = (struct poll_sample) {hash, *key, 1, n, h->ids_used};
	h->ids_used += n;
	h->used++;
	return true;
}

bool poll_half__count(struct poll_half *h, const struct poll_key *key, const uint32_t *ids,
		      uint32_t n)
{
	uint64_t hash = hash_sample(key, ids, n);

	for (uint32_t i = 0; i < PROBES; i++) {
		struct poll_sample *sample = &h->samples[((hash >> 32) + i) & (POLL_SAMPLES - 1)];

		if (sample->hash == hash) {
			sample->count++;
			return true;
		}
		if (sample->hash)
			continue;
		if (add(h, sample, hash, key, ids, n))
			return true;
		break;
	}
	h->lost++;
	return false;
}

void poll_half__clear(struct poll_half *h)
{
	memset(h->samples, 0, sizeof(h->samples));
	h->used = h->ids_used = 0;
}
