// SPDX-License-Identifier: GPL-2.0-only

// Numbers through a channel; the argument is how many a message has.
package main

import (
	"fmt"
	"os"
	"strconv"
)

const n = 6000000

func produce(c chan []int, step int) {
	for i := 0; i < n; i += step {
		message := make([]int, step)
		for k := range message {
			message[k] = (i + k) * 7 % 1000
		}
		c <- message
	}
	close(c)
}

func main() {
	step, _ := strconv.Atoi(os.Args[1])
	c := make(chan []int, 16)
	sum := 0
	go produce(c, step)
	for message := range c {
		for _, value := range message {
			sum += value
		}
	}
	fmt.Println(sum)
}
