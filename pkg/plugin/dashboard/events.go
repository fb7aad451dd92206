// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// eventsTimeout bounds the wait for Events: the page is shown without.
	eventsTimeout = 5 * time.Second
	// mostEvents is how many are shown, the latest; mostRead is how many are read.
	mostEvents, mostRead = 50, 500
)

// eventsOf lists what is said of an object, the latest first. Trouble is why that may be another; empty: nothing is.
func eventsOf(ctx context.Context, hub dynamic.Interface, object client.Object) (all []said, trouble string) {
	ctx, cancel := context.WithTimeout(ctx, eventsTimeout)
	defer cancel()
	of := fields.Set{"involvedObject.kind": kindOf(object).name, "involvedObject.name": object.GetName()}
	list, err := hub.Resource(corev1.SchemeGroupVersion.WithResource("events")).Namespace(object.GetNamespace()).
		List(ctx, metav1.ListOptions{FieldSelector: of.String(), Limit: mostRead})
	all = []said{}
	switch {
	case apierrors.IsForbidden(err):
		return all, "You may not list Events in this namespace. " + told(err)
	case err != nil:
		return all, "Events cannot be listed at present. " + told(err)
	}
	for i := range list.Items {
		var e corev1.Event
		if runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, &e) != nil {
			trouble = "Some Events cannot be read."
			continue
		}
		all = append(all, saidOf(&e))
	}
	slices.SortStableFunc(all, func(a, b said) int { return cmp.Compare(b.At, a.At) })
	return all[:min(len(all), mostEvents)], trouble
}
