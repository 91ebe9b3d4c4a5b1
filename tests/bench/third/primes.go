// SPDX-License-Identifier: GPL-2.0-only

// Two goroutines that compute.
package main

import (
	"fmt"
	"sync"
)

func primes(from, until int) int {
	n := 0
	for i := from; i < until; i++ {
		prime := i > 1
		for k := 2; k*k <= i && prime; k++ {
			prime = i%k != 0
		}
		if prime {
			n++
		}
	}
	return n
}

func main() {
	var done sync.WaitGroup
	var found [2]int
	for i := range found {
		done.Add(1)
		go func() {
			defer done.Done()
			found[i] = primes(i*1300000, (i+1)*1300000)
		}()
	}
	done.Wait()
	fmt.Println(found[0] + found[1])
}
