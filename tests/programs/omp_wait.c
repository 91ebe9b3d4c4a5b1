/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * omp_wait [SECONDS [N]]: the first of N threads computes SECONDS in compute_omp; the others wait for
 * it at a barrier, as OMP_WAIT_POLICY says.
 */
#include <omp.h>

#include "tests/programs/truth.h"

static PROCEDURE void compute_omp(double seconds)
{
	struct truth start = truth_now();

	compute_seconds(seconds);
	truth_since("compute_omp", start);
}

int main(int argc, char **argv)
{
	double seconds = seconds_argument(argc, argv, 1, 1);
	int threads = (int)number_argument(argc, argv, 2, 2, 1024);

#pragma omp parallel num_threads(threads)
	{
		if (omp_get_thread_num() == 0)
			compute_omp(seconds);
#pragma omp barrier
	}
	return 0;
}
