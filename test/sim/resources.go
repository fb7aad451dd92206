// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	fleetscalev1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/fleetscale/v1alpha1"
)

// served is a resource of which objects are stored.
type served struct {
	schema.GroupVersion

	plural, singular, kind, short string
	namespaced                    bool
	writable, scalable            bool
	// told has /status, which alone writes the status.
	told bool
	// forgotten can be created, and is not kept.
	forgotten bool
}

func servedResources() []served {
	return []served{
		{GroupVersion: corev1.SchemeGroupVersion, plural: "configmaps", singular: "configmap", kind: "ConfigMap", short: "cm", namespaced: true,
			writable: true},
		{GroupVersion: corev1.SchemeGroupVersion, plural: "limitranges", singular: "limitrange", kind: "LimitRange", short: "limits",
			namespaced: true},
		{GroupVersion: corev1.SchemeGroupVersion, plural: "namespaces", singular: "namespace", kind: "Namespace", short: "ns"},
		{GroupVersion: corev1.SchemeGroupVersion, plural: "nodes", singular: "node", kind: "Node", short: "no"},
		{GroupVersion: corev1.SchemeGroupVersion, plural: "pods", singular: "pod", kind: "Pod", short: "po", namespaced: true},
		{GroupVersion: corev1.SchemeGroupVersion, plural: "resourcequotas", singular: "resourcequota", kind: "ResourceQuota", short: "quota",
			namespaced: true},
		{GroupVersion: corev1.SchemeGroupVersion, plural: "secrets", singular: "secret", kind: "Secret", namespaced: true, writable: true},
		{GroupVersion: corev1.SchemeGroupVersion, plural: "events", singular: "event", kind: "Event", short: "ev", namespaced: true,
			writable: true, forgotten: true},
		{GroupVersion: eventsv1.SchemeGroupVersion, plural: "events", singular: "event", kind: "Event", short: "ev", namespaced: true,
			writable: true, forgotten: true},
		{GroupVersion: appsv1.SchemeGroupVersion, plural: "deployments", singular: "deployment", kind: "Deployment", short: "deploy",
			namespaced: true, scalable: true},
		{GroupVersion: appsv1.SchemeGroupVersion, plural: "statefulsets", singular: "statefulset", kind: "StatefulSet", short: "sts",
			namespaced: true, scalable: true},
		{GroupVersion: autoscalingv2.SchemeGroupVersion, plural: "horizontalpodautoscalers", singular: "horizontalpodautoscaler",
			kind: "HorizontalPodAutoscaler", short: "hpa", namespaced: true, writable: true, told: true},
		{GroupVersion: v1alpha1.SchemeGroupVersion, plural: "federatedhpas", singular: "federatedhpa", kind: "FederatedHPA", short: "fhpa",
			namespaced: true, writable: true, told: true},
		{GroupVersion: v1alpha1.SchemeGroupVersion, plural: "cronfederatedhpas", singular: "cronfederatedhpa", kind: "CronFederatedHPA",
			short: "cronfhpa", namespaced: true, writable: true, told: true},
		{GroupVersion: v1alpha1.SchemeGroupVersion, plural: "multidimpodautoscalers", singular: "multidimpodautoscaler",
			kind: "MultidimPodAutoscaler", short: "mpa", namespaced: true, writable: true, told: true},
		{GroupVersion: fleetscalev1alpha1.SchemeGroupVersion, plural: fleetscalev1alpha1.PodSizesResource, singular: "podsizes",
			kind: fleetscalev1alpha1.PodSizesKind, namespaced: true, writable: true},
		{GroupVersion: admissionv1.SchemeGroupVersion, plural: "mutatingadmissionpolicies", singular: "mutatingadmissionpolicy",
			kind: "MutatingAdmissionPolicy", writable: true},
		{GroupVersion: admissionv1.SchemeGroupVersion, plural: "mutatingadmissionpolicybindings", singular: "mutatingadmissionpolicybinding",
			kind: "MutatingAdmissionPolicyBinding", writable: true},
	}
}

func findServed(gv schema.GroupVersion, plural string) (served, bool) {
	all := servedResources()
	i := slices.IndexFunc(all, func(s served) bool { return s.GroupVersion == gv && s.plural == plural })
	if i < 0 {
		return served{}, false
	}
	return all[i], true
}

func (s served) gvk() schema.GroupVersionKind { return s.WithKind(s.kind) }

func (s served) gr() schema.GroupResource {
	return schema.GroupResource{Group: s.Group, Resource: s.plural}
}

func (s served) discovered() []metav1.APIResource {
	verbs := metav1.Verbs{"get", "list", "watch"}
	if s.writable {
		verbs = append(verbs, "create", "update", "patch", "delete")
	}
	all := []metav1.APIResource{{Name: s.plural, SingularName: s.singular, Namespaced: s.namespaced, Kind: s.kind, Verbs: verbs}}
	if s.short != "" {
		all[0].ShortNames = []string{s.short}
	}
	if s.told {
		all = append(all, metav1.APIResource{Name: s.plural + "/status", Namespaced: true, Kind: s.kind,
			Verbs: metav1.Verbs{"get", "update", "patch"}})
	}
	if s.scalable {
		all = append(all, metav1.APIResource{
			Name: s.plural + "/scale", Namespaced: true, Group: "autoscaling", Version: "v1", Kind: "Scale",
			Verbs: metav1.Verbs{"get", "update", "patch"},
		})
	}
	return all
}
