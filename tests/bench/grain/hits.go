// SPDX-License-Identifier: GPL-2.0-only
// Two goroutines that count: each time in the number that they share, or in the end.
package main

import (
	"os"
	"sync"
	"sync/atomic"
)

const turns = 150000000

type counts struct {
	hits, misses int64
}

func count(c *counts, at int64, each bool) {
	x, own := uint64(at), int64(0)
	for i := 0; i < turns; i++ {
		x = x*6364136223846793005 + 1442695040888963407
		if each {
			atomic.AddInt64(&c.hits, int64(x>>63))
		} else {
			own += int64(x >> 63)
		}
	}
	atomic.AddInt64(&c.hits, own)
}

func main() {
	c := &counts{}
	var wg sync.WaitGroup
	for i := int64(0); i < 2; i++ {
		wg.Add(1)
		go func(i int64) {
			defer wg.Done()
			count(c, i, len(os.Args) < 2 || os.Args[1] == "each")
		}(i)
	}
	wg.Wait()
}
