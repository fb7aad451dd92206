// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	patience = 3 * time.Minute
	system   = "fleetscale-system"
	shop     = "shop"
	member   = "member1"
	second   = "member2"
)

// stage is a hub and members with real nodes, on which nothing is installed.
type stage struct {
	*lab.Lab
	release
}

func setUp(t *testing.T, hub lab.Hub, members ...string) *stage {
	t.Helper()
	if testing.Short() {
		t.Skip("it makes a release first, and takes minutes: make test-node runs it, and so does make test-full")
	}
	skip, err := fixture.NoRealNode()
	if err != nil {
		t.Fatal(err)
	}
	if skip != "" {
		t.Skip(skip)
	}
	r := makeRelease(t)
	var images []string
	for _, program := range programs() {
		images = append(images, r.image(program))
	}
	hub.Workloads, hub.Images = true, images
	o := lab.Options{Dir: t.TempDir(), Log: os.Stderr, MetricResolution: 10 * time.Second, Hub: hub}
	for _, name := range members {
		o.Members = append(o.Members, lab.Member{Name: name, RealNodes: 1, WithoutTestAdapter: true})
	}
	l, err := lab.Up(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Down(); err != nil {
			t.Error(err)
		}
	})
	s := &stage{Lab: l, release: r}
	for _, c := range s.clusters() {
		s.kubectl(t, "--context", c.Name, "create", "namespace", shop)
	}
	return s
}

// clusters are the hub and the members.
func (s *stage) clusters() []*lab.Cluster { return append([]*lab.Cluster{s.Hub()}, s.Members()...) }

// kubectl returns what it prints.
func (s *stage) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	said, err := s.try(t.Context(), "", args...)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

// try is kubectl, with the plugin on the PATH, and something on the standard input.
func (s *stage) try(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := s.Kubectl(ctx, args...)
	cmd.Env = append(cmd.Env,
		"PATH="+s.plugin+string(os.PathListSeparator)+os.Getenv("PATH"),
		// What kubectl remembers of a server must not outlive it: the next lab may have its port.
		"KUBECACHEDIR="+filepath.Join(s.Dir(), "clusters", "kubectl-cache"))
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// await is kubectl until check finds nothing wrong with what it prints.
func (s *stage) await(t *testing.T, check func(said string) error, args ...string) {
	t.Helper()
	err := fixture.Await(t.Context(), patience, func(ctx context.Context) error {
		said, err := s.try(ctx, "", args...)
		if err != nil {
			return err
		}
		return check(said)
	})
	if err != nil {
		t.Fatalf("kubectl %s: %v", strings.Join(args, " "), err)
	}
}

// contains checks that something is told of.
func contains(want ...string) func(string) error {
	return func(said string) error {
		for _, w := range want {
			if !strings.Contains(said, w) {
				return fmt.Errorf("there is no %q in:\n%s", w, said)
			}
		}
		return nil
	}
}
