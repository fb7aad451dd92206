// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// vpaKind is as much of VerticalPodAutoscalers as is needed to have some. Nothing acts on them.
const vpaKind = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: verticalpodautoscalers.autoscaling.k8s.io
  annotations: {api-approved.kubernetes.io: https://github.com/kubernetes/kubernetes/pull/63797}
spec:
  group: autoscaling.k8s.io
  scope: Namespaced
  names: {kind: VerticalPodAutoscaler, plural: verticalpodautoscalers, singular: verticalpodautoscaler, listKind: VerticalPodAutoscalerList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// sizeByVPA has a member size the workload by itself.
func (s *stage) sizeByVPA(member, mode string) {
	s.t.Helper()
	manifest := fmt.Sprintf("apiVersion: autoscaling.k8s.io/v1\nkind: VerticalPodAutoscaler\nmetadata: {name: local, namespace: %s}\nspec: "+
		"{targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, updatePolicy: {updateMode: %q}}\n", s.ns, mode)
	eventually(s.t, member+" has a VerticalPodAutoscaler", func(ctx context.Context) error { // the kind may be a moment late
		_, err := s.Feed(ctx, manifest, "--context", member, "apply", "-f", "-")
		return err
	})
}

// memberHasVPA: a VerticalPodAutoscaler of a member is in the way there, and only there. Once it does no more than recommend, that
// cluster takes part.
func (s *stage) memberHasVPA() {
	definitions := s.clients[resizesOnly].Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
	kind := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(vpaKind), &kind.Object); err != nil {
		s.t.Fatal(err)
	}
	if _, err := definitions.Apply(s.t.Context(), kind.GetName(), kind, applying()); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := definitions.Delete(afterwards(s.t), kind.GetName(), metav1.DeleteOptions{}); err != nil {
			s.t.Error(err)
		}
	})
	s.sizeByVPA(resizesOnly, "Auto")

	s.runSmall(2, "", sizesNewPods, resizesOnly)
	first, others := s.running(sizesNewPods, 2), s.running(resizesOnly, 2)
	s.size("clusterAffinity: {clusterNames: [member1, member3]}") // until it knows that member3 serves the kind by now
	inTheWay := []func(*v1alpha1.MultidimPodAutoscaler) error{
		clusterIs(resizesOnly, v1alpha1.ClusterConflict, "VerticalPodAutoscaler", "local"),
		states("ConfigUnsupported=True/AnotherAutoscaler", "cluster "+resizesOnly, "VerticalPodAutoscaler", "local"),
	}
	s.becomes("a VerticalPodAutoscaler is in its way", inTheWay...)
	s.tellsOwner("Warning", "AnotherAutoscaler", "cluster "+resizesOnly, "local")
	pods := s.watchLives("web", resizesOnly)
	s.resize(`{"spec":{"policy":{"updateMode":"InPlace"}}}`)
	s.grow(sizesNewPods, slices.Collect(maps.Keys(first))...)
	s.becomes("Pods of the other cluster have their size", append(inTheWay, isSized(v1alpha1.MultidimFailing, "2/4"),
		states("VerticalActuation=False/AnotherAutoscaler", resizesOnly), hasEvicted(nil))...)
	s.stays(5*verticalPeriod, sizesNewPods+" 2, "+resizesOnly+" 2")
	all, _ := pods.told(s.t)
	for _, of := range all {
		if len(of.cpu) != 1 || !of.ended.IsZero() {
			s.t.Errorf("%s of %s requested %v and ended at %v, beside a VerticalPodAutoscaler", of.name, resizesOnly, of.cpu, of.ended)
		}
	}

	s.sizeByVPA(resizesOnly, "Off")
	s.grow(resizesOnly, slices.Collect(maps.Keys(others))...)
	s.becomes("nothing is in its way", isSized(v1alpha1.MultidimActive, "4/4"), states("ConfigUnsupported=False/Supported"),
		states("VerticalActuation=True/Actuating"), clusterIs(resizesOnly, v1alpha1.ClusterActive))
}
