// SPDX-License-Identifier: Apache-2.0

// Package build compiles the programs of a lab from Go modules, once, and keeps
// them in the user's cache.
package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/fleetscale/fleetscale/test/lab/internal/filelock"
)

// Group is programs that are built together, and kept in a folder of their own.
type Group struct {
	module  string // folder of the module whose versions are built, from test/; empty for test/ itself
	steps   []step
	tests   []step   // of packages whose tests become a program each
	sources []string // folders below lab/ that the programs are made of, beside modules of others
	first   string   // how long a build takes on two cores where Go's cache is empty, for people
}

// A step is one run of the compiler.
type step struct {
	programs []string // that come out of it, for people
	packages []string
	flags    []string
	links    map[string][]string // further names of a program that does several jobs
}

// kubernetesFlags are those of the version that test/go.mod requires.
var kubernetesFlags = flagsOf("v1.37.1")

// Clusters are the programs that every lab needs.
func Clusters() Group {
	kube := []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"}
	return Group{
		steps: []step{{
			programs: kube,
			packages: []string{"./lab/bin/kube"},
			flags:    kubernetesFlags,
			links:    map[string][]string{"kube": kube},
		}, {
			programs: []string{"etcd", "kwok", "metrics-server", "test-adapter", "keeper"},
			packages: []string{
				"./lab/bin/etcd", "./lab/bin/test-adapter", "./lab/bin/keeper",
				"sigs.k8s.io/kwok/cmd/kwok", "sigs.k8s.io/metrics-server/cmd/metrics-server",
			},
			flags: []string{"-ldflags", "-s -w"},
		}},
		sources: []string{"bin/kube", "bin/etcd", "bin/test-adapter", "bin/keeper", "internal/process", "internal/filelock"},
		first:   "eight minutes",
	}
}

// Keeper is the program that ends a lab with its owner: all that a lab without clusters needs.
func Keeper() Group {
	return Group{
		steps: []step{{
			programs: []string{"keeper"}, packages: []string{"./lab/bin/keeper"}, flags: []string{"-ldflags", "-s -w"},
		}},
		sources: []string{"bin/keeper", "internal/process", "internal/filelock"},
		first:   "half a minute",
	}
}

// Nodes are the programs of real nodes.
func Nodes() Group {
	return Group{
		steps: []step{{
			programs: []string{"kubelet", "kube-proxy"},
			packages: []string{"./lab/bin/kubelet"},
			flags:    append([]string{"-tags", "realnode"}, kubernetesFlags...),
			links:    map[string][]string{"kubelet": {"kube-proxy"}},
		}, {
			programs: []string{"machine", "pause", "burn"},
			packages: []string{"./lab/bin/machine", "./lab/bin/pause", "./lab/bin/burn"},
			flags:    []string{"-ldflags", "-s -w"},
		}},
		sources: []string{"bin/kubelet", "bin/machine", "bin/pause", "bin/burn", "internal/image", "internal/cgroup"},
		first:   "eight minutes",
	}
}

// Programs returns the folder that holds the programs of a group, building them
// first if this version of them is not there yet. Of several callers one
// builds; an interrupted build leaves nothing behind but what Go's own cache
// kept of it.
func Programs(ctx context.Context, g Group, log io.Writer) (string, error) {
	dir, module, err := g.locate()
	if err != nil {
		return "", err
	}
	if complete(dir) {
		return dir, nil
	}
	unlock, err := waitForTurn(ctx, dir+".lock", log)
	if err != nil {
		return "", err
	}
	defer unlock()
	if complete(dir) {
		return dir, nil
	}
	return dir, into(ctx, dir, g, builder{module: module, log: log, first: g.first})
}

// Ours compiles programs of this checkout, by their folders in cmd/, into dir: each time, as Go's cache is all that is kept of them.
func Ours(ctx context.Context, dir string, log io.Writer, programs ...string) error {
	tests, err := moduleDir()
	if err != nil {
		return err
	}
	return ours(ctx, builder{module: filepath.Dir(tests), log: log, first: "two minutes"}, dir, programs)
}

// Former is Ours for the checkout of another version, with the modules that it requires, into its bin/.
func Former(ctx context.Context, checkout string, log io.Writer, programs ...string) error {
	b := builder{module: checkout, log: log, first: "three minutes"}
	return ours(ctx, b, filepath.Join(checkout, "bin"), programs)
}

func ours(ctx context.Context, b builder, dir string, programs []string) error {
	s := step{programs: programs, flags: []string{"-ldflags", "-s -w"}}
	for _, name := range programs {
		s.packages = append(s.packages, "./cmd/"+name)
	}
	return b.run(ctx, s, dir, ofPrograms)
}

// Built reports whether this version of the programs of a group is there.
func Built(g Group) bool {
	dir, _, err := g.locate()
	return err == nil && complete(dir)
}

// locate returns the folder for the programs of a group, and that of the module they are built in.
func (g Group) locate() (dir, module string, err error) {
	tests, err := moduleDir()
	if err != nil {
		return "", "", err
	}
	module = filepath.Join(tests, g.module)
	key, err := cacheKey(tests, module, g)
	if err != nil {
		return "", "", err
	}
	root, err := cacheRoot()
	return filepath.Join(root, key), module, err
}

// cacheRoot is $XDG_CACHE_HOME/fleetscale/lab, or the platform's equivalent.
func cacheRoot() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache for the lab's programs (set XDG_CACHE_HOME): %w", err)
	}
	return filepath.Join(cache, "fleetscale", "lab"), nil
}

// complete holds for a folder that into has finished: it appears as a whole.
func complete(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

const turnInterval = 200 * time.Millisecond

func waitForTurn(ctx context.Context, lock string, log io.Writer) (unlock func(), err error) {
	said := false
	for {
		unlock, err := filelock.TryLock(lock)
		if !errors.Is(err, filelock.ErrHeld) {
			return unlock, err
		}
		if !said {
			said = true
			fmt.Fprintln(log, "waiting for another process that builds the lab's programs")
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for another process that builds the lab's programs: %w", context.Cause(ctx))
		case <-time.After(turnInterval):
		}
	}
}

// into builds beside dir and moves the result there in one step. The caller
// holds the lock, so whatever an earlier builder left half done is nobody's.
func into(ctx context.Context, dir string, g Group, b builder) error {
	partial := dir + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return fmt.Errorf("clearing an unfinished build: %w", err)
	}
	if err := os.MkdirAll(partial, 0o755); err != nil {
		return fmt.Errorf("creating the cache for the lab's programs: %w", err)
	}
	err := b.runAll(ctx, g.steps, partial, ofPrograms)
	if err == nil {
		err = b.runAll(ctx, g.tests, partial, ofTests)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(partial))
	}
	if err := os.Rename(partial, dir); err != nil {
		return fmt.Errorf("storing the lab's programs: %w", err)
	}
	return nil
}

func link(dir string, links map[string][]string) error {
	for program, names := range links {
		for _, name := range names {
			if err := os.Symlink(program, filepath.Join(dir, name)); err != nil {
				return fmt.Errorf("naming %s: %w", name, err)
			}
		}
	}
	return nil
}
