/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of a table, each written by itself; the argument is how many bytes are collected before a write. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t most = argc > 1 ? (size_t)atol(argv[1]) : 0, n = 0;
	char *buffer = malloc(most + 64);

	if (!buffer)
		return 1;
	for (int i = 0; i < 1500000; i++) {
		n += (size_t)sprintf(buffer + n, "%d %d\n", i, i ^ 0x55aa);
		if (n >= most) {
			if (write(1, buffer, n) < 0)
				return 1;
			n = 0;
		}
	}
	return n && write(1, buffer, n) < 0;
}
