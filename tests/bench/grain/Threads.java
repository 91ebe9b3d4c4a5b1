// SPDX-License-Identifier: GPL-2.0-only

/** Tasks in threads of their own; the argument is how many tasks a thread does. */
public class Threads {
	static double task(long n) {
		double sum = 0;
		for (int i = 1; i < 300; i++)
			sum += Math.sqrt(n * i + 1);
		return sum;
	}

	public static void main(String[] arguments) throws Exception {
		int step = Integer.parseInt(arguments[0]);
		for (int i = 0; i < 24000; i += 2 * step) {
			Thread[] threads = new Thread[2];
			for (int k = 0; k < 2; k++) {
				final int first = i + k * step;
				threads[k] = new Thread(() -> {
					double sum = 0;
					for (int n = 0; n < step; n++)
						sum += task(first + n);
					if (sum < 0)
						System.out.println(sum);
				});
				threads[k].start();
			}
			for (Thread thread : threads)
				thread.join();
		}
	}
}
