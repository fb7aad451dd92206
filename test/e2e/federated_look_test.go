// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// runs waits until clusters have been told so many replicas, and members run
// them: "hub 4, member1 2, member2 2".
func (s *stage) runs(want string) {
	s.t.Helper()
	s.runsOf("web", want)
}

func (s *stage) runsOf(name, want string) {
	s.t.Helper()
	eventually(s.t, s.ns+" runs "+want, func(ctx context.Context) error {
		got, err := s.toldOf(ctx, name, namedIn(want)...)
		if err == nil && got != want {
			err = fmt.Errorf("it runs %s", got)
		}
		return err
	})
}

// told returns what clusters were told, as [stage.runs] has it.
func (s *stage) told(ctx context.Context, clusters ...string) (string, error) {
	return s.toldOf(ctx, "web", clusters...)
}

func (s *stage) toldOf(ctx context.Context, name string, clusters ...string) (string, error) {
	var all []string
	for _, cluster := range clusters {
		replicas, err := s.replicasIn(ctx, name, cluster)
		if err != nil {
			return "", err
		}
		all = append(all, cluster+" "+replicas)
	}
	return strings.Join(all, ", "), nil
}

// replicasIn returns what a cluster was told, and how many are Ready where that differs.
func (s *stage) replicasIn(ctx context.Context, name, cluster string) (string, error) {
	workload, err := s.workload(cluster).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	told, _, _ := unstructured.NestedInt64(workload.Object, "spec", "replicas")
	ready, _, _ := unstructured.NestedInt64(workload.Object, "status", "readyReplicas")
	if cluster == "hub" || told == ready {
		return fmt.Sprint(told), nil
	}
	return fmt.Sprintf("%d (%d Ready)", told, ready), nil
}

func (s *stage) get(ctx context.Context, name string) (*v1alpha1.FederatedHPA, error) {
	object, err := s.autoscalers().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	fhpa := &v1alpha1.FederatedHPA{}
	return fhpa, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, fhpa)
}

// comes waits until the FederatedHPA is as described.
func (s *stage) comes(what string, right ...func(*v1alpha1.FederatedHPA) error) *v1alpha1.FederatedHPA {
	s.t.Helper()
	return s.comesTo("web", what, right...)
}

func (s *stage) comesTo(name, what string, right ...func(*v1alpha1.FederatedHPA) error) *v1alpha1.FederatedHPA {
	s.t.Helper()
	var fhpa *v1alpha1.FederatedHPA
	eventually(s.t, s.ns+": "+what, func(ctx context.Context) (err error) {
		if fhpa, err = s.get(ctx, name); err != nil {
			return err
		}
		var errs []error
		for _, check := range right {
			errs = append(errs, check(fhpa))
		}
		return errors.Join(errs...)
	})
	return fhpa
}

// isIn wants a state in a word, as kubectl get shows it.
func isIn(state v1alpha1.FederatedHPAState) func(*v1alpha1.FederatedHPA) error {
	return func(f *v1alpha1.FederatedHPA) error {
		if f.Status.Summary == nil || f.Status.Summary.State != state {
			return fmt.Errorf("its summary is %+v, want %s", f.Status.Summary, state)
		}
		return nil
	}
}

// explains wants status.explanation to lead from one number to another, by a metric that was measured in all members.
func explains(from, to int32, members int) func(*v1alpha1.FederatedHPA) error {
	return func(f *v1alpha1.FederatedHPA) error {
		e := f.Status.Explanation
		if e == nil || e.CurrentReplicas != from || e.DesiredReplicas != to || len(e.Metrics) == 0 || len(e.Metrics[0].Clusters) != members {
			return fmt.Errorf("its explanation is %+v, want one from %d to %d by %d members", e, from, to, members)
		}
		return nil
	}
}

// says wants a condition: "Type=Status/Reason", and words of its message.
func says(want string, words ...string) func(*v1alpha1.FederatedHPA) error {
	return func(f *v1alpha1.FederatedHPA) error {
		kind, _, _ := strings.Cut(want, "=")
		for _, c := range f.Status.Conditions {
			if string(c.Type) != kind {
				continue
			}
			if got := fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason); got != want || !containsAll(c.Message, words) {
				return fmt.Errorf("it says %s %q, want %s with %q", got, c.Message, want, words)
			}
			return nil
		}
		return fmt.Errorf("it says nothing of %s, want %s", kind, want)
	}
}

// hasClusters wants the clusters' states: "member1 Active 4, member2 ...", with
// the Ready Pods.
func hasClusters(want string) func(*v1alpha1.FederatedHPA) error {
	return func(f *v1alpha1.FederatedHPA) error {
		var all []string
		for _, c := range f.Status.Clusters {
			ready := "-"
			if c.ReadyReplicas != nil {
				ready = fmt.Sprint(*c.ReadyReplicas)
			}
			all = append(all, fmt.Sprintf("%s %s %s", c.Name, c.State, ready))
		}
		if got := strings.Join(all, ", "); got != want {
			return fmt.Errorf("its clusters are %q, want %q", got, want)
		}
		return nil
	}
}

// hasEvent waits for an Event of the FederatedHPA.
func (s *stage) hasEvent(kind, reason string, words ...string) {
	s.t.Helper()
	s.hasEventOf("FederatedHPA", kind, reason, words...)
}

func (s *stage) hasEventOf(of, kind, reason string, words ...string) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("%s: an Event %s %q", s.ns, reason, words), func(ctx context.Context) error {
		notes, err := s.notes(ctx, of, kind, reason)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(notes, func(note string) bool { return containsAll(note, words) }) {
			return fmt.Errorf("those of %s are %q", reason, notes)
		}
		return nil
	})
}

// notes are the texts of Events, in their order.
func (s *stage) notes(ctx context.Context, of, kind, reason string) ([]string, error) {
	return s.notesIn(ctx, "hub", of, kind, reason)
}

func (s *stage) notesIn(ctx context.Context, cluster, of, kind, reason string) ([]string, error) {
	list, err := s.resource(cluster, "events.k8s.io/v1", "Event").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	type told struct{ at, note string }
	var all []told
	for _, item := range list.Items {
		text := func(path ...string) string { v, _, _ := unstructured.NestedString(item.Object, path...); return v }
		if text("regarding", "kind") == of && text("type") == kind && text("reason") == reason {
			at := text("eventTime")
			if at == "" {
				at = text("deprecatedFirstTimestamp")
			}
			all = append(all, told{at, text("note")})
		}
	}
	slices.SortStableFunc(all, func(a, b told) int { return strings.Compare(a.at, b.at) })
	var notes []string
	for _, t := range all {
		notes = append(notes, t.note)
	}
	return notes, nil
}

// shows waits until kubectl get shows a line that matches.
func (s *stage) shows(pattern string) {
	s.t.Helper()
	line := regexp.MustCompile(`(?m)^` + pattern + `$`)
	eventually(s.t, s.ns+": kubectl get shows "+pattern, func(ctx context.Context) error {
		said, err := s.Ask(ctx, "-n", s.ns, "get", "fhpa", "--no-headers")
		if err == nil && !line.MatchString(said.Stdout) {
			err = errors.New(said.Stdout)
		}
		return err
	})
}

// Types of conditions, in short.
const (
	able    = string(autoscalingv2.AbleToScale)
	active  = string(autoscalingv2.ScalingActive)
	limited = string(autoscalingv2.ScalingLimited)
	zeroed  = string(autoscalingv2.ScaledToZero)
	visible = string(v1alpha1.FleetVisible)
)
