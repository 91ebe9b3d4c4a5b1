// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/spin/around.h"

#include <string.h>

/* Samples until the call is seen again: what works on and on there is not taken for a wait. */
#define MOST 8

static bool was_called_so(const struct thread *t, uint64_t callers)
{
	for (int i = 0; callers && i < AROUND_CALLERS; i++)
		if (t->around[i] == callers)
			return true;
	return false;
}

bool around__takes(struct thread *t, const struct around *a)
{
	if (a->callers[0]) {
		memcpy(t->around, a->callers, sizeof(t->around));
		t->around_left = MOST;
		return false; /* that is known by its name */
	}
	if (a->elsewhere || (a->leaf && !was_called_so(t, a->leaf)))
		t->around_left = 0;
	if (!t->around_left)
		return false;
	t->around_left--;
	return a->leaf;
}
