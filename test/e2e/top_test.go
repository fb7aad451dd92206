// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// rows are the lines of a table, without header and padding, in order.
func rows(table string) []string {
	var all []string
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) > 0 && !strings.HasPrefix(fields[0], "NAME") && fields[0] != "POD" {
			all = append(all, strings.Join(fields, " "))
		}
	}
	slices.Sort(all)
	return all
}

// firsts are the first n columns of a table.
func firsts(table string, n int) []string {
	var all []string
	for _, row := range rows(table) {
		all = append(all, strings.Join(strings.Fields(row)[:n], " "))
	}
	return all
}

func TestTopPods(t *testing.T) {
	e := whole(t)
	everything := []string{
		"cart", "cart", "cart", "only-member1", "only-member2", "only-member3",
		"web-0", "web-0", "web-0", "web-1", "web-1", "web-1",
	}
	for name, tc := range map[string]struct {
		args    string
		columns int
		want    []string
	}{
		"of a namespace": {args: "-n shop", columns: 1, want: everything},
		"by label":       {args: "-n shop -l app=web", columns: 1, want: everything[6:]},
		"by name":        {args: "-n shop only-member2", columns: 1, want: []string{"only-member2"}},
		"by cluster": {args: "-n shop -l fleetscale.io/cluster=member3", columns: 1,
			want: []string{"cart", "only-member3", "web-0", "web-1"}},
		"of all namespaces": {args: "-A -l app=only", columns: 2,
			want: []string{"shop only-member1", "shop only-member2", "shop only-member3"}},
		"containers of a selector": {args: "-n shop --containers -l app=cart,fleetscale.io/cluster=member1", columns: 2,
			want: []string{"cart cart", "cart proxy"}},
	} {
		t.Run(name, func(t *testing.T) {
			said := e.kubectl(t, append([]string{"top", "pods"}, strings.Fields(tc.args)...)...)
			fleettest.Same(t, fmt.Sprintf("kubectl top pods %s", tc.args), tc.want, firsts(said.Stdout, tc.columns))
			if said.Stderr != "" {
				t.Errorf("kubectl top pods %s complains: %s", tc.args, said.Stderr)
			}
		})
	}
}

// The plugin tells the cluster of each, and sums of clusters.
func TestTopWithClusters(t *testing.T) {
	e := whole(t)
	said, err := e.Fleetscale(t.Context(), "top", "pods", "-n", shop, "-l", "app=only")
	if err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, "pods", []string{"only-member1 member1", "only-member2 member2", "only-member3 member3"}, firsts(said.Stdout, 2))
	if said, err = e.Fleetscale(t.Context(), "top", "pods", "-n", shop, "--by-cluster"); err != nil {
		t.Fatal(err)
	}
	want := []string{"(all) 12", "CLUSTER PODS", "member1 4", "member2 4", "member3 4"}
	fleettest.Same(t, "sums", want, firsts(said.Stdout, 2))
}

// To have no pods is an answer.
func TestTopPodsOfAnEmptyNamespace(t *testing.T) {
	e := whole(t)
	said := e.kubectl(t, "top", "pods", "-n", "nowhere")
	if want := "No resources found in nowhere namespace.\n"; said.Stderr != want || said.Stdout != "" {
		t.Errorf("kubectl says %q and %q, want %q", said.Stderr, said.Stdout, want)
	}
	if got, want := e.query(t, v1beta1+"/namespaces/nowhere/pods").Coverage.Header(), "answered=member1,member2,member3"; got != want {
		t.Errorf("the coverage is %q, want %q", got, want)
	}
}

// The hub tells what each member's own kubectl top tells.
func TestTopShowsTheFiguresOfTheMembers(t *testing.T) {
	e := whole(t)
	for name, args := range map[string][]string{
		"pods":       {"top", "pods", "-n", shop},
		"containers": {"top", "pods", "-n", shop, "--containers"},
		"nodes":      {"top", "nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			// A member may measure again between two questions.
			eventually(t, "the figures are equal", func(ctx context.Context) error {
				said, err := e.Ask(ctx, args...)
				if err != nil {
					return err
				}
				var theirs []string
				for _, member := range allMembers() {
					own, err := e.Ask(ctx, append([]string{"--context", member}, args...)...)
					if err != nil {
						return err
					}
					theirs = append(theirs, rows(own.Stdout)...)
				}
				slices.Sort(theirs)
				if diff := cmp.Diff(withoutPercents(theirs), withoutPercents(rows(said.Stdout))); diff != "" {
					return fmt.Errorf("the members' (-), the hub's (+):\n%s", diff)
				}
				return nil
			})
		})
	}
}

// withoutPercents leaves out what kubectl computes from Nodes: those of the
// members are not on the hub, and those of the hub are not in this fleet.
func withoutPercents(rows []string) []string {
	var all []string
	for _, row := range rows {
		fields := strings.Fields(row)
		fields = slices.DeleteFunc(fields, func(f string) bool { return strings.HasSuffix(f, "%") })
		if !strings.Contains(row, "<unknown>") {
			all = append(all, strings.Join(fields, " "))
		}
	}
	return all
}
