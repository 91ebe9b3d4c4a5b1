// SPDX-License-Identifier: GPL-2.0-only

// goroutines: four of them that one mutex makes work one at a time, in whatever threads the runtime has.
package main

import (
	"sync"
	"time"
)

var mutex sync.Mutex
var sink int64

//go:noinline
func burn(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		sink++
	}
}

func worker(group *sync.WaitGroup) {
	for i := 0; i < 60; i++ {
		mutex.Lock()
		burn(5 * time.Millisecond)
		mutex.Unlock()
	}
	group.Done()
}

func main() {
	var group sync.WaitGroup
	for i := 0; i < 4; i++ {
		group.Add(1)
		go worker(&group)
	}
	group.Wait()
}
