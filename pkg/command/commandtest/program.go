// SPDX-License-Identifier: Apache-2.0

package commandtest

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Version is what programs of Build say of themselves.
const Version = "v9.8.7-test"

// Build builds the program cmd/NAME whose package cmd/NAME/app is being tested,
// as who builds from an archive of the source does, and returns its path, which ends with NAME.
func Build(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	const flags = "-X github.com/fleetscale/fleetscale/pkg/version.release=" + Version
	path := filepath.Join(t.TempDir(), filepath.Base(folder))
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", flags, "-o", path, folder)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", folder, err, out)
	}
	return path
}

// Output returns what a program prints until it ends by itself, which is no
// error.
func Output(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", filepath.Base(program), args, err, out)
	}
	return string(out)
}

// Running is a program that runs until the test ends.
type Running struct {
	mu  sync.Mutex
	log bytes.Buffer
}

// Start starts a program.
func Start(t *testing.T, program string, args ...string) *Running {
	t.Helper()
	r := &Running{}
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = r, r
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("%s %v:\n%s", filepath.Base(program), args, r.Log())
		}
	})
	return r
}

// Write appends to the log.
func (r *Running) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(p)
}

// Log returns what the program has printed so far.
func (r *Running) Log() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

// Says waits until the log holds the words. What a program has printed before
// it answers may be read after the answer.
func (r *Running) Says(t *testing.T, words string) {
	t.Helper()
	if err := Await(t, func() bool { return strings.Contains(r.Log(), words) }); err != nil {
		t.Errorf("the log does not say %s: %v", words, err)
	}
}

// Get asks until the address answers with a text that holds the word, and
// returns that. Certificates are not verified.
func Get(t *testing.T, url, word string) (text string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	err := Await(t, func() bool {
		text = answer(t.Context(), client, url)
		return strings.Contains(text, word)
	})
	if err != nil {
		t.Fatalf("GET %s does not answer with %q: %v; it answers\n%s", url, word, err, text)
	}
	return text
}

// Await waits until a condition is true, for a minute at most.
func Await(t *testing.T, condition func() bool) error {
	t.Helper()
	return wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) { return condition(), nil })
}

func answer(ctx context.Context, client *http.Client, url string) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err.Error()
	}
	resp, err := client.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d\n%s", resp.StatusCode, body)
}

// FreePort is a port of this machine that nobody listens on.
func FreePort(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
