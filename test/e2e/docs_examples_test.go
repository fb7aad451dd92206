// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/test/lab"
)

// shown is an autoscaler that docs/ shows, with its clusters called as ours are.
type shown struct{ *unstructured.Unstructured }

// playsShown returns what docs/ shows, by where, and what comes of it on this hub,
// which is a plain one.
func playsShown() map[string]func(*stage, shown) {
	return map[string]func(*stage, shown){
		"central.md 1":                       (*stage).shownDivided,
		"distributed.md 1":                   (*stage).shownByWeight,
		"cron.md 1":                          (*stage).shownRuleOfTheHub,
		"cron.md 2":                          (*stage).shownRuleInMembers,
		"cron.md 3":                          (*stage).shownRuleOfBounds,
		"cron.md 4":                          (*stage).shownRuleOfBounds,
		"cron.md 5":                          (*stage).shownRuleOfBounds,
		"examples/central.yaml":              (*stage).shownPropagated,
		"examples/central-distribution.yaml": (*stage).shownQueue,
		"examples/distributed.yaml":          (*stage).shownByProvider,
		"examples/distributed-weighted.yaml": (*stage).shownByWeight,
		"examples/cron-workload.yaml":        (*stage).shownRuleOfTheFleet,
		"examples/cron-federatedhpa.yaml":    (*stage).shownRuleOfBounds,
		"multidim.md 1":                      (*stage).shownSizes,
		"multidim.md 2":                      (*stage).shownGoals,
		"examples/multidim.yaml":             (*stage).shownSizes,
		"examples/multidim-goals.yaml":       (*stage).shownGoals,
	}
}

// documented are the cases of what docs/ shows, each in a namespace of its own.
func (f *federated) documented(t *testing.T) map[string]func(*stage) {
	t.Helper()
	all, plays := f.shownInDocs(t), playsShown()
	if diff := cmp.Diff(slices.Sorted(maps.Keys(plays)), slices.Sorted(maps.Keys(all))); diff != "" {
		t.Fatalf("examples that are known here (-), and in docs/ (+):\n%s", diff)
	}
	cases := map[string]func(*stage){}
	for where, play := range plays {
		namespace := "doc-" + strings.Trim(regexp.MustCompile("[^a-z0-9]+").ReplaceAllString(where, "-"), "-")
		cases[namespace] = func(s *stage) { play(s, all[where]) }
	}
	return cases
}

// shownInDocs are all that there are. docs/api.md repeats docs/examples.
func (f *federated) shownInDocs(t *testing.T) map[string]shown {
	t.Helper()
	docs, all := filepath.Join(f.Repository, "docs"), map[string]shown{}
	pages, _ := filepath.Glob(filepath.Join(docs, "*.md"))
	examples, _ := filepath.Glob(filepath.Join(docs, "examples", "*.yaml"))
	for _, example := range examples {
		all["examples/"+filepath.Base(example)] = readShown(t, textOf(t, example))
	}
	for _, page := range pages {
		n := 0
		for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(textOf(t, page), -1) {
			if !regexp.MustCompile("(?m)^kind: ((Cron)?FederatedHPA|MultidimPodAutoscaler)$").MatchString(block[1]) {
				continue
			}
			x := readShown(t, block[1])
			if slices.ContainsFunc(slices.Collect(maps.Values(all)), func(y shown) bool { return reflect.DeepEqual(x.Object, y.Object) }) {
				continue
			}
			n++
			all[fmt.Sprintf("%s %d", filepath.Base(page), n)] = x
		}
	}
	return all
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func readShown(t *testing.T, manifest string) shown {
	t.Helper()
	manifest = regexp.MustCompile(`\b(east|west|north)\b`).ReplaceAllStringFunc(manifest, func(name string) string {
		return map[string]string{"east": "member1", "west": "member2", "north": "member3"}[name]
	})
	x := shown{&unstructured.Unstructured{}}
	if err := yaml.UnmarshalStrict([]byte(manifest), &x.Object); err != nil {
		t.Fatalf("%v in:\n%s", err, manifest)
	}
	x.SetNamespace("")
	return x
}

// target is the name of what it scales.
func (x shown) target() string {
	name, _, _ := unstructured.NestedString(x.Object, "spec", "scaleTargetRef", "name")
	return name
}

// applyShown makes it as it stands.
func (s *stage) applyShown(x shown) {
	s.t.Helper()
	if _, err := s.resource("hub", x.GetAPIVersion(), x.GetKind()).Apply(s.t.Context(), x.GetName(), x.Unstructured, applying()); err != nil {
		s.t.Fatal(err)
	}
}

// deploys has clusters run its workload, whose Pods use what they should.
func (s *stage) deploys(x shown, replicas map[string]int) {
	s.t.Helper()
	for cluster, n := range replicas {
		s.apply(cluster, strings.ReplaceAll(webOf(s.kind, n, cluster == "hub"), "web", x.target()))
	}
	metrics, _, _ := unstructured.NestedSlice(x.Object, "spec", "metrics")
	if x.GetKind() == v1alpha1.MultidimPodAutoscalerKind {
		metrics, _, _ = unstructured.NestedSlice(x.Object, "spec", "goals", "metrics")
	}
	if len(metrics) == 0 {
		return
	}
	percent, found, _ := unstructured.NestedFieldNoCopy(metrics[0].(map[string]any), "resource", "target", "averageUtilization")
	if !found {
		return
	}
	use := map[string]string{}
	for _, member := range allMembers() {
		use[member] = fmt.Sprintf("%vm", percent) // of 100m that each requests
	}
	s.uses(use)
}

// Each cluster is told its part of the minimum.
func (s *stage) shownDivided(x shown) {
	s.deploys(x, map[string]int{"member1": 1, "member2": 0, "member3": 0})
	s.applyShown(x)
	s.runsOf(x.target(), "member1 1, member2 1, member3 1")
	s.comesTo(x.GetName(), "it follows its metric", isIn(v1alpha1.StateActive),
		hasClusters("member1 Active 1, member2 Active 1, member3 Active 1"))
}

// The queue calls for six, twice as many in the first cluster as in the second.
func (s *stage) shownQueue(x shown) {
	for _, member := range s.Members() {
		series := lab.Series{Metric: "queue_depth", Labels: map[string]string{"queue": "orders"}, Value: resource.MustParse("600")}
		if err := member.SetSeries(s.t.Context(), series); err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { _ = member.DropSeries(afterwards(s.t), series.Metric) })
	}
	s.deploys(x, map[string]int{"member1": 1, "member2": 0})
	s.applyShown(x)
	s.runsOf(x.target(), "member1 4, member2 2")
	s.comesTo(x.GetName(), "it follows the queue", isIn(v1alpha1.StateActive))
}

// Nobody propagates the hub's workload, which is said; then somebody does.
func (s *stage) shownPropagated(x shown) {
	s.deploys(x, map[string]int{"hub": 1})
	s.applyShown(x)
	s.runsOf(x.target(), "hub 3")
	s.comesTo(x.GetName(), "nobody propagates it", isIn(v1alpha1.StateFailing),
		says(string(v1alpha1.Propagated)+"=False/NotPropagated", "specifies 3 replicas", "3 selected clusters 0 in total",
			"set spec.replicaDistribution"))
	s.hasEvent("Warning", "NotPropagated", "specifies 3 replicas")
	s.followed(x.target(), allMembers()...)
	s.runsOf(x.target(), "member1 1, member2 1, member3 1")
	s.comesTo(x.GetName(), "somebody propagates it", isIn(v1alpha1.StateActive), says(string(v1alpha1.Propagated)+"=True/MembersFollow"))
}

// The bounds are those that the page tells, and clusters begin to run.
func (s *stage) shownByWeight(x shown) {
	s.deploys(x, map[string]int{"member1": 1, "member2": 0, "member3": 0})
	s.applyShown(x)
	s.isSplitOf(x.GetName(), "member1 1-1, member2 1-4, member3 1-5")
	s.runsOf(x.target(), "member1 1, member2 1, member3 1")
	s.comesTo(x.GetName(), "the clusters follow their metrics", isIn(v1alpha1.StateActive), says(active+"=True/ValidMetricFound"))
}

// The registrations say what runs in our own data centre: that is filled first.
func (s *stage) shownByProvider(x shown) {
	for _, member := range allMembers() {
		s.registration(member, "label", "tier=production")
		s.t.Cleanup(func() { s.registration(member, "label", "tier-") })
	}
	for member, provider := range map[string]string{"member1": "acme", "member2": "on-premises"} {
		s.registration(member, "annotate", "fleetscale.io/provider="+provider)
		s.t.Cleanup(func() { s.registration(member, "annotate", "fleetscale.io/provider-") })
	}
	s.deploys(x, map[string]int{"member1": 0, "member2": 0, "member3": 0})
	s.applyShown(x)
	s.isSplitOf(x.GetName(), "member1 1-1, member2 2-38, member3 1-1")
	s.comesTo(x.GetName(), "every preference selects a cluster, and metrics are followed", isIn(v1alpha1.StateActive),
		says(active+"=True/ValidMetricFound"), func(f *v1alpha1.FederatedHPA) error {
			for _, c := range f.Status.Conditions {
				if c.Type == v1alpha1.PreferenceUnmatched {
					return errors.New(c.Message)
				}
			}
			return nil
		})
}

// registration changes the Secret of a member.
func (s *stage) registration(member, verb, what string) {
	s.t.Helper()
	if _, err := s.Ask(afterwards(s.t), "-n", "fleetscale-clusters", verb, "secret", member, "--overwrite", what); err != nil {
		s.t.Error(err)
	}
}

// What the Pods use is measured, and a size is recommended for all clusters; nothing is scaled.
func (s *stage) shownSizes(x shown) {
	s.uses(map[string]string{"member1": "50m", "member2": "50m", "member3": "50m"})
	s.deploys(x, map[string]int{"member1": 1, "member2": 1, "member3": 1})
	s.applyShown(x)
	s.becomesOf(x.GetName(), "it recommends", recommendsCPU("50m", "100m"), states("LowConfidence=True/ShortHistory"))
	s.runsOf(x.target(), "member1 1, member2 1, member3 1")
}

// The clusters are told their parts of the minimum, by a FederatedHPA whose target is an amount, and a size is recommended.
func (s *stage) shownGoals(x shown) {
	s.deploys(x, map[string]int{"member1": 1, "member2": 0, "member3": 0})
	s.applyShown(x)
	s.runsOf(x.target(), "member1 1, member2 1, member3 1")
	s.comesTo(x.GetName(), "its target is an amount", isIn(v1alpha1.StateActive), func(f *v1alpha1.FederatedHPA) error {
		if target := f.Spec.Metrics[0].Resource.Target; target.AverageValue == nil || target.AverageValue.String() != "60m" {
			return fmt.Errorf("its target is %+v", target)
		}
		return nil
	})
	s.becomesOf(x.GetName(), "it recommends, and scales", recommendsCPU("60m", "100m"), states(active+"=True/ValidMetricFound"))
}

// soon has the first rule run at the next minute.
func (x shown) soon(t *testing.T) (rule map[string]any) {
	t.Helper()
	rules, _, _ := unstructured.NestedSlice(x.Object, "spec", "rules")
	rule = rules[0].(map[string]any)
	rule["schedule"] = "* * * * *"
	if err := unstructured.SetNestedSlice(x.Object, rules, "spec", "rules"); err != nil {
		t.Fatal(err)
	}
	return rule
}

// The workload of the hub gets the replicas of the rule.
func (s *stage) shownRuleOfTheHub(x shown) {
	rule := x.soon(s.t)
	s.apply("hub", strings.ReplaceAll(webOf(s.kind, 1, true), "web", x.target()))
	s.applyShown(x)
	s.runsOf(x.target(), fmt.Sprintf("hub %v", rule["targetReplicas"]))
}

// The workload of the members is divided by weight, and what is not selected stays.
func (s *stage) shownRuleInMembers(x shown) {
	x.soon(s.t)
	s.deploys(x, map[string]int{"member1": 1, "member2": 1, "member3": 5})
	s.applyShown(x)
	s.runsOf(x.target(), "member1 8, member2 4, member3 5")
}

// So do the members that follow it.
func (s *stage) shownRuleOfTheFleet(x shown) {
	s.shownRuleOfTheHub(x)
	s.followed(x.target(), allMembers()...)
	s.runsOf(x.target(), "hub 20, member1 7, member2 7, member3 6")
}

// The autoscaler gets the bounds of the rule.
func (s *stage) shownRuleOfBounds(x shown) {
	rule, bounds := x.soon(s.t), []string{"spec"}
	autoscaler := s.autoscalerOf(x.target(), "minReplicas: 1, maxReplicas: 1500, metrics: ["+byCPU+"]")
	kind, _, _ := unstructured.NestedString(x.Object, "spec", "scaleTargetRef", "kind")
	if kind == v1alpha1.MultidimPodAutoscalerKind {
		bounds = []string{"spec", "constraints", "global"}
		autoscaler = strings.Replace(s.autoscalerOf(x.target(),
			"constraints: {global: {minReplicas: 1, maxReplicas: 1500}}, goals: {metrics: ["+byCPU+"]}"), v1alpha1.FederatedHPAKind, kind, 1)
	}
	s.apply("hub", autoscaler)
	s.applyShown(x)
	eventually(s.t, s.ns+": the bounds are those of the rule", func(ctx context.Context) error {
		found, err := s.resource("hub", v1alpha1.SchemeGroupVersion.String(), kind).Get(ctx, x.target(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		for field, of := range map[string]string{"minReplicas": "targetMinReplicas", "maxReplicas": "targetMaxReplicas"} {
			got, _, _ := unstructured.NestedInt64(found.Object, append(slices.Clone(bounds), field)...)
			if want, set := rule[of]; set && fmt.Sprint(got) != fmt.Sprint(want) {
				return fmt.Errorf("%s is %d, want %v", field, got, want)
			}
		}
		return nil
	})
}
