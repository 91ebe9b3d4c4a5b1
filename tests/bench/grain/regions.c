/* SPDX-License-Identifier: GPL-2.0-only */
/* OpenMP: a parallel region for each row; the argument is how many columns a row has. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	long n = 20000000, columns = argc > 1 ? atol(argv[1]) : 100;
	double sum = 0;

	for (long row = 0; row < n / columns; row++) {
#pragma omp parallel for num_threads(2) reduction(+ : sum)
		for (long i = 0; i < columns; i++)
			sum += sqrt((double)(row + i));
	}
	printf("%f\n", sum);
	return 0;
}
