// SPDX-License-Identifier: GPL-2.0-only

/** Two threads that compute. */
public class Sums {
	static long sum(long n) {
		long s = 0;
		for (long i = 1; i < n; i++)
			s += (i * i) % 13 / (i % 7 + 1);
		return s;
	}

	public static void main(String[] args) throws InterruptedException {
		Thread[] threads = new Thread[2];
		long[] sums = new long[2];
		for (int i = 0; i < 2; i++) {
			final int me = i;
			threads[i] = new Thread(() -> sums[me] = sum(220_000_000L + me));
			threads[i].start();
		}
		for (Thread t : threads)
			t.join();
		System.out.println(sums[0] + sums[1]);
	}
}
