// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fleetscale/fleetscale/test/lab/internal/build"
	"github.com/fleetscale/fleetscale/test/lab/internal/process"
)

// Up starts a lab and returns when all of it answers: every API server, every
// aggregated API, and metrics of every node. That takes half a minute, and some
// minutes more the first time, when the programs are built. If it fails, or ctx
// ends meanwhile, nothing is left running.
//
// The lab ends with this process, however that ends, unless Release was called.
func Up(ctx context.Context, o Options) (*Lab, error) {
	l, o, err := begin(ctx, o, build.Clusters())
	if err != nil {
		return nil, err
	}
	if err := l.up(ctx, o); err != nil {
		return nil, errors.Join(err, l.Down())
	}
	return l, nil
}

// Bare starts a lab without clusters, in which programs run that need none: a moment instead of half a minute, and nothing of
// Kubernetes is built. There is no Hub to ask for, and no kubectl.
func Bare(ctx context.Context, dir string, log io.Writer) (*Lab, error) {
	l, _, err := begin(ctx, Options{Dir: dir, Log: log}, build.Keeper())
	return l, err
}

func begin(ctx context.Context, o Options, needed build.Group) (*Lab, Options, error) {
	o, err := o.complete()
	if err != nil {
		return nil, o, err
	}
	programs, err := build.Programs(ctx, needed, o.Log)
	if err != nil {
		return nil, o, err
	}
	l, err := prepare(o, programs)
	return l, o, err
}

// prepare makes the lab's folder, empty of what an earlier lab left, and binds
// what will run to the life of this process.
func prepare(o Options, programs string) (*Lab, error) {
	if err := checkDir(o.Dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("creating the lab's folder: %w", err)
	}
	l := &Lab{dir: o.Dir, table: process.Open(o.Dir)}
	if err := l.table.Create(); err != nil {
		return nil, fmt.Errorf("a lab is up in %s; end it with \"lab down --dir %s\", or choose another folder: %w", o.Dir, o.Dir, err)
	}
	if err := l.clear(); err != nil {
		return nil, errors.Join(err, l.table.EndAll())
	}
	book, err := portBook()
	if err == nil {
		err = book.Release(l.table.Path()) // an earlier lab's in this folder
	}
	if err != nil {
		return nil, errors.Join(err, l.table.EndAll())
	}
	owner, err := own(o.Dir, filepath.Join(programs, "keeper"))
	if err != nil {
		return nil, errors.Join(err, l.table.EndAll())
	}
	l.owner = owner
	l.state = state{Programs: programs, MetricResolution: o.MetricResolution}
	return l, nil
}

// checkDir refuses a folder with files that are not a lab's: starting one
// deletes what the last one left.
func checkDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the lab's folder: %w", err)
	}
	for _, entry := range entries {
		if !slices.Contains(dirContents(), entry.Name()) {
			return fmt.Errorf("folder %s holds %s, which is no lab's; choose an empty folder, or one that does not exist yet", dir, entry.Name())
		}
	}
	return nil
}

func dirContents() []string {
	return []string{".gitignore", "bin", "clusters", "etcd", "kubeconfig", "lab.json", "lab.lock", "logs", "processes.json", "processes.lock"}
}

func (l *Lab) clear() error {
	var errs []error
	for _, name := range []string{"bin", "clusters", "etcd", "kubeconfig", "lab.json", "logs"} {
		errs = append(errs, os.RemoveAll(filepath.Join(l.dir, name)))
	}
	errs = append(errs,
		os.MkdirAll(filepath.Join(l.dir, "logs"), 0o755),
		os.WriteFile(filepath.Join(l.dir, ".gitignore"), []byte("*\n"), 0o644))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("clearing the lab's folder: %w", err)
	}
	return nil
}

func (l *Lab) up(ctx context.Context, o Options) error {
	begin := time.Now()
	if err := l.linkPrograms(); err != nil {
		return err
	}
	if err := l.startEtcd(ctx); err != nil {
		return err
	}
	plans := []plan{o.Hub.plan()}
	for _, member := range o.Members {
		plans = append(plans, member.plan())
	}
	clusters, err := l.bringUp(ctx, o.Log, plans...)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("starting the lab: %w", context.Cause(ctx))
		}
		return err
	}
	for _, c := range clusters {
		l.adopt(c)
		l.state.Clusters = append(l.state.Clusters, *c)
	}
	if o.Karmada != nil {
		if err := l.startKarmada(ctx, o); err != nil {
			return err
		}
	}
	if err := l.save(l.state); err != nil {
		return err
	}
	fmt.Fprintf(o.Log, "lab is up in %v: %s\n", since(begin), l.dir)
	return nil
}

func (l *Lab) save(s state) error {
	return errors.Join(mergeKubeconfigs(l.Kubeconfig(), s.Clusters), s.write(l.dir))
}

// linkPrograms puts the programs that people may want in reach.
func (l *Lab) linkPrograms() error {
	bin := filepath.Join(l.dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return fmt.Errorf("creating %s: %w", bin, err)
	}
	return os.Symlink(l.program("kubectl"), filepath.Join(bin, "kubectl"))
}
