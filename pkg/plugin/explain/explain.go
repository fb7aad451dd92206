// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/cronplan"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/plugin"
)

// Options are those of `explain`.
type Options struct {
	// Words name the object: TYPE/NAME, or TYPE and NAME.
	Words []string
	// Format is text, json or yaml.
	Format string
	// Observer is where a controller-manager with --observe serves what it decided; empty: what the hub stores is explained.
	Observer string
}

// Formats are those of `explain` and `what-if`.
func Formats() []string { return []string{"text", "json", "yaml"} }

// Run prints why the object is as it is.
func Run(ctx context.Context, caller *plugin.Caller, o Options) error {
	if err := plugin.ValidateFormat(o.Format, Formats()...); err != nil {
		return err
	}
	of, name, err := named(o.Words)
	if err != nil {
		return err
	}
	object, err := find(ctx, caller, o.Observer, of, name)
	if err != nil {
		return err
	}
	h, err := open(caller) // the target of a CronFederatedHPA is the hub's in any case
	if err != nil {
		return err
	}
	return o.print(caller.Out, object, h.target(ctx, object), time.Now())
}

// Complete returns what an argument may be.
func Complete(ctx context.Context, caller *plugin.Caller, words []string, last string) []string {
	h, err := open(caller)
	if err != nil {
		return nil
	}
	return h.complete(ctx, words, last)
}

func (o *Options) print(w io.Writer, object client.Object, target cronplan.Target, now time.Time) error {
	if o.Format == "text" {
		text, err := Text(object, target, now)
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, text)
		return err
	}
	value, err := machine(object)
	if err != nil {
		return err
	}
	return plugin.Encode(w, o.Format, value)
}

// textOf is why an object is as it is; target is what one that sets another now has.
func textOf(object client.Object, target cronplan.Target, now time.Time) (string, error) {
	switch o := object.(type) {
	case *v1alpha1.FederatedHPA:
		if o.Distributed() {
			return distributed(o, now), nil
		}
		return central(o, now)
	case *v1alpha1.CronFederatedHPA:
		return cron(o, target, now), nil
	case *v1alpha1.MultidimPodAutoscaler:
		return multidim(o), nil
	}
	return "", fmt.Errorf("objects of the type %T cannot be explained", object)
}

// Text is why an object is as it is, as the command prints it; target is what one that sets another now has.
func Text(object client.Object, target cronplan.Target, now time.Time) (string, error) {
	text, err := textOf(object, target, now)
	return fleet.PrintableLines(text), err
}

// mostTold bounds, in characters, what is repeated of a text of others: as much as a status holds of one.
const mostTold = 4096

// told is a text of others, of a member or a tenant, in one line of ours.
func told(text string) string { return fleet.PrintableLine(text, mostTold) }

// machine is what programs get: the part of the status that explains.
func machine(object client.Object) (any, error) {
	switch o := object.(type) {
	case *v1alpha1.FederatedHPA:
		if o.Status.Explanation == nil {
			return nil, unexplained(o)
		}
		return o.Status.Explanation, nil
	case *v1alpha1.CronFederatedHPA:
		return o.Status.ExecutionHistories, nil
	case *v1alpha1.MultidimPodAutoscaler:
		if o.Status.Explanation != nil {
			return o.Status.Explanation, nil
		}
		return o.Status.Recommendation, nil
	}
	return nil, fmt.Errorf("objects of the type %T cannot be explained", object)
}

// ago says how long ago that was, or in how long it is.
func ago(t, now time.Time) string {
	if t.After(now) {
		return "in " + duration.HumanDuration(t.Sub(now))
	}
	return duration.HumanDuration(now.Sub(t)) + " ago"
}
