// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	membersv1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/plugin/dashboard/dashboardtest"
)

var update = flag.Bool("update", false, "write the golden files of testdata")

var noon = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

// golden compares a value, as JSON, with a file.
func golden(t *testing.T, name string, value any) {
	t.Helper()
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	file := "testdata/" + name + ".json"
	if *update {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, file, string(want), string(text))
}

func TestMembers(t *testing.T) {
	silent := dashboardtest.Member("west", 7, noon.Add(-time.Minute))
	silent.Status.State, silent.Status.Reason, silent.Status.Message = membersv1alpha1.MemberSilent, "Timeout", "no answer within 5s"
	silent.Status.Since, silent.Status.Standing = new(metav1.NewTime(noon.Add(-50*time.Second))), "Cordoned"
	lacking := dashboardtest.Member("north", 0, noon)
	lacking.Status.LastAnswerTime, lacking.Status.MissingRights = nil, []string{"list pods.metrics.k8s.io"}
	lacking.Status.ControllerManager.MissingRights = []string{"patch deployments/scale"}
	golden(t, "members", []member{memberOf(dashboardtest.Member("east", 12, noon.Add(-3*time.Second))), memberOf(silent), memberOf(lacking)})
}

func TestTroublesOfMembers(t *testing.T) {
	for want, change := range map[string]func(*membersv1alpha1.MemberStatus){
		"": func(*membersv1alpha1.MemberStatus) {},
		"No controller-manager is at work, so whether it is reached by the credential that writes is not known.": func(
			s *membersv1alpha1.MemberStatus) {
			s.ControllerManager.Stale, s.Rights = true, []string{"read"}
		},
		"To the controller-manager it is Silent, Forbidden: 401": func(s *membersv1alpha1.MemberStatus) {
			s.ControllerManager.State, s.ControllerManager.Reason, s.ControllerManager.Message = membersv1alpha1.MemberSilent, "Forbidden", "401"
			s.Rights = []string{"read"}
		},
		"Nothing is written there: no credential that writes works.": func(s *membersv1alpha1.MemberStatus) { s.Rights = []string{"read"} },
	} {
		m := dashboardtest.Member("east", 1, noon)
		change(&m.Status)
		if got := strings.Join(memberOf(m).Troubles, " "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// multidim sizes shop, and has goals.
func multidim() *v1alpha1.MultidimPodAutoscaler {
	m := &v1alpha1.MultidimPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "till", ResourceVersion: "9"}}
	m.Spec.ScaleTargetRef.Kind, m.Spec.ScaleTargetRef.Name = "Deployment", "till"
	m.Spec.Policy.UpdateMode = "InPlaceOrRecreate"
	m.Spec.Goals = &v1alpha1.Goals{Metrics: dashboardtest.FederatedHPA("shop", "till", noon, 50, 2, "east").Spec.Metrics}
	m.Spec.Constraints.Global = &v1alpha1.GlobalConstraints{MaxReplicas: 20}
	m.Status.DesiredReplicas = 6
	m.Status.CurrentMetrics = dashboardtest.FederatedHPA("shop", "till", noon, 50, 2, "east").Status.CurrentMetrics
	m.Status.Summary = &v1alpha1.MultidimPodAutoscalerSummary{State: v1alpha1.MultidimActive, Sized: "4/6"}
	m.Status.Clusters = []v1alpha1.MultidimClusterStatus{
		{Name: "east", State: v1alpha1.ClusterActive, Pods: new(int32(4)), AsRecommended: new(int32(4))},
		{Name: "west", State: v1alpha1.ClusterUnreachable, Reason: "Timeout", Pods: new(int32(2))},
	}
	size := func(cpu, memory string) v1alpha1.Size {
		return v1alpha1.Size{CPU: new(resource.MustParse(cpu)), Memory: new(resource.MustParse(memory))}
	}
	m.Status.Recommendation = &v1alpha1.SizeRecommendation{
		Since: new(metav1.NewTime(noon.Add(-time.Hour))),
		Containers: []v1alpha1.ContainerRecommendation{{
			ContainerName: "app", Target: size("250m", "300Mi"), UncappedTarget: size("250m", "180Mi"), LowerBound: size("100m", "250Mi"),
			CappedBy: []v1alpha1.Cap{{Resource: corev1.ResourceMemory, Reason: "MinAllowed"}},
		}},
	}
	m.Status.Savings = &v1alpha1.Savings{
		Requested: size("6", "6Gi"), Recommended: size("1500m", "1800Mi"), Saved: size("4500m", "4344Mi"), CostPerHour: "0.25",
	}
	return m
}

// What a page is made of is in testdata, for each kind.
func TestDetails(t *testing.T) {
	held := dashboardtest.FederatedHPA("shop", "cart", noon.Add(-5*time.Second), 63, 3, "east", "west")
	var points []point
	for i, desired := range []int32{4, 6} {
		p, _ := pointOf(held, noon.Add(time.Duration(i-2)*time.Minute))
		p.Desired = &desired
		points = append(points, p)
	}
	dashboardtest.Hold(held, "west")
	last, _ := pointOf(held, noon)
	rules := dashboardtest.Rules("shop", "morning", "cart", "30 8 * * *")
	golden(t, "held", detailOf(known{
		Object: held, Points: append(points, last), Now: noon,
		Rules: []*v1alpha1.CronFederatedHPA{rules, dashboardtest.Rules("shop", "of-another", "till", "30 8 * * *")},
	}))
	first, _ := pointOf(multidim(), noon)
	golden(t, "sizes", detailOf(known{Object: multidim(), Points: points[:0:0], Now: noon}))
	golden(t, "sizes-series", seriesOf([]point{first}, noon))
	golden(t, "rules", detailOf(known{Object: rules, Now: noon}))
	fresh := &v1alpha1.FederatedHPA{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "new"}}
	golden(t, "fresh", detailOf(known{Object: fresh, Now: noon}))
}

// A rule is told of what it sets, and of nothing else.
func TestRulesOfOthersAreNotComing(t *testing.T) {
	of := dashboardtest.FederatedHPA("shop", "cart", noon, 60, 1, "east")
	for name, change := range map[string]func(*v1alpha1.CronFederatedHPA){
		"another namespace": func(c *v1alpha1.CronFederatedHPA) { c.Namespace = "pay" },
		"another name":      func(c *v1alpha1.CronFederatedHPA) { c.Spec.ScaleTargetRef.Name = "till" },
		"another kind":      func(c *v1alpha1.CronFederatedHPA) { c.Spec.ScaleTargetRef.Kind = "MultidimPodAutoscaler" },
		"another group":     func(c *v1alpha1.CronFederatedHPA) { c.Spec.ScaleTargetRef.APIVersion = "example.org/v1" },
	} {
		rules := dashboardtest.Rules("shop", "morning", "cart", "30 8 * * *")
		if got := comingOf(known{Object: of, Rules: []*v1alpha1.CronFederatedHPA{rules}, Now: noon}); len(got) != comingOfRule {
			t.Fatalf("%d runs, want %d", len(got), comingOfRule)
		}
		change(rules)
		if got := comingOf(known{Object: of, Rules: []*v1alpha1.CronFederatedHPA{rules}, Now: noon}); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Clusters beyond those that are told apart are added up, and nothing is lost.
func TestStacked(t *testing.T) {
	for _, clusters := range []int{0, 1, 8, 9, 40} {
		points := make([]point, 3)
		sums := make([]int32, len(points))
		for i := range points {
			for c := range clusters {
				n := int32((c*7+i)%13 + 1)
				points[i].Clusters = append(points[i].Clusters, share{Name: fmt.Sprintf("c%02d", c), Replicas: n})
				sums[i] += n
			}
		}
		got := stacked(points, noon)
		if want := min(clusters, mostStacked+1); len(got) != want {
			t.Errorf("%d clusters: %d rows, want %d", clusters, len(got), want)
		}
		for i := range points {
			for _, of := range got {
				sums[i] -= of.Replicas[i]
			}
			if sums[i] != 0 {
				t.Errorf("%d clusters: %d replicas of point %d are lost", clusters, sums[i], i)
			}
		}
		if clusters == 40 && got[mostStacked].Name != "33 others" {
			t.Errorf("the others are called %s", got[mostStacked].Name)
		}
	}
}

// The times of Events are where either API keeps them.
func TestEvents(t *testing.T) {
	at := func(minute int) metav1.Time { return metav1.NewTime(noon.Add(time.Duration(minute) * time.Minute)) }
	micro := func(minute int) metav1.MicroTime { return metav1.NewMicroTime(at(minute).Time) }
	for name, tc := range map[string]struct {
		event       corev1.Event
		first, last int
		count       int32
	}{
		"of the older API": {corev1.Event{FirstTimestamp: at(1), LastTimestamp: at(4), Count: 3}, 1, 4, 3},
		"of the newer API": {corev1.Event{EventTime: micro(2)}, 2, 2, 1},
		"a series": {
			corev1.Event{EventTime: micro(2), Series: &corev1.EventSeries{Count: 5, LastObservedTime: micro(9)}}, 2, 9, 5,
		},
		"with no time but that of its object": {corev1.Event{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(6)}}, 6, 6, 1},
	} {
		s := saidOf(&tc.event)
		if s.First != millis(new(at(tc.first))) || s.At != millis(new(at(tc.last))) || s.Count != tc.count {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestChanges(t *testing.T) {
	before := &snapshot{Now: 1, Members: []member{{Name: "east", Pods: 1}, {Name: "west"}}, Autoscalers: []row{{ID: "a"}, {ID: "b"}}}
	now := &snapshot{Now: 2, Members: []member{{Name: "east", Pods: 2}, {Name: "west"}}, Autoscalers: []row{{ID: "b"}, {ID: "c"}}}
	got := changesOf(before, now)
	want := changes{
		Now: 2, Members: now.Members[:1], Autoscalers: now.Autoscalers[1:], GoneMembers: []string{}, GoneAutoscalers: []string{"a"},
	}
	fleettest.Same(t, "", want, got)
	if got.empty(before) {
		t.Error("changes that are none")
	}
	for name, next := range map[string]snapshot{
		"nothing but the time": {Now: 5, Members: before.Members, Autoscalers: before.Autoscalers},
		"a notice":             {Now: 5, Members: before.Members, Autoscalers: before.Autoscalers, Notices: []notice{{"Members", "none"}}},
		"a kind that was read": {Now: 5, Members: before.Members, Autoscalers: before.Autoscalers, Loading: []string{"Members"}},
	} {
		c := changesOf(before, &next)
		if got := c.empty(before); got != (name == "nothing but the time") {
			t.Errorf("%s: empty is %v", name, got)
		}
	}
}

// newTestSeen has a clock that tests set.
func newTestSeen(now *time.Time) *seen {
	s := newSeen("https://hub", func() time.Time { return *now })
	for _, k := range kinds {
		s.replace(k, listed{})
	}
	s.setMembers(nil)
	return s
}

// How many replicas are desired is not known while the first metrics fail, and is not drawn as none, which may be a decision as well.
func TestUndecided(t *testing.T) {
	undecided := dashboardtest.FederatedHPA("shop", "cart", noon, 60, 2, "east")
	dashboardtest.Undecide(undecided)
	zero := undecided.DeepCopy()
	zero.Status.LastScaleTime = &metav1.Time{Time: noon}
	sized := multidim()
	sized.Spec.Goals, sized.Status.DesiredReplicas = &v1alpha1.Goals{}, 0
	var got []string
	for _, object := range []client.Object{undecided, zero, sized} {
		p, _ := pointOf(object, noon)
		drawn, err := json.Marshal(seriesOf([]point{p}, noon).Desired)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%v %s", ptr.Deref(rowOf(object, noon).Desired, -1), drawn))
	}
	if diff := cmp.Diff([]string{"-1 [null]", "0 [0]", "-1 [null]"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A point is kept where something has changed, and the past of what is gone is forgotten.
func TestPast(t *testing.T) {
	now := noon
	s := newTestSeen(&now)
	of := dashboardtest.FederatedHPA("shop", "cart", noon, 60, 2, "east", "west")
	id := "fhpa/shop/cart"
	for i, desired := range []int32{4, 4, 6, 6, 4} {
		now = noon.Add(time.Duration(i) * time.Minute)
		next := of.DeepCopy()
		next.Status.DesiredReplicas = desired
		s.put(next)
	}
	k, found := s.about(id)
	var got []string
	for _, p := range k.Points {
		got = append(got, fmt.Sprintf("%s %d", p.At.Format("15:04"), *p.Desired))
	}
	if diff := cmp.Diff([]string{"12:00 4", "12:02 6", "12:04 4"}, got); diff != "" || !found {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.replace(kinds[0], listed{objects: []client.Object{dashboardtest.FederatedHPA("shop", "till", noon, 60, 2, "east")}})
	if _, found := s.about(id); found || len(s.pasts) != 1 || s.weight != s.pasts["fhpa/shop/till"].weight {
		t.Errorf("it is found: %v; %d pasts of weight %d", found, len(s.pasts), s.weight)
	}
	s.remove("fhpa/shop/till")
	if all, _ := s.look(); len(all.Autoscalers) != 0 || s.weight != 0 {
		t.Errorf("%d are left, of weight %d", len(all.Autoscalers), s.weight)
	}
}

// However long it is watched, and whatever a status holds, the points are bounded: each past by itself, and all together.
func TestPastsAreBounded(t *testing.T) {
	now := noon
	s := newTestSeen(&now)
	p, _ := pointOf(dashboardtest.FederatedHPA("shop", "cart", noon, 60, 2, "east"), noon)
	for i := range 3 * mostPoints {
		p.At, p.Desired = noon.Add(time.Duration(i)*time.Second), new(int32(i))
		s.remember("small", p)
	}
	points := s.pasts["small"].points
	if n := len(points); n > mostPoints || n < mostPoints/2 || *points[n-1].Desired != 3*mostPoints-1 {
		t.Errorf("%d points, the last %d", n, *points[n-1].Desired)
	}
	wide := point{Clusters: make([]share, 1000)}
	for i := range 2 * mostWeight / wide.weight() {
		wide.Desired = new(int32(i))
		s.remember(fmt.Sprint("wide", i%7), wide)
	}
	weight := 0
	for _, of := range s.pasts {
		for i := range of.points {
			weight += of.points[i].weight()
		}
	}
	if weight != s.weight || weight > mostWeight || weight < mostWeight/2 {
		t.Errorf("weight %d, of %d that are counted; at most %d", weight, s.weight, mostWeight)
	}
	if len(s.pasts["small"].points) != len(points) {
		t.Error("the shortest past has paid for the longest")
	}
}

// Of a kind with too many objects some are not shown, and this is said; those that are shown still change.
func TestTooMany(t *testing.T) {
	now := noon
	s := newTestSeen(&now)
	for i := range mostOfKind {
		id := fmt.Sprint("fhpa/shop/", i)
		s.enter(row{ID: id, Kind: v1alpha1.FederatedHPAKind})
	}
	s.put(dashboardtest.FederatedHPA("shop", "cart", noon, 60, 2, "east"))
	s.put(dashboardtest.FederatedHPA("shop", "7", noon, 60, 2, "east"))
	s.putUnreadable(kinds[0], &metav1.ObjectMeta{Namespace: "shop", Name: "bad"}, errors.New("bad"))
	all, _ := s.look()
	s.remove("fhpa/shop/8")
	s.put(dashboardtest.FederatedHPA("shop", "till", noon, 60, 2, "east"))
	if len(all.Autoscalers) != mostOfKind || len(all.Notices) != 1 ||
		s.rows["fhpa/shop/till"].Target != "Deployment/till" || s.rows["fhpa/shop/7"].Target != "Deployment/7" {
		t.Errorf("%d are shown, with %v", len(all.Autoscalers), all.Notices)
	}
}
