// SPDX-License-Identifier: Apache-2.0

package karmadahub_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/test/lab"
)

// TestKarmadasOwn runs Karmada's own end-to-end tests of FederatedHPA, CronFederatedHPA and "karmadactl top", as they are: in place of
// its controllers and its metrics adapter there are ours. It takes some ten minutes, most of which is the minute of cron.
func TestKarmadasOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("only in the long form: make test-full PARTS=karmadahub")
	}
	e := started(t)
	programs, err := lab.BuildKarmadaTests(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir() // karmadactl is expected in $GOPATH/bin
	if err := os.Symlink(programs, filepath.Join(home, "bin")); err != nil {
		t.Fatal(err)
	}
	pull, err := e.Cluster(pullMember)
	if err != nil {
		t.Fatal(err)
	}
	e.pressAsJobsDo(t)
	tests := exec.CommandContext(t.Context(), filepath.Join(programs, "base.test"), "-test.timeout=50m",
		"-ginkgo.focus=FederatedHPA|Karmadactl top", "-ginkgo.fail-on-empty", "-ginkgo.v", "-ginkgo.no-color",
		"-karmada-context=hub", "-host-context=member1")
	tests.Dir, tests.Stdout, tests.Stderr = home, t.Output(), t.Output()
	tests.Env = append(os.Environ(), "KUBECONFIG="+e.Kubeconfig(), "GOPATH="+home, "PULL_BASED_CLUSTERS="+pullMember+":"+pull.Kubeconfig)
	if err := tests.Run(); err != nil {
		t.Errorf("the tests of Karmada: %v", err)
	}
}

// What the containers of these tests use of CPU: they may use 10m, and are to use a tenth of that.
const (
	calmUsage    = "1m"
	pressedUsage = "8m"
)

// pressAsJobsDo has all Pods be busy while a Job is on the hub: the tests put one there that would press them, if it ran.
func (e *env) pressAsJobsDo(t *testing.T) {
	t.Helper()
	if err := e.use(t.Context(), calmUsage); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for now := calmUsage; ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			jobs, err := e.clients["hub"].BatchV1().Jobs(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
			if err != nil {
				continue // it is asked again
			}
			next := calmUsage
			if len(jobs.Items) > 0 {
				next = pressedUsage
			}
			if next != now && e.use(ctx, next) == nil {
				now = next
			}
		}
	}()
}

// use sets what each container of all members uses.
func (e *env) use(ctx context.Context, cpu string) error {
	for _, member := range e.Members() {
		if err := member.SetUsage(ctx, lab.Usage{CPU: new(resource.MustParse(cpu))}); err != nil {
			return err
		}
	}
	return nil
}
