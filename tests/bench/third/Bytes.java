// SPDX-License-Identifier: GPL-2.0-only

import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** Writes bytes to /dev/null; 0: a call each, 1: by a buffer. */
public class Bytes {
	public static void main(String[] args) throws IOException {
		OutputStream out = new FileOutputStream("/dev/null");
		if (args[0].equals("1"))
			out = new BufferedOutputStream(out, 65536);
		for (int i = 0; i < 2_000_000; i++)
			out.write(i & 0xff);
		out.close();
	}
}
