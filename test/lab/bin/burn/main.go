// SPDX-License-Identifier: Apache-2.0

// Command burn uses as much CPU and memory as it is told, until it is told to end.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	cpu := flag.Int("cpu", 0, "thousandths of a core to use")
	memory := flag.Int("memory", 0, "MiB of memory to use")
	after := flag.Duration("after", 0, "time before which no memory is used")
	flag.Parse()
	if flag.NArg() > 0 || *cpu < 0 || *memory < 0 {
		fmt.Fprintln(os.Stderr, "usage: burn [--cpu MILLICORES] [--memory MIB] [--after DURATION]")
		os.Exit(2)
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	for left := *cpu; left > 0; left -= 1000 {
		go burn(min(left, 1000))
	}
	select {
	case <-end:
		return
	case <-time.After(*after):
	}
	held := take(*memory)
	<-end
	fmt.Println("used MiB:", len(held)) // so that what is held is not freed before
}

// period is short beside those in which limits and metrics are counted.
const period = 20 * time.Millisecond

// burn uses so many thousandths of a core.
func burn(share int) {
	for range time.Tick(period) {
		for begin := time.Now(); time.Since(begin) < period*time.Duration(share)/1000; {
		}
	}
}

const mib = 1 << 20

// take writes to every page, since others are not counted.
func take(n int) [][]byte {
	held := make([][]byte, n)
	for i := range held {
		held[i] = make([]byte, mib)
		for at := 0; at < mib; at += os.Getpagesize() {
			held[i][at] = 1
		}
	}
	return held
}
