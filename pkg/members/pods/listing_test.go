// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/mirror"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// counting counts how often it is asked.
type counting struct {
	labels.Selector

	n int
}

func (c *counting) Matches(l labels.Labels) bool {
	c.n++
	return c.Selector.Matches(l)
}

func selecting(t *testing.T, text string) *counting {
	t.Helper()
	s, err := labels.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return &counting{Selector: s}
}

// stuck is a Pod without a node since a time.
func stuck(name string, since metav1.Time, edits ...func(*corev1.Pod)) *corev1.Pod {
	p := deployed(0, 0)
	p.Name, p.Spec.NodeName, p.Status.Phase = name, "", corev1.PodPending
	p.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, LastTransitionTime: since,
	}}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

func TestListing(t *testing.T) {
	var records []*Record
	for i := range 30 {
		records = append(records, recordOf(deployed(i%3, i)))
	}
	selector := selecting(t, "app.kubernetes.io/name=checkout-001")
	l := listingOf(mirror.Answer[*Record]{Objects: records, Known: true, AsOf: noon.Time}, selector)
	if len(l.Pods) != 10 || l.Ready() != 10 || !l.Known || !l.AsOf.Equal(noon.Time) || l.Silent != nil || l.Unschedulable != 0 {
		t.Errorf("%d Pods, %d Ready, known %v as of %v, silence %v, %d unschedulable", len(l.Pods), l.Ready(), l.Known, l.AsOf, l.Silent,
			l.Unschedulable)
	}
	if selector.n != 3 {
		t.Errorf("labels were evaluated %d times for 3 templates", selector.n)
	}
	silence := &fleet.Silence{Reason: fleet.ReasonTimeout}
	fleettest.Same(t, "of a member never seen", Listing{Silent: silence}, listingOf(mirror.Answer[*Record]{Silence: silence}, selector))
}

// Labels that number Pods are evaluated in each.
func TestListingOfNumberedPods(t *testing.T) {
	var records []*Record
	for _, name := range []string{"db-0", "db-1", "db-2"} {
		records = append(records, recordOf(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}}}))
	}
	l := listingOf(mirror.Answer[*Record]{Objects: records}, selecting(t, "name!=db-1"))
	if len(l.Pods) != 2 || l.Pods[0].Name != "db-0" || l.Pods[1].Name != "db-2" {
		t.Errorf("Pods = %v", l.Pods)
	}
}

// Each Pod has the requests of its own template, though others stand between.
func TestListingHasTheRequestsOfEach(t *testing.T) {
	var records []*Record
	var want []*replicas.Requests
	for i, cpu := range []string{"1", "1", "2", "1"} {
		p := deployed(0, i)
		p.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse(cpu)
		records, want = append(records, recordOf(p)), append(want, replicas.RequestsOf(&p.Spec))
	}
	l := listingOf(mirror.Answer[*Record]{Objects: records, Known: true}, labels.Everything())
	for i, p := range l.Pods {
		if *p.Requests != *want[i] {
			t.Errorf("Pod %d requests %v, want %v", i, p.Requests, want[i])
		}
	}
}

func TestUnschedulable(t *testing.T) {
	terminating := func(p *corev1.Pod) { p.DeletionTimestamp = &noon }
	gated := func(p *corev1.Pod) { p.Status.Conditions[0].Reason = corev1.PodReasonSchedulingGated }
	bound := func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionTrue }
	tests := map[string]struct {
		pods  []*corev1.Pod
		want  int
		since time.Time
	}{
		"none": {nil, 0, time.Time{}},
		"one":  {[]*corev1.Pod{stuck("a", noon)}, 1, noon.Time},
		"the first of three": {[]*corev1.Pod{stuck("a", after(3)), stuck("b", after(-time.Minute)), stuck("c", noon)}, 3,
			noon.Add(-time.Minute)},
		"one without a time":        {[]*corev1.Pod{stuck("a", metav1.Time{})}, 1, time.Unix(1, 0)},
		"those deleted do not wait": {[]*corev1.Pod{stuck("a", after(-time.Hour), terminating), stuck("b", noon)}, 1, noon.Time},
		"those held back neither":   {[]*corev1.Pod{stuck("a", noon, gated)}, 0, time.Time{}},
		"those bound neither":       {[]*corev1.Pod{stuck("a", noon, bound)}, 0, time.Time{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := mirror.Answer[*Record]{Known: true}
			for _, p := range tc.pods {
				a.Objects = append(a.Objects, recordOf(p))
			}
			l := listingOf(a, labels.Everything())
			if l.Unschedulable != tc.want || !l.UnschedulableSince.Equal(tc.since) {
				t.Errorf("%d since %v, want %d since %v", l.Unschedulable, l.UnschedulableSince, tc.want, tc.since)
			}
			if len(l.Pods) != len(tc.pods) {
				t.Errorf("%d Pods, want all %d", len(l.Pods), len(tc.pods))
			}
		})
	}
}

func TestReadyAreThoseThatRun(t *testing.T) {
	a := mirror.Answer[*Record]{}
	for _, phase := range []corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodFailed} {
		p := deployed(0, 0)
		p.Status.Phase = phase
		a.Objects = append(a.Objects, recordOf(p))
	}
	unready := deployed(0, 1)
	unready.Status.Conditions[1].Status = corev1.ConditionFalse
	a.Objects = append(a.Objects, recordOf(unready))
	if n := listingOf(a, labels.Everything()).Ready(); n != 1 {
		t.Errorf("%d Ready, want 1", n)
	}
}
