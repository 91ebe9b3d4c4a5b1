/* SPDX-License-Identifier: GPL-2.0-only */
/* Loops in loops, each with threads of its own; the argument is how many levels have threads: 2, or 1. */
#include <omp.h>
#include <stdlib.h>

#define ROWS	3000
#define COLUMNS 400

static double cells[4][COLUMNS];

static double row(int part)
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum) num_threads(4)
	for (int i = 0; i < COLUMNS; i++)
		sum += cells[part][i] * i;
	return sum;
}

int main(int argc, char **argv)
{
	double sum = 0;

	omp_set_max_active_levels(argc > 1 ? atoi(argv[1]) : 2);
#pragma omp parallel for reduction(+ : sum) num_threads(4)
	for (int i = 0; i < ROWS; i++)
		sum += row(i % 4);
	return sum < 0;
}
