// SPDX-License-Identifier: Apache-2.0

package apiguard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"

	"github.com/fleetscale/fleetscale/pkg/hub/apiservice"
)

// Reasons of Events on an APIService.
const (
	// ReasonPointsElsewhere is that of one that points elsewhere.
	ReasonPointsElsewhere = "PointsElsewhere"
	// ReasonSplit is that of one that does so while another version of its group points at us.
	ReasonSplit = "Split"
)

// advice returns what to do about an APIService that is not ours.
func advice(group string) string {
	if !slices.Contains(apiservice.Groups(), group) {
		return "apply deploy/ again, and keep others from applying it"
	}
	return fmt.Sprintf("to take it over, run `kubectl fleetscale takeover --apis=%[1]s` and keep others from applying it;"+
		" to leave it to them, run `kubectl fleetscale restore --apis=%[1]s` and remove %[1]s from the adapter's --apis", group)
}

// GuardOptions say what a Guard watches over.
type GuardOptions struct {
	Client aggregator.Interface
	// APIs are the groups that the adapter serves, of [apiservice.Groups]; our own are watched over besides.
	APIs []string
	// Service is ours: where the APIServices should point.
	Service types.NamespacedName
	// Period is the interval of checks, and bounds each of them.
	Period time.Duration

	Metrics *Metrics
	// Recorder writes Events on APIServices. May be nil.
	Recorder record.EventRecorder
}

// Guard reports when an APIService of ours points elsewhere. It needs the right
// to get them, and never writes.
type Guard struct {
	options GuardOptions
	watched []apiservice.Version
	last    map[string]finding           // by APIService
	shares  map[string]apiservice.Shares // by group
	silent  bool                         // the hub did not answer the last time
}

// NewGuard returns a guard that knows nothing until it runs. It panics where
// [apiservice.CheckGroups] refuses the groups.
func NewGuard(o GuardOptions) *Guard {
	watched, err := apiservice.Versions(o.APIs)
	if err != nil {
		panic("apiguard: GuardOptions.APIs: " + err.Error())
	}
	return &Guard{
		options: o, watched: slices.Concat(watched, apiservice.Own()), last: map[string]finding{}, shares: map[string]apiservice.Shares{},
	}
}

// finding is what was seen of an APIService.
type finding struct {
	exists bool
	target types.NamespacedName
	uid    types.UID
}

// Run checks the APIServices at once and then every period until ctx ends.
// It must be called once.
func (g *Guard) Run(ctx context.Context) {
	wait.UntilWithContext(ctx, g.check, g.options.Period)
}

func (g *Guard) check(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, g.options.Period)
	defer cancel()
	var errs []error
	for _, v := range g.watched {
		now, err := g.find(limited, v.APIService())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		g.judge(ctx, v, now)
	}
	if ctx.Err() != nil {
		return
	}
	if len(errs) == 0 {
		for _, group := range g.options.APIs {
			g.judgeGroup(ctx, group)
		}
	}
	g.admit(ctx, errors.Join(errs...))
}

func (g *Guard) find(ctx context.Context, name string) (finding, error) {
	api, err := g.options.Client.ApiregistrationV1().APIServices().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return finding{}, nil
	}
	if err != nil {
		return finding{}, fmt.Errorf("getting APIService %s: %w", name, err)
	}
	return finding{exists: true, target: apiservice.Target(api), uid: api.UID}, nil
}

// judge reports each change once.
func (g *Guard) judge(ctx context.Context, v apiservice.Version, now finding) {
	name := v.APIService()
	before, known := g.last[name]
	g.last[name] = now
	g.options.Metrics.set(name, g.ours(now))
	logger := klog.FromContext(ctx).WithValues("apiservice", name)
	switch {
	case known && before.describe() == now.describe():
	case !g.ours(now):
		logger.Error(nil, "APIService is not ours, so its requests do not reach this adapter",
			"pointsTo", now.describe(), "want", apiservice.Describe(g.options.Service), "advice", advice(v.Group))
		g.record(v, now)
	case known:
		logger.Info("APIService is ours")
	}
}

// admit logs once that APIServices cannot be read: that is no alarm, since they
// may still point at us.
func (g *Guard) admit(ctx context.Context, err error) {
	if err != nil && !g.silent {
		klog.FromContext(ctx).Info("Could not read our APIServices", "reason", err.Error())
	}
	g.silent = err != nil
}

func (g *Guard) ours(f finding) bool { return f.target == g.options.Service }

func (f finding) describe() string {
	if !f.exists {
		return "nowhere: it does not exist"
	}
	return apiservice.Describe(f.target)
}

// record writes an Event if there is an object to attach it to.
func (g *Guard) record(v apiservice.Version, now finding) {
	if g.options.Recorder == nil || !now.exists {
		return
	}
	g.options.Recorder.Eventf(referenceTo(v.APIService(), now), corev1.EventTypeWarning, ReasonPointsElsewhere,
		"It points at %s and not at %s; %s", apiservice.Describe(now.target), apiservice.Describe(g.options.Service), advice(v.Group))
}

func referenceTo(name string, f finding) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: apiregistrationv1.SchemeGroupVersion.String(), Kind: "APIService", Name: name, UID: f.uid}
}
