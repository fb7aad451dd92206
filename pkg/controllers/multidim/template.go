// SPDX-License-Identifier: Apache-2.0

package multidim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
	"github.com/fleetscale/fleetscale/pkg/members/workload"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// rereadAfter is how long a template holds while nothing shows that it changed.
const rereadAfter = time.Hour

// workloadMemory is the template that was read last. It is read again when the object is another, after a while, and when a Pod
// has appeared that requests what none did before: each time would be a request for every object and period.
type workloadMemory struct {
	template   *template
	generation int64 // of the object
	readAt     time.Time
	shared     map[string]bool // clusters that run the same
	shapes     map[string]bool // of which templates its Pods are, or what they request
}

// templateOf returns the template of the workload. Where it cannot be read now, the last one holds.
func (r *Reconciler) templateOf(ctx context.Context, in *situation, known *workloadMemory) (*template, error) {
	fresh := known.template != nil && known.generation == in.Object.Generation && in.Now.Sub(known.readAt) < rereadAfter
	if fresh {
		return known.template, nil
	}
	read, err := r.readTemplate(ctx, in)
	switch {
	case err == nil:
		known.template, known.generation, known.readAt, known.shared = read, in.Object.Generation, in.Now, nil
	case known.template == nil || known.generation != in.Object.Generation || errors.Is(err, errNowhere):
		*known = workloadMemory{}
		return nil, err
	default:
		klog.FromContext(ctx).V(2).Info("Could not read the workload again", "err", err)
	}
	return known.template, nil
}

// mostShapes bounds what is remembered of them: a cluster may have as many Pods that differ as it likes.
const mostShapes = 100

// compare has the template be read again if there are Pods of a template that none was made of before, or, where Pods do not say of
// which they are, Pods that request what none did before.
func (m *workloadMemory) compare(clusters []cluster) {
	shapes := map[string]bool{}
	var last *pods.Container // of Pods that share what they request
	for i := range clusters {
		for _, p := range clusters[i].pods.Pods {
			if len(p.Containers) == 0 || &p.Containers[0] == last || len(shapes) == mostShapes {
				continue
			}
			last = &p.Containers[0]
			shape := p.Revision
			if shape == "" {
				shape = fmt.Sprint(p.Containers)
			}
			shapes[shape] = true
		}
	}
	for shape := range shapes {
		if m.shapes != nil && !m.shapes[shape] {
			m.readAt = time.Time{}
		}
	}
	m.shapes = shapes
}

// remember notes which clusters run the same: that holds until the template is read again.
func (m *workloadMemory) remember(clusters []cluster) {
	m.shared = make(map[string]bool, len(clusters))
	for i := range clusters {
		if clusters[i].shares {
			m.shared[clusters[i].name] = true
		}
	}
}

// readTemplate reads the workload on the hub, or in the first cluster that has it.
func (r *Reconciler) readTemplate(ctx context.Context, in *situation) (*template, error) {
	ref := in.Object.Spec.ScaleTargetRef
	found := &unstructured.Unstructured{}
	found.SetAPIVersion(ref.APIVersion)
	found.SetKind(ref.Kind)
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: in.Object.Namespace, Name: ref.Name}, found)
	if err == nil {
		return parse(found, func() (string, error) { return r.selectorOnHub(ctx, in) })
	}
	if !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("reading %s on the hub: %w", workload.Describe(ref), err)
	}
	ctx, cancel := context.WithTimeout(ctx, r.Fleet.Timeout)
	defer cancel()
	nowhere := errNowhere
	faults := []string{"on the hub: " + err.Error()}
	for i := range in.clusters {
		c := &in.clusters[i]
		found, err := c.Get(ctx, in.Object.Namespace, ref)
		if err == nil {
			read, err := parse(found, func() (string, error) { return c.selector(ctx, in) })
			if err == nil {
				read.from = c.name
			}
			return read, err
		}
		faults = append(faults, fmt.Sprintf("in cluster %s: %v", c.name, err))
		if _, absent := fleet.Classify(err); !absent && !meta.IsNoMatchError(err) {
			nowhere = errUnread
		}
	}
	return nil, fmt.Errorf("%s %w: %s", workload.Describe(ref), nowhere, strings.Join(faults, "; "))
}

var (
	errNowhere = errors.New("is not there")
	errUnread  = errors.New("cannot be read")
)

// parse reads the template; scale is asked for the selector if the workload does not say it where most do.
func parse(found *unstructured.Unstructured, scale func() (string, error)) (*template, error) {
	spec, err := workload.TemplateOf(found)
	if err != nil {
		return nil, err
	}
	if err := sound(&spec.Spec); err != nil {
		return nil, fmt.Errorf("spec.template of %s %q: %w", found.GetKind(), found.GetName(), err)
	}
	t := &template{PodTemplateSpec: spec}
	if t.selector = selectorOf(found); !t.selector.Empty() {
		return t, nil
	}
	text, err := scale()
	if err == nil {
		t.selector, err = labels.Parse(text)
	}
	if err == nil && t.selector.Empty() {
		err = errors.New("its scale has no selector")
	}
	if err != nil {
		return nil, fmt.Errorf("reading which Pods belong to the workload: %w", err)
	}
	return t, nil
}

// mostContainers are so many that a recommendation holds.
const mostContainers = 100

// sound is nil if an API server would make Pods of it, whatever the workload's own lets pass: what is recommended has to be stored.
func sound(spec *corev1.PodSpec) error {
	if n := len(spec.Containers); n > mostContainers {
		return fmt.Errorf("it has %d containers, and at most %d can be sized", n, mostContainers)
	}
	known := map[string]bool{}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		if faults := validation.IsDNS1123Label(c.Name); len(faults) > 0 {
			return fmt.Errorf("a container has the name %q: %s", summary.Brief(c.Name, 2*validation.DNS1123LabelMaxLength), faults[0])
		}
		if known[c.Name] {
			return fmt.Errorf("two containers have the name %q", c.Name)
		}
		known[c.Name] = true
	}
	return nil
}

// selectorOf is empty for what is no selector.
func selectorOf(found *unstructured.Unstructured) labels.Selector {
	written, _, err := unstructured.NestedMap(found.Object, "spec", "selector")
	selector := &metav1.LabelSelector{}
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(written, selector) != nil {
		return labels.Everything()
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return labels.Everything()
	}
	return parsed
}

func (r *Reconciler) selectorOnHub(ctx context.Context, in *situation) (string, error) {
	ref := in.Object.Spec.ScaleTargetRef
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return "", err
	}
	mapping, err := r.Hub.RESTMapper().RESTMapping(gv.WithKind(ref.Kind).GroupKind(), gv.Version)
	if err != nil {
		return "", err
	}
	scale, err := r.Scales.Scales(in.Object.Namespace).Get(ctx, mapping.Resource.GroupResource(), ref.Name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	return scale.Status.Selector, nil
}

func (c *cluster) selector(ctx context.Context, in *situation) (string, error) {
	scale, err := c.Scale(ctx, in.Object.Namespace, in.Object.Spec.ScaleTargetRef)
	if err != nil {
		return "", err
	}
	return scale.Status.Selector, nil
}
