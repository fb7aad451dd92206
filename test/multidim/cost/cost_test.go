// SPDX-License-Identifier: Apache-2.0

package cost_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
	"github.com/fleetscale/fleetscale/test/sim"
)

const (
	// hourly is what each object asks of the hub besides, in an hour: its workload is read, its history is saved, and its status is
	// written.
	hourly = 3
	// unsure is what part of the reconciles may have been at another time: it takes a while to read how many there were.
	unsure = 20
	// reviewed is for how long the adapter remembers that somebody may ask for metrics of a namespace.
	reviewed = 10 * time.Second
	// probed is how often each of the programs asks a member something for itself, such as whether it is there.
	probed, programs = 5 * time.Second, 2
)

// A reconcile asks the hub once, what Pods use, and no member.
func TestRequestsOfAThousand(t *testing.T) {
	if testing.Short() {
		t.Skip("measuring a thousand objects on a real hub takes minutes: run `make test-full PARTS=multidim`")
	}
	s := raise(t)
	s.remember(t)
	program, err := fixture.Build(t.Context(), "controller-manager", t.TempDir(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	often := "--vertical-period=" + period.String()
	if s.controllers, err = s.StartControllers(t.Context(), s.Hub(), program, "controllers", often); err != nil {
		t.Fatal(err)
	}
	s.awaitReconciles(t, 4*objects) // the first ones write what is new
	s.areSized(t)
	memberFrom := s.members.Requests()
	begun := s.awaitReconciles(t, 4*objects)
	ended := s.awaitReconciles(t, begun.reconciles+6*objects)
	memberUntil := s.members.Requests()

	reconciles, took := ended.reconciles-begun.reconciles, ended.answers.Sub(begun.asked)
	t.Logf("%d reconciles of %d objects in %v", reconciles, objects, took.Round(time.Second))
	s.judgeHub(t, begun.asked, ended.answers, reconciles)
	judgeMembers(t, memberUntil.Since(memberFrom), took, reconciles)
	s.areSized(t)
}

// areSized is so if each object recommends, and those that give sizes have given them.
func (s *scene) areSized(t *testing.T) {
	t.Helper()
	var list v1alpha1.MultidimPodAutoscalerList
	if err := s.hub.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	counted := map[string]int{}
	for i := range list.Items {
		status := &list.Items[i].Status
		if meta.IsStatusConditionTrue(status.Conditions, v1alpha1.MultidimRecommendationProvided) {
			counted["recommended"]++
		}
		for _, c := range status.Clusters {
			counted[string(c.Admission)]++
			counted["pods"] += int(*c.Pods)
			if c.EvictedLastHour != nil {
				counted["evicted"] += int(*c.EvictedLastHour)
			}
		}
	}
	want := map[string]int{"recommended": objects, "pods": objects * members * pods, "evicted": 0,
		string(v1alpha1.AdmissionInstalled): objects / sizing * members, "": objects * members * (sizing - 1) / sizing}
	if !maps.Equal(counted, want) {
		t.Errorf("by the statuses: %v, want %v; %s says %+v", counted, want, list.Items[0].Name, list.Items[0].Status)
	}
	for _, m := range s.members.Members() {
		if n := given(t, m); n != objects/sizing {
			t.Errorf("%s: new Pods of %d workloads get a size, want %d", m.Name(), n, objects/sizing)
		}
	}
}

// judgeHub judges what the hub was asked, but for leases: by the controller-manager, and by the metrics adapter, which asks it who may
// ask.
func (s *scene) judgeHub(t *testing.T, from, until time.Time, reconciles int) {
	t.Helper()
	all, err := s.Hub().Requests()
	if err != nil {
		t.Fatal(err)
	}
	account := "system:serviceaccount:" + fixture.SystemNamespace + ":"
	counted, total := map[string]int{}, map[string]int{}
	for _, r := range all {
		if r.Begun.After(from) && r.Begun.Before(until) && r.Resource != "leases" {
			who := strings.TrimPrefix(r.User, account)
			total[who]++
			counted[who+": "+describe(r)]++
		}
	}
	logCounts(t, "requests to the hub", counted, reconciles)
	ours, adapter := total[fixture.ControllersAccount], total[fixture.AdapterService]
	t.Logf("requests to the hub per reconcile: %.3f; for these, by the adapter: %.3f", perOne(ours, reconciles), perOne(adapter, reconciles))
	questions := counted[fixture.ControllersAccount+": list pods.metrics.k8s.io"]
	if questions > reconciles+reconciles/unsure || questions < reconciles-reconciles/unsure {
		t.Errorf("%d questions for metrics in %d reconciles", questions, reconciles)
	}
	took := until.Sub(from)
	if bound := reconciles + reconciles/unsure + int(hourly*objects*took.Hours()); ours > bound {
		t.Errorf("%d requests in %d reconciles: more than one for each, and %d in an hour for each object", ours, reconciles, hourly)
	}
	if bound := namespaces*(1+int(took/reviewed)) + reconciles/100; adapter > bound {
		t.Errorf("%d requests of the adapter in %v: more than one for each namespace in %v, and one for a hundred reconciles", adapter,
			took, reviewed)
	}
}

func perOne(n, of int) float64 { return float64(n) / float64(of) }

func describe(r lab.Request) string {
	if r.Resource == "" {
		path, _, _ := strings.Cut(r.URI, "?")
		return r.Verb + " " + path
	}
	words := r.Verb + " " + r.Resource
	if r.Subresource != "" {
		words += "/" + r.Subresource
	}
	if r.Group != "" {
		words += "." + r.Group
	}
	return words
}

// judgeMembers judges what members were asked: for no object by itself.
func judgeMembers(t *testing.T, asked sim.Tally, took time.Duration, reconciles int) {
	t.Helper()
	counted := map[string]int{}
	for r, n := range asked {
		what := strings.TrimRight(r.Verb+" "+r.Resource+"/"+r.Subresource, "/")
		counted[strings.TrimRight(what+"."+r.Group, ".")] += n
		switch {
		case r.Group == "metrics.k8s.io": // the adapter's, for all
		case n > programs*members*(1+int(took/probed)):
			t.Errorf("%s: %d times in %v", what, n, took.Round(time.Second))
		}
	}
	logCounts(t, "requests to members", counted, reconciles)
}

func logCounts(t *testing.T, what string, counted map[string]int, reconciles int) {
	t.Helper()
	var lines strings.Builder
	for _, name := range slices.SortedFunc(maps.Keys(counted), func(a, b string) int {
		return cmp.Or(cmp.Compare(counted[b], counted[a]), cmp.Compare(a, b))
	}) {
		fmt.Fprintf(&lines, "\n%8d  %.4f  %s", counted[name], perOne(counted[name], reconciles), name)
	}
	t.Logf("%s, in all and per reconcile:%s", what, lines.String())
}
