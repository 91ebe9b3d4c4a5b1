// SPDX-License-Identifier: GPL-2.0-only

// creators: goroutines that run one procedure on behalf of others, for a processor time that is known. load starts two of them, serve
// one through a goroutine of its own, and main runs it itself. Prints truth WHO cpu_ns N, as tests/programs/truth.h does.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

var sink [4]int64

func threadTime() time.Duration {
	var t syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 3, uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano())
}

// Computes for a processor time of its thread.
//
//go:noinline
func burn(who int, d time.Duration) {
	runtime.LockOSThread()
	for end := threadTime() + d; threadTime() < end; {
		for i := int64(0); i < 100000; i++ {
			sink[who] += i
		}
	}
	runtime.UnlockOSThread()
}

func work(group *sync.WaitGroup, who int, d time.Duration) {
	burn(who, d)
	group.Done()
}

//go:noinline
func load(group *sync.WaitGroup) {
	group.Add(2)
	go work(group, 0, 200*time.Millisecond)
	go work(group, 1, 200*time.Millisecond)
}

func handle(group *sync.WaitGroup) {
	var inner sync.WaitGroup
	inner.Add(1)
	go work(&inner, 2, 300*time.Millisecond)
	inner.Wait()
	group.Done()
}

//go:noinline
func serve(group *sync.WaitGroup) {
	group.Add(1)
	go handle(group)
}

func main() {
	var group sync.WaitGroup
	load(&group)
	group.Wait()
	serve(&group)
	group.Wait()
	burn(3, 100*time.Millisecond)
	fmt.Println("truth main.load cpu_ns 400000000")
	fmt.Println("truth main.handle cpu_ns 300000000")
	fmt.Println("truth main.main cpu_ns 100000000")
}
