// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/hub/served"
	"github.com/fleetscale/fleetscale/pkg/summary"
)

// ReasonAskedToo is the reason of the Event on a configuration of Karmada's: its webhooks are asked about our kinds, too.
const ReasonAskedToo = "KarmadaIsAskedToo"

// Options say what is watched, and how often.
type Options struct {
	// Hub reads Karmada's two configurations. No cache: nobody else needs them, and who may list all
	// configurations may read more than these.
	Hub client.Reader
	// Mapper tells by its kinds whether the hub is a control plane of Karmada. Others have no such configurations, and grant no right to
	// read them.
	Mapper meta.RESTMapper
	// Period is the interval of checks, and bounds each of them. Above 0.
	Period  time.Duration
	Metrics *served.Metrics // of [served.NewWebhookMetrics]
	// Recorder writes Events on the configurations.
	Recorder events.EventRecorder
}

// Watch tells when Karmada's webhooks for our kinds come back, and when they have gone.
type Watch struct {
	options Options
	last    map[string][]Rival // by configuration, of those that could be read
	silent  bool               // one could not be read the last time
}

// New returns a watch that knows nothing until it runs.
func New(o Options) *Watch { return &Watch{options: o, last: map[string][]Rival{}} }

// Run checks at once and then every period until ctx ends. It must be called once.
func (w *Watch) Run(ctx context.Context) { wait.UntilWithContext(ctx, w.check, w.options.Period) }

// configuration is one of Karmada's.
type configuration struct {
	resource, name string
	effect         string // of rivals in it, for people
	read           func(context.Context, client.Reader) (client.Object, []Rival, error)
}

func configurations() []configuration {
	return []configuration{
		{"mutatingwebhookconfiguration", Mutating, "fields that Karmada does not know are lost when an object is written", readMutating},
		{"validatingwebhookconfiguration", Validating, "what Karmada does not know is refused, such as minReplicas 0", readValidating},
	}
}

func readMutating(ctx context.Context, hub client.Reader) (client.Object, []Rival, error) {
	c := &admissionregistrationv1.MutatingWebhookConfiguration{}
	err := hub.Get(ctx, client.ObjectKey{Name: Mutating}, c)
	return c, InMutating(c), err
}

func readValidating(ctx context.Context, hub client.Reader) (client.Object, []Rival, error) {
	c := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	err := hub.Get(ctx, client.ObjectKey{Name: Validating}, c)
	return c, InValidating(c), err
}

func (w *Watch) check(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, w.options.Period)
	defer cancel()
	var errs []error
	for _, c := range configurations() {
		object, rivals, err := w.read(limited, c)
		if err != nil {
			errs = append(errs, fmt.Errorf("getting %s %s: %w", c.resource, c.name, err))
			continue
		}
		w.judge(ctx, c, object, rivals)
	}
	if ctx.Err() == nil {
		w.measure()
		w.admit(ctx, errors.Join(errs...))
	}
}

// read returns the rivals in a configuration, and itself if it is there.
func (w *Watch) read(ctx context.Context, c configuration) (client.Object, []Rival, error) {
	_, err := w.options.Mapper.RESTMapping(schema.GroupKind{Group: "policy.karmada.io", Kind: "PropagationPolicy"})
	if meta.IsNoMatchError(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	object, rivals, err := c.read(ctx, w.options.Hub)
	return object, rivals, client.IgnoreNotFound(err)
}

// judge reports each change once.
func (w *Watch) judge(ctx context.Context, c configuration, object client.Object, now []Rival) {
	before, known := w.last[c.resource]
	w.last[c.resource] = now
	logger := klog.FromContext(ctx).WithValues("configuration", c.resource+"/"+c.name)
	switch {
	case known && slices.EqualFunc(before, now, same):
	case len(now) > 0:
		logger.Error(nil, "Webhooks of Karmada are asked about our kinds", "webhooks", names(now), "effect", c.effect, "advice", c.advice(now))
		note := fmt.Sprintf("Asked about kinds of fleetscale: %s; %s; %s", strings.Join(names(now), ", "), c.effect, c.advice(now))
		w.options.Recorder.Eventf(object, nil, corev1.EventTypeWarning, ReasonAskedToo, "Check", "%s", summary.Brief(note, summary.LongestNote))
	case len(before) > 0:
		logger.Info("Webhooks of Karmada are no longer asked about our kinds")
	}
}

func same(a, b Rival) bool { return a.Name == b.Name && slices.Equal(a.Kinds, b.Kinds) }

func names(rivals []Rival) []string {
	var all []string
	for _, r := range rivals {
		all = append(all, fmt.Sprintf("%s (%s)", r.Name, strings.Join(r.Kinds, ", ")))
	}
	return all
}

func (c configuration) advice(rivals []Rival) string {
	return fmt.Sprintf("run `%s`, and keep Karmada's installer from bringing them back (docs/karmada.md)", Remedy(c.resource, c.name, rivals))
}

// measure does so once both configurations could be read.
func (w *Watch) measure() {
	if len(w.last) < len(configurations()) {
		return
	}
	asked := map[string]bool{}
	for _, rivals := range w.last {
		for _, r := range rivals {
			for _, kind := range r.Kinds {
				asked[kind] = true
			}
		}
	}
	for _, kind := range Kinds() {
		w.options.Metrics.Set(kind, !asked[kind])
	}
}

// admit logs once that a configuration cannot be read, which is no finding. Where the right to read them is not granted, nobody wants to
// know.
func (w *Watch) admit(ctx context.Context, err error) {
	if err != nil && !w.silent {
		level := 0
		if apierrors.IsForbidden(err) {
			level = 2
		}
		klog.FromContext(ctx).V(level).Info("Could not read the webhook configurations of Karmada", "reason", err.Error())
	}
	w.silent = err != nil
}
