// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/test/fixture"
)

// eventually waits until check finds nothing wrong, and returns how long that took.
func eventually(t *testing.T, what string, check func(context.Context) error) time.Duration {
	t.Helper()
	begin := time.Now()
	if err := fixture.Await(t.Context(), patience, check); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	took := time.Since(begin).Round(100 * time.Millisecond)
	if took > time.Second {
		t.Logf("%s: after %v", what, took)
	}
	return took
}

// afterwards is the context of a cleanup, when that of the test has ended.
func afterwards(t *testing.T) context.Context { return context.WithoutCancel(t.Context()) }

// sees waits until the hub's answer for pods is as described.
func (e *env) sees(t *testing.T, what, path string, right func(view) error) view {
	t.Helper()
	hub := config(t, e.Hub())
	var v view
	eventually(t, what, func(ctx context.Context) (err error) {
		if v, err = see(ctx, hub, path); err != nil {
			return err
		}
		return right(v)
	})
	return v
}

// awaitWhole returns when all members answer all questions.
func (e *env) awaitWhole(t *testing.T) {
	t.Helper()
	for _, path := range []string{shopPath, allPath} {
		e.sees(t, "the fleet is whole at "+path, path, isWhole)
	}
	for path, want := range map[string][]string{
		serviceMetric(presence):  {"web 3"},
		externalMetric(presence): {"of=member1 1", "of=member2 1", "of=member3 1"},
	} {
		e.hears(t, "the fleet is whole at "+path, path, whollyTells(want...))
	}
}

// allMembers are the names of those that every test begins with.
func allMembers() []string { return []string{"member1", "member2", "member3"} }

// isWhole wants the pods of all members, and no complaint.
func isWhole(v view) error {
	if v.Warning != "" || len(v.Coverage.Silent) > 0 {
		return fmt.Errorf("coverage %q, warning %q", v.Coverage.Header(), v.Warning)
	}
	return hasPods(v, allMembers()...)
}

// hasPods wants the pods of these members and of no other.
func hasPods(v view, members ...string) error {
	if v.Code != 200 {
		return fmt.Errorf("%d: %s", v.Code, v.Message)
	}
	if want := podsOf(members...); !slices.Equal(v.Pods, want) {
		return fmt.Errorf("pods are %v, want %v", v.Pods, want)
	}
	return nil
}

// lacks wants the pods of all members but one, and that one's reason said to
// people and to machines.
func lacks(member, reason string) func(view) error {
	return func(v view) error {
		others := slices.DeleteFunc(allMembers(), func(name string) bool { return name == member })
		if err := hasPods(v, others...); err != nil {
			return err
		}
		if want := "1 of 3 clusters did not answer: " + member + " (" + reason; !strings.Contains(v.Warning, want) {
			return fmt.Errorf("the warning is %q, want %q in it", v.Warning, want)
		}
		want := "answered=" + strings.Join(others, ",") + ";silent=" + member + ":" + reason
		if got := v.Coverage.Header(); got != want {
			return fmt.Errorf("the coverage is %q, want %q", got, want)
		}
		return nil
	}
}

const shownLog = 4000

// showLog prints the end of the adapter's log.
func (e *env) showLog(t *testing.T) {
	data, err := os.ReadFile(e.adapter.Log)
	if err != nil {
		t.Log(err)
		return
	}
	t.Logf("the end of %s:\n%s", e.adapter.Log, data[max(0, len(data)-shownLog):])
}
