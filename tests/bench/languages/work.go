// SPDX-License-Identifier: GPL-2.0-only

// As work.py says.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

const size, pieces = 20000, 100

//go:noinline
func burn(x uint64) uint64 {
	for i := 0; i < size; i++ {
		x = x*6364136223846793005 + 1442695040888963407
		x ^= x >> 29
	}
	return x
}

//go:noinline
func parse(n int) (sum uint64) {
	for i := 0; i < n; i++ {
		sum += burn(uint64(i))
	}
	return sum
}

var mutex sync.Mutex
var total uint64

//go:noinline
func update(x uint64) {
	mutex.Lock()
	total += burn(burn(burn(x)))
	mutex.Unlock()
}

//go:noinline
func compute(n int) (sum uint64) {
	for i := 0; i < n; i++ {
		sum += burn(uint64(i))
	}
	return sum
}

func both(work func()) {
	var group sync.WaitGroup
	for i := 0; i < 2; i++ {
		group.Add(1)
		go func() { work(); group.Done() }()
	}
	group.Wait()
}

func main() {
	times := 200
	if len(os.Args) > 2 {
		times, _ = strconv.Atoi(os.Args[2])
	}
	switch os.Args[1] {
	case "serial":
		fmt.Println(parse(times * pieces))
		both(func() { compute(times * pieces) })
	case "serial-fixed":
		both(func() { parse(times * pieces / 2) })
		both(func() { compute(times * pieces) })
	case "lock":
		both(func() {
			for i := 0; i < times*pieces/2; i++ {
				update(burn(uint64(i)))
			}
		})
	case "lock-fixed":
		both(func() {
			var own uint64
			for i := 0; i < times*pieces/2; i++ {
				own += burn(burn(burn(burn(uint64(i)))))
			}
			mutex.Lock()
			total += own
			mutex.Unlock()
		})
	case "balanced":
		both(func() { compute(2 * times * pieces) })
	}
}
