// SPDX-License-Identifier: GPL-2.0-only

// Writes lines to its standard output; 0: a call each, 1: by a buffer.
package main

import (
	"bufio"
	"io"
	"os"
	"strconv"
)

func put(out io.Writer) {
	line := make([]byte, 0, 32)
	for i := 0; i < 1500000; i++ {
		line = strconv.AppendInt(line[:0], int64(i), 10)
		line = append(line, '\n')
		out.Write(line)
	}
}

func main() {
	if os.Args[1] == "0" {
		put(os.Stdout)
		return
	}
	out := bufio.NewWriterSize(os.Stdout, 65536)
	put(out)
	out.Flush()
}
