// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/test/lab/internal/filelock"
)

func TestTheSourcesAreFound(t *testing.T) {
	dir, err := moduleDir()
	if err != nil {
		t.Fatalf("moduleDir: %v", err)
	}
	for _, g := range []Group{Clusters(), Nodes(), Keeper()} {
		for _, s := range g.steps {
			for _, pkg := range s.packages {
				source, ours := strings.CutPrefix(pkg, "./lab/")
				if !ours {
					continue
				}
				if _, err := os.Stat(filepath.Join(dir, pkg, "main.go")); err != nil {
					t.Errorf("package %s: %v", pkg, err)
				}
				if !slices.Contains(g.sources, source) {
					t.Errorf("%s is built, and a change of it is not noticed: it is none of %q", source, g.sources)
				}
			}
		}
	}
}

// module is a small image of this module, with what goes into the cache's key.
func module(t *testing.T, changed map[string]string) string {
	t.Helper()
	files := map[string]string{
		"go.mod": "module " + modulePath +
			"\nrequire k8s.io/kubernetes v1.37.1\nrequire github.com/fleetscale/fleetscale v0.0.0\n",
		"lab/bin/kube/main.go":                   "package main",
		"lab/internal/process/process.go":        "package process",
		"lab/internal/filelock/filelock.go":      "package filelock",
		"lab/internal/filelock/filelock_test.go": "package filelock",
	}
	dir := t.TempDir()
	for name, content := range files {
		if other, ok := changed[name]; ok {
			content = other
		}
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTheCacheKeyChangesWithWhatIsBuilt(t *testing.T) {
	tests := map[string]struct {
		file, content string
		want          bool
	}{
		"another version of a module": {"go.mod", "module " + modulePath + "\nrequire k8s.io/kubernetes v1.37.0\n", true},
		"a module in another's place": {"go.mod",
			"module " + modulePath + "\nrequire k8s.io/kubernetes v1.37.1\nreplace k8s.io/api => k8s.io/api v0.37.1\n", true},
		"without our own modules": {"go.mod", "module " + modulePath + "\n\nrequire k8s.io/kubernetes v1.37.1 // indirect\n", false},
		"another main":            {"lab/bin/kube/main.go", "package main // new", true},
		"another keeper":          {"lab/internal/process/process.go", "package process // new", true},
		"another test":            {"lab/internal/filelock/filelock_test.go", "package filelock // new", false},
	}
	g := Group{steps: Clusters().steps, sources: []string{"bin/kube", "internal/process", "internal/filelock"}}
	first := module(t, nil)
	before, err := cacheKey(first, first, g)
	if err != nil {
		t.Fatalf("cacheKey: %v", err)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			changed := module(t, map[string]string{tc.file: tc.content})
			after, err := cacheKey(changed, changed, g)
			if err != nil {
				t.Fatalf("cacheKey: %v", err)
			}
			if got := after != before; got != tc.want {
				t.Errorf("key %s became %s: changed = %v, want %v", before, after, got, tc.want)
			}
		})
	}
}

func TestTheCacheKeyIsOfTheModuleThatIsBuilt(t *testing.T) {
	const other = "go.mod"
	first, second := module(t, map[string]string{other: "module " + modulePath + "/other\nrequire example.com/a v1.0.0\n"}),
		module(t, map[string]string{other: "module " + modulePath + "/other\nrequire example.com/a v1.0.1\n"})
	g := Group{steps: Karmada().steps}
	one, err := cacheKey(t.TempDir(), first, g)
	if err != nil {
		t.Fatalf("cacheKey: %v", err)
	}
	two, err := cacheKey(t.TempDir(), second, g)
	if err != nil {
		t.Fatalf("cacheKey: %v", err)
	}
	if one == two {
		t.Errorf("two versions of a module have one key, %s", one)
	}
}

func TestAFailedBuildLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "key")
	leftover := filepath.Join(dir+".partial", "leftover")
	if err := os.MkdirAll(leftover, 0o755); err != nil {
		t.Fatal(err)
	}
	err := into(t.Context(), dir, Clusters(), builder{module: t.TempDir(), log: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "go.mod file not found") {
		t.Errorf("building outside of a module: error = %v", err)
	}
	for _, path := range []string{dir, dir + ".partial"} {
		if complete(path) {
			t.Errorf("%s is there", path)
		}
	}
}

func TestOnlyOneBuilds(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "key.lock")
	unlock, err := filelock.Lock(lock)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancelCause(t.Context())
	said := writerFunc(func(p []byte) (int, error) {
		cancel(errors.New("interrupted")) // it waits: that is all we want to know
		return len(p), nil
	})
	_, err = waitForTurn(ctx, lock, said)
	const want = "waiting for another process that builds the lab's programs: interrupted"
	if err == nil || err.Error() != want {
		t.Errorf("waitForTurn: error = %v, want %s", err, want)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestEveryProgramIsMade(t *testing.T) {
	tests := map[string]struct {
		group Group
		want  []string
	}{
		"of clusters": {Clusters(), []string{"etcd", "keeper", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok",
			"metrics-server", "test-adapter"}},
		"of cert-manager": {CertManager(), []string{"certmanager"}},
		"of nodes":        {Nodes(), []string{"burn", "kube-proxy", "kubelet", "machine", "pause"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range tc.group.steps {
				got = append(got, s.programs...)
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("programs (-want +got):\n%s", diff)
			}
		})
	}
}
