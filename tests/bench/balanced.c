/* SPDX-License-Identifier: GPL-2.0-only */
/* balanced SECONDS: an OpenMP loop whose turns are alike, for about so long. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define TURNS 2000

static double work(unsigned int seed)
{
	double x = seed;

	for (int i = 0; i < 100000; i++)
		x = x * 0.999999 + 1;
	return x;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, sum = 0;
	double end = omp_get_wtime() + seconds;

	while (omp_get_wtime() < end) {
#pragma omp parallel for reduction(+ : sum)
		for (unsigned int i = 0; i < TURNS; i++)
			sum += work(i);
	}
	printf("%g\n", sum);
	return 0;
}
