// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/guard"
	"github.com/fleetscale/fleetscale/pkg/plugin"
)

// kind is one that can be explained.
type kind struct {
	names []string // as people write it
	empty func() client.Object
}

var kinds = []kind{
	{[]string{"fhpa", "federatedhpa", "federatedhpas"}, func() client.Object { return &v1alpha1.FederatedHPA{} }},
	{[]string{"cronfhpa", "cronfederatedhpa", "cronfederatedhpas"}, func() client.Object { return &v1alpha1.CronFederatedHPA{} }},
	{[]string{"mpa", "multidimpodautoscaler", "multidimpodautoscalers"}, func() client.Object { return &v1alpha1.MultidimPodAutoscaler{} }},
}

// named is what the words of a command line mean: TYPE/NAME or TYPE NAME.
func named(words []string) (of kind, name string, err error) {
	const usage = "say which: TYPE/NAME or TYPE NAME, with one of the types fhpa, cronfhpa, mpa"
	written := strings.Join(words, "/")
	word, name, found := strings.Cut(written, "/")
	if !found || word == "" || name == "" || strings.Contains(name, "/") {
		return kind{}, "", fmt.Errorf("%q names no object; %s", written, usage)
	}
	word, _, _ = strings.Cut(strings.ToLower(word), ".") // federatedhpa.autoscaling.karmada.io
	for _, k := range kinds {
		for _, known := range k.names {
			if word == known {
				return k, name, nil
			}
		}
	}
	return kind{}, "", fmt.Errorf("objects of the type %q cannot be explained; %s", word, usage)
}

// hub is what the caller can read.
type hub struct {
	client.Client

	namespace string
}

func open(caller *plugin.Caller) (*hub, error) {
	config, err := caller.Hub()
	if err != nil {
		return nil, err
	}
	namespace, err := caller.Namespace()
	if err != nil {
		return nil, err
	}
	return connect(config, namespace)
}

func connect(config *rest.Config, namespace string) (*hub, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("reaching the hub: %w", err)
	}
	return &hub{c, namespace}, nil
}

// read returns the object of that name.
func (h *hub) read(ctx context.Context, of kind, name string) (client.Object, error) {
	object := of.empty()
	err := h.get(ctx, client.ObjectKey{Namespace: h.namespace, Name: name}, object)
	switch {
	case meta.IsNoMatchError(err):
		return nil, fmt.Errorf("the hub does not know %s: install the CustomResourceDefinitions of fleetscale, or choose the hub with --context",
			of.names[2])
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("there is no %s %s in namespace %s; choose another with -n", of.names[1], name, h.namespace)
	case err != nil:
		return nil, fmt.Errorf("reading %s %s/%s: %w", of.names[1], h.namespace, name, err)
	}
	return object, nil
}

// get reads an object, unless nobody should decode it: whoever may write in its namespace could have stored what takes hours.
func (h *hub) get(ctx context.Context, key client.ObjectKey, into client.Object) error {
	kind, err := h.GroupVersionKindFor(into)
	if err != nil {
		return err
	}
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(kind)
	if err := h.Get(ctx, key, found); err != nil {
		return err
	}
	if err := guard.Unstructured(found.Object, into); err != nil {
		return fmt.Errorf("decoding it: %w", err)
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, into)
}

// target is what the autoscaler has now whose bounds a CronFederatedHPA sets. The zero value: it is none, or sets something else.
func (h *hub) target(ctx context.Context, object client.Object) cronplan.Target {
	cron, isCron := object.(*v1alpha1.CronFederatedHPA)
	if !isCron || !cronplan.TargetsAutoscaler(cron) {
		return cronplan.Target{}
	}
	ref := cron.Spec.ScaleTargetRef
	var autoscaler client.Object = &v1alpha1.FederatedHPA{}
	if ref.Kind == v1alpha1.MultidimPodAutoscalerKind {
		autoscaler = &v1alpha1.MultidimPodAutoscaler{}
	}
	if err := h.get(ctx, client.ObjectKey{Namespace: cron.Namespace, Name: ref.Name}, autoscaler); err != nil {
		return cronplan.Target{Trouble: cronplan.Unreadable(ref, err)}
	}
	return cronplan.BoundsOf(autoscaler)
}

// complete returns the objects that words may be continued to.
func (h *hub) complete(ctx context.Context, words []string, last string) []string {
	word, begun, slash := strings.Cut(last, "/")
	prefix := word + "/"
	if len(words) == 1 {
		word, begun, slash, prefix = words[0], last, true, ""
	}
	var all []string
	if !slash {
		for _, k := range kinds {
			all = append(all, k.names[0]+"/")
		}
		return all
	}
	of, _, err := named([]string{word, "x"})
	if err != nil {
		return nil
	}
	kind, err := h.GroupVersionKindFor(of.empty())
	if err != nil {
		return nil
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if h.List(ctx, list, client.InNamespace(h.namespace), client.Limit(500)) != nil {
		return nil
	}
	for i := range list.Items {
		if name := list.Items[i].Name; strings.HasPrefix(name, begun) {
			all = append(all, prefix+name)
		}
	}
	return all
}
