/* SPDX-License-Identifier: GPL-2.0-only */
/* Short parallel loops: OMP_NUM_THREADS says how many threads wait for each other at the end of each. */
#include <stdio.h>

int main(void)
{
	double sum = 0;

	for (int i = 0; i < 8000; i++) {
#pragma omp parallel for reduction(+ : sum)
		for (int k = 1; k < 20000; k++)
			sum += 1.0 / (k + i);
	}
	printf("%g\n", sum);
	return 0;
}
