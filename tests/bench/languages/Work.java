// SPDX-License-Identifier: GPL-2.0-only

/* As work.py says. */
public class Work {
	static final int SIZE = 20000, PIECES = 100;
	static int times = 200;
	static long total;

	static long burn(long x) {
		for (int i = 0; i < SIZE; i++) {
			x = x * 6364136223846793005L + 1442695040888963407L;
			x ^= x >>> 29;
		}
		return x;
	}

	static long parse(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++)
			sum += burn(i);
		return sum;
	}

	static synchronized void update(long x) {
		total += burn(burn(burn(x)));
	}

	static synchronized void add(long x) {
		total += x;
	}

	static void compute(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++)
			sum += burn(i);
		add(sum);
	}

	static void both(Runnable work) throws InterruptedException {
		Thread[] threads = {new Thread(work), new Thread(work)};
		for (Thread t : threads)
			t.start();
		for (Thread t : threads)
			t.join();
	}

	public static void main(String[] arguments) throws InterruptedException {
		if (arguments.length > 1)
			times = Integer.parseInt(arguments[1]);
		switch (arguments[0]) {
		case "serial":
			add(parse(times * PIECES));
			both(() -> compute(times * PIECES));
			break;
		case "serial-fixed":
			both(() -> add(parse(times * PIECES / 2)));
			both(() -> compute(times * PIECES));
			break;
		case "lock":
			both(() -> {
				for (int i = 0; i < times * PIECES / 2; i++)
					update(burn(i));
			});
			break;
		case "lock-fixed":
			both(() -> {
				long own = 0;
				for (int i = 0; i < times * PIECES / 2; i++)
					own += burn(burn(burn(burn(i))));
				add(own);
			});
			break;
		default:
			both(() -> compute(2 * times * PIECES));
		}
		System.out.println(total);
	}
}
