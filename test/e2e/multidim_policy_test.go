// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/test/fixture"
)

// waitsForRoom has the lab play nodes on which a resize waits for room: so Pods are evicted for their size.
const waitsForRoom = "lab.fleetscale.io/resize: Deferred"

// policyDoesNothing: all is installed, and new Pods do not get their size all the same. After two that took the places of evicted
// ones no more are evicted, and that is reported.
func (s *stage) policyDoesNothing() {
	s.bind(sizesNewPods, fmt.Sprintf(`{"spec":{"matchResources":{"namespaceSelector":{"matchExpressions":[`+
		`{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":[%q]}]}}}}`, s.ns))
	s.runSmall(4, waitsForRoom, sizesNewPods)
	s.running(sizesNewPods, 4)
	pods := s.watchLives("web", sizesNewPods)
	s.size("clusterAffinity: {clusterNames: [member1]}, policy: {updateMode: InPlaceOrRecreate, minReplicas: 1}")
	s.tellsOwner("Warning", "AdmissionIneffective", sizesNewPods, "new Pods are created without their size")
	rests := []func(*v1alpha1.MultidimPodAutoscaler) error{
		admits(sizesNewPods, v1alpha1.AdmissionIneffective), states("VerticalActuation=False/AdmissionIneffective", sizesNewPods),
		func(m *v1alpha1.MultidimPodAutoscaler) error {
			if n := m.Status.Clusters[0].EvictedLastHour; n == nil || *n != 2 {
				return fmt.Errorf("%v were evicted in the last hour, want 2", n)
			}
			return nil
		},
	}
	s.becomes("it says so", rests...)
	s.lasts(3*verticalPeriod, "nothing more happens", func(ctx context.Context) error {
		_, err := s.isNow(ctx, "web", rests...)
		return err
	})
	all, least := pods.told(s.t)
	for _, of := range all {
		if of.sizedBy != "" {
			s.t.Errorf("%s was sized by %s", of.name, of.sizedBy)
		}
	}
	if ended := pods.ended(s.t); len(all) != 6 || len(ended) != 2 || least < 3 {
		s.t.Errorf("of %d Pods %d have ended, and %d or more were Ready; want 6, 2 and 3", len(all), len(ended), least)
	}
}

// bind patches the binding of the policy with JSON.
func (s *stage) bind(member, patch string) {
	s.t.Helper()
	if _, err := s.clients[member].Resource(bindings).Patch(s.t.Context(), policyName, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

const policyName = "sizes.fleetscale.io"

var bindings = schema.GroupVersionResource{
	Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingadmissionpolicybindings",
}

// policyIsDeleted: somebody deletes the binding. New Pods are created as the template says, which is known after two of them, and
// why within minutes; none is evicted meanwhile. Once it is back, Pods are.
func (s *stage) policyIsDeleted() {
	const member = "member2"
	s.runSmall(2, waitsForRoom, member)
	first := s.running(member, 2)
	pods := s.watchLives("web", member)
	s.size("clusterAffinity: {clusterNames: [" + member + "]}, policy: {updateMode: InPlaceOrRecreate, minReplicas: 1, evictOn: Never}")
	s.becomes("new Pods would get their size", admits(member, v1alpha1.AdmissionInstalled), hasEntry(s, member))
	s.stays(10*time.Second+3*verticalPeriod, member+" 2") // until what stands there counts as known to all its API servers
	if err := s.clients[member].Resource(bindings).Delete(s.t.Context(), policyName, metav1.DeleteOptions{}); err != nil {
		s.t.Fatal(err)
	}
	s.createsBare(member)
	s.scaleBy(member, 4)
	for uid, pod := range s.running(member, 4) {
		cpu, by := pod.Spec.Containers[0].Resources.Requests.Cpu().String(), pod.Annotations[sizedBy]
		if first[uid] == nil && (cpu != smallCPU || by != "") {
			s.t.Errorf("%s requests %s, sized by %q, without the policy", pod.Name, cpu, by)
		}
	}
	s.tellsOwner("Warning", "AdmissionIneffective", member, "new Pods are created without their size")
	s.resize(`{"spec":{"policy":{"evictOn":"Any"}}}`)
	s.becomesLate("what is missing is found out", admits(member, v1alpha1.AdmissionMissing), hasEvicted(nil),
		states("VerticalActuation=False/PolicyMissing", member, "it has no "+bindings.GroupResource().String()+" "+policyName,
			"apply deploy/member-sizes"))
	if ended := pods.ended(s.t); len(ended) > 0 {
		s.t.Errorf("%d Pods were evicted while new ones got no size", len(ended))
	}

	if _, err := s.Ask(s.t.Context(), "--context", member, "apply", "-k", s.Deploy("member-sizes")); err != nil {
		s.t.Fatal(err)
	}
	s.becomesLate("it is there again, and Pods come to their size", admits(member, v1alpha1.AdmissionInstalled),
		isSized(v1alpha1.MultidimActive, "4/4"), states("VerticalActuation=True/Actuating"))
	all, least := pods.told(s.t)
	if ended := pods.ended(s.t); len(all) != 8 || len(ended) != 4 || least < 2 {
		s.t.Errorf("of %d Pods %d have ended, and %d or more were Ready; want that 4 were replaced one by one", len(all), len(ended), least)
	}
}

// createsBare waits until the API server has noticed that the policy no longer holds: a Pod would be created as it is.
func (s *stage) createsBare(member string) {
	s.t.Helper()
	pod := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "would-be", "labels": map[string]any{"app": "web"}},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "web", "image": "web"}}},
	}}
	eventually(s.t, s.ns+": new Pods get no size", func(ctx context.Context) error {
		created, err := s.resource(member, "v1", "Pod").Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && created.GetAnnotations()[sizedBy] != "" {
			err = errors.New("they do")
		}
		return err
	})
}

// hasEntry wants the member to have what new Pods are created with.
func hasEntry(s *stage, member string) func(*v1alpha1.MultidimPodAutoscaler) error {
	return func(m *v1alpha1.MultidimPodAutoscaler) error {
		there, err := s.entries(s.t.Context(), member)
		if err == nil && len(there) == 0 {
			err = fmt.Errorf("%s has no entry of %s", member, m.Name)
		}
		return err
	}
}

// becomesLate is becomes for what is found out in minutes only.
func (s *stage) becomesLate(what string, right ...func(*v1alpha1.MultidimPodAutoscaler) error) {
	s.t.Helper()
	begin := time.Now()
	if err := fixture.Await(s.t.Context(), 2*patience, func(ctx context.Context) error {
		_, err := s.isNow(ctx, "web", right...)
		return err
	}); err != nil {
		s.t.Fatalf("%s: %s: %v", s.ns, what, err)
	}
	s.t.Logf("%s: %s: after %v", s.ns, what, time.Since(begin).Round(time.Second))
}
