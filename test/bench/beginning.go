// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// beginning of an experiment.
type beginning struct {
	at time.Time
	// machine is what it is, and whether others use it too.
	machine string
}

func begins() beginning {
	machine := fmt.Sprintf("%d cores, %s, %s/%s", runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if averages, err := os.ReadFile("/proc/loadavg"); err == nil { // Linux only
		last, _, _ := strings.Cut(string(averages), " ")
		machine += ", load of the last minute " + last
	}
	return beginning{time.Now(), machine}
}
