// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/explanation"
	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/series"
)

// usualReturns is how often a former leader may be one again without that being said.
const usualReturns = 3

// hubTimeout bounds the question for the autoscaler.
const hubTimeout = 30 * time.Second

// made is the record of an autoscaler, made of what a Prometheus has of it and of its present spec.
func (o *RecordOptions) made(ctx context.Context, caller *plugin.Caller, object recording.Object) (io.ReadCloser, error) {
	if err := o.Prometheus.validate(o.Since); err != nil {
		return nil, err
	}
	of, err := present(ctx, caller, object)
	if err != nil {
		return nil, err
	}
	until := time.Now()
	found, err := o.Prometheus.past(ctx, object, until.Add(-o.Since), until)
	if err != nil {
		return nil, err
	}
	records := series.Records(of, found.moments)
	if len(records) == 0 {
		return nil, fmt.Errorf("%s, FederatedHPA %s/%s, the last %v: %s", o.Prometheus.URL, object.Namespace,
			object.Name, o.Since, found.nothing())
	}
	stream, err := encoded(records)
	if err != nil {
		return nil, err
	}
	for _, line := range found.notes(records) {
		if _, err := fmt.Fprintf(caller.ErrOut, "%s: %s\n", object.Name, line); err != nil {
			return nil, err
		}
	}
	return io.NopCloser(bytes.NewReader(stream)), nil
}

func encoded(records []*recording.Record) (stream []byte, err error) {
	stream = []byte(recording.Magic)
	encoder := recording.NewEncoder()
	for _, r := range records {
		if stream, err = encoder.Append(stream, r); err != nil {
			return nil, err
		}
	}
	return stream, nil
}

// nothing says why there is no decision in what was found.
func (p *past) nothing() string {
	need, _ := series.Lacking(p.names)
	switch {
	case len(p.names) == 0:
		return "there are no series of it. Is the controller-manager scraped, and is the autoscaler among --metrics-per-object?"
	case len(need) > 0:
		return "there are no series of " + strings.Join(need, ", ") + ". Are they dropped by relabelling?"
	}
	return "the series tell of no decision: it was paused, or in distributed mode"
}

// notes say what was found, and what was not.
func (p *past) notes(records []*recording.Record) []string {
	untold := 0
	for _, r := range records {
		if r.Question.NeedsMetrics() && len(r.Question.Metrics) == 0 {
			untold++
		}
	}
	all := []string{fmt.Sprintf("%d decisions; what %d of them were told by metrics is not in the series", len(records), untold)}
	if _, tell := series.Lacking(p.names); untold > 0 && len(tell) > 0 {
		all = append(all, "there are no series of "+strings.Join(tell, ", ")+
			". Was it an earlier version, or are they dropped by relabelling?")
	}
	if n := series.Returns(p.moments); n > usualReturns {
		all = append(all, fmt.Sprintf("two programs told of it by turns, %d times: "+
			"choose one hub by --prometheus-match, if there are series of several", n))
	}
	return all
}

// present is what the hub has of an autoscaler, with its defaults.
func present(ctx context.Context, caller *plugin.Caller, object recording.Object) (series.Of, error) {
	ctx, cancel := context.WithTimeout(ctx, hubTimeout)
	defer cancel()
	config, err := caller.Hub()
	if err != nil {
		return series.Of{}, err
	}
	hub, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return series.Of{}, fmt.Errorf("reaching the hub: %w", err)
	}
	f, err := plugin.Object[v1alpha1.FederatedHPA](ctx, hub.RESTClient(),
		"/apis/"+v1alpha1.SchemeGroupVersion.String()+"/namespaces/"+object.Namespace+"/federatedhpas/"+object.Name)
	switch {
	case apierrors.IsNotFound(err):
		return series.Of{}, fmt.Errorf("there is no FederatedHPA %s in namespace %s, whose spec the series do not tell; choose another with -n",
			object.Name, object.Namespace)
	case err != nil:
		return series.Of{}, fmt.Errorf("reading FederatedHPA %s/%s: %w", object.Namespace, object.Name, err)
	}
	v1alpha1.DefaultFederatedHPA(f)
	object.UID = string(f.UID)
	of := series.Of{Object: object, Spec: &f.Spec}
	of.Options = explanation.Options(f.Status.Explanation, &f.Spec.HorizontalPodAutoscalerSpec)
	return of, nil
}
