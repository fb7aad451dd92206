// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// isSplit waits until members have autoscalers of the FederatedHPA with these
// bounds, and the status says the same: "member1 1-4, member2 2-6, member3
// none". Members that the status does not speak of have none.
func (s *stage) isSplit(want string) *v1alpha1.FederatedHPA {
	s.t.Helper()
	return s.isSplitOf("web", want)
}

func (s *stage) isSplitOf(name, want string) *v1alpha1.FederatedHPA {
	s.t.Helper()
	return s.comesTo(name, "it is split as "+want, func(f *v1alpha1.FederatedHPA) error {
		stored, err := s.bounds(f, allMembers()...)
		if err == nil && stored != want {
			err = fmt.Errorf("members have %s", stored)
		}
		if said := saidBounds(f); said != want {
			err = errors.Join(err, fmt.Errorf("the status says %s", said))
		}
		return err
	})
}

// bounds returns those that members store.
func (s *stage) bounds(f *v1alpha1.FederatedHPA, members ...string) (string, error) {
	var all []string
	for _, member := range members {
		own, err := s.ownIn(s.t.Context(), member, f.UID)
		if err != nil {
			return "", err
		}
		told := "none"
		for _, hpa := range own {
			told = boundsOf(hpa)
		}
		if len(own) > 1 {
			return "", fmt.Errorf("%s has %d autoscalers of %s", member, len(own), f.Name)
		}
		all = append(all, member+" "+told)
	}
	return strings.Join(all, ", "), nil
}

func boundsOf(hpa *autoscalingv2.HorizontalPodAutoscaler) string {
	return fmt.Sprintf("%d-%d", *hpa.Spec.MinReplicas, hpa.Spec.MaxReplicas)
}

func saidBounds(f *v1alpha1.FederatedHPA) string {
	var all []string
	for _, member := range allMembers() {
		told := "none"
		for _, c := range f.Status.Clusters {
			if c.Name == member && c.AssignedMax != nil && *c.AssignedMax > 0 {
				told = fmt.Sprintf("%d-%d", *c.AssignedMin, *c.AssignedMax)
			}
		}
		all = append(all, member+" "+told)
	}
	return strings.Join(all, ", ")
}

func (s *stage) memberAutoscalers(member string) dynamic.ResourceInterface {
	return s.resource(member, "autoscaling/v2", "HorizontalPodAutoscaler")
}

// ownIn are a member's autoscalers that bear the label of an owner.
func (s *stage) ownIn(ctx context.Context, member string, owner types.UID) ([]*autoscalingv2.HorizontalPodAutoscaler, error) {
	list, err := s.memberAutoscalers(member).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.ManagedByLabel + "=" + string(owner)})
	if err != nil {
		return nil, err
	}
	var all []*autoscalingv2.HorizontalPodAutoscaler
	for i := range list.Items {
		hpa, err := asAutoscaler(&list.Items[i])
		if err != nil {
			return nil, err
		}
		all = append(all, hpa)
	}
	return all, nil
}

func asAutoscaler(object *unstructured.Unstructured) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	hpa := &autoscalingv2.HorizontalPodAutoscaler{}
	return hpa, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, hpa)
}

// areIn wants the states of the clusters: "member1 Active, member2 Excluded".
func areIn(want string) func(*v1alpha1.FederatedHPA) error {
	return func(f *v1alpha1.FederatedHPA) error {
		var all []string
		for _, c := range f.Status.Clusters {
			all = append(all, fmt.Sprintf("%s %s", c.Name, c.State))
		}
		if got := strings.Join(all, ", "); got != want {
			return fmt.Errorf("its clusters are %q, want %q", got, want)
		}
		return nil
	}
}

// because wants why a cluster is in its state.
func because(cluster, reason string, words ...string) func(*v1alpha1.FederatedHPA) error {
	return func(f *v1alpha1.FederatedHPA) error {
		i := slices.IndexFunc(f.Status.Clusters, func(c v1alpha1.ClusterStatus) bool { return c.Name == cluster })
		if i < 0 {
			return fmt.Errorf("it says nothing of %s", cluster)
		}
		if c := f.Status.Clusters[i]; c.Reason != reason || !containsAll(c.Message, words) {
			return fmt.Errorf("%s is %s for %s, %q, want %s with %q", cluster, c.State, c.Reason, c.Message, reason, words)
		}
		return nil
	}
}

// lasts fails if something is wrong at any time of a while.
func (s *stage) lasts(long time.Duration, what string, check func(context.Context) error) {
	s.t.Helper()
	end := time.Now().Add(long)
	eventually(s.t, s.ns+": "+what, func(ctx context.Context) error {
		if err := check(ctx); err != nil {
			s.t.Fatalf("%s: %s: %v", s.ns, what, err)
		}
		if left := time.Until(end); left > 0 {
			return fmt.Errorf("%v are left", left)
		}
		return nil
	})
}

// namedIn are the clusters that a text such as "member1 2, member2 3" names.
func namedIn(text string) []string {
	var clusters []string
	for part := range strings.SplitSeq(text, ", ") {
		cluster, _, _ := strings.Cut(part, " ")
		clusters = append(clusters, cluster)
	}
	return clusters
}

// indexOfLine is the number of a line in a text, from 0; -1 if it has none such.
func indexOfLine(text, line string) int {
	return slices.Index(strings.Split(text, "\n"), line)
}
