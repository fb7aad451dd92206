// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// said is what a show prints; each line is told as soon as it is whole.
type said struct {
	mu    sync.Mutex
	text  bytes.Buffer
	heard func(soFar string)
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	if s.heard != nil {
		s.heard(s.text.String())
	}
	return len(p), nil
}

// The show checks what it shows; this holds that it shows all of it, in order, without Kubernetes.
func TestSimulatedFleetIsShown(t *testing.T) {
	compiled, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(compiled)))
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // without what an earlier lab has built
	out := &said{}
	if err := run(t.Context(), out, simulated); err != nil {
		t.Fatalf("%v\n%s", err, out.text.String())
	}
	text := out.text.String()
	t.Log(text)
	rest := text
	for _, want := range []string{
		"built metrics-adapter in", "built kubectl-fleetscale in",
		"$ kubectl fleetscale top pods -n shop", "east", "This first answer came",
		"3 ready", "Fleetscale-Coverage: answered=east,north,west\n",
		"built controller-manager in", "it is Limited",
		"Warning: 1 of 3 clusters did not answer: west", "Fleetscale-Coverage: answered=east,north;silent=west:Timeout\n", "Silent",
		"it is Held", "That was all, in", "All processes have ended",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q is not shown, or too early", want)
		}
		rest = after
	}
	if strings.Contains(text, "kube-apiserver") {
		t.Error("Kubernetes is built")
	}
	leavesNothing(t, text)
}

func TestSimulatedFleetMayBeInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out := &said{heard: func(soFar string) {
		if strings.Contains(soFar, "This first answer came") { // a program runs, and the next is built
			interrupt()
		}
	}}
	if err := run(ctx, out, simulated); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v, want that it was interrupted", err)
	}
	leavesNothing(t, out.text.String())
}

var livesIn = regexp.MustCompile(`Everything lives in (\S+) and is deleted`)

// leavesNothing checks that the folder of a show is gone, and that no process runs that was started with a file of it.
func leavesNothing(t *testing.T, text string) {
	t.Helper()
	match := livesIn.FindStringSubmatch(text)
	if match == nil {
		t.Fatalf("it does not say where everything lives:\n%s", text)
	}
	if _, err := os.Stat(match[1]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", match[1], err)
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range lines {
		if line, err := os.ReadFile(file); err == nil && bytes.Contains(line, []byte(match[1])) {
			t.Errorf("a process is left: %q", line)
		}
	}
}
