// SPDX-License-Identifier: GPL-2.0-only

// Goroutines, maps, sorting and garbage, for ever.
package main

import (
	"fmt"
	"sort"
	"strings"
)

//go:noinline
func turn(seed int) int {
	words := map[string]int{}
	for i := 0; i < 500; i++ {
		words[fmt.Sprintf("%x", i*seed*7919)] += i
	}
	keys := []string{}
	for key := range words {
		keys = append(keys, strings.ToUpper(key))
	}
	sort.Strings(keys)
	return len(keys[0])
}

func main() {
	for seed := 1; seed < 4; seed++ {
		go func(seed int) {
			for {
				turn(seed)
			}
		}(seed)
	}
	select {}
}
