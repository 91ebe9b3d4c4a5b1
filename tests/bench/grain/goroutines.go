// SPDX-License-Identifier: GPL-2.0-only

// A goroutine for pieces of a sum; the argument is how many numbers a piece has.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

const n = 8000000

var total int64

func piece(from, until int, done *sync.WaitGroup) {
	s := int64(0)
	for i := from; i < until; i++ {
		s += int64(i*i) % 13
	}
	atomic.AddInt64(&total, s)
	done.Done()
}

func main() {
	step, _ := strconv.Atoi(os.Args[1])
	var done sync.WaitGroup
	for i := 0; i < n; i += step {
		done.Add(1)
		go piece(i, i+step, &done)
		if i/step%1000 == 999 {
			done.Wait()
		}
	}
	done.Wait()
	fmt.Println(total)
}
