// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/chart"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replay"
)

// Options are those of `replay`.
type Options struct {
	// Words are TYPE/NAME, whose record the hub is asked for, or Observer; a file; or - for In.
	Words    []string
	Observer string
	// Object is NAMESPACE/NAME of a FederatedHPA in the file, and Sized of a MultidimPodAutoscaler.
	Object, Sized string
	Since         time.Duration
	// Set are fields of the spec and their values: FIELD=VALUE.
	Set []string
	// Above is the bound of the use, in percent, 0: the usual; CutOff is from which use of the requests Pods are at their limit.
	Above, CutOff int64
	Sweep         SweepOptions
	// Format is one of [Formats].
	Format string
}

// Formats are those of `replay`.
func Formats() []string { return []string{"text", "json", "html", "svg"} }

// The usual bounds of the use, in percent: of what Pods request, and of a target.
const usualOfRequests, usualOfTarget = 90, 120

// Replay prints what recorded decisions would have been by another spec, beside what they were.
func Replay(ctx context.Context, caller *plugin.Caller, o Options) error {
	if err := o.validate(); err != nil {
		return err
	}
	l, err := o.load(ctx, caller)
	if err != nil {
		return err
	}
	run := replay.Options{CutOff: o.CutOff}
	if len(o.Set) > 0 {
		run.Change, run.ChangeSizes = o.change(l), o.changeSizes(l)
	}
	switch {
	case o.Sweep.Targets == "" && !o.Sweep.Wished:
	case l.records[0].Sizes != nil:
		return o.sweepSizes(caller.Out, l, run)
	default:
		return o.sweep(caller.Out, l, run)
	}
	result, err := replay.Run(l.records, run)
	if err != nil {
		return fmt.Errorf("%s: %w", l.title(), err)
	}
	r := newReport(l, result, o.Above, len(o.Set) > 0)
	return o.write(caller.Out, r, r.text, r.pictures, func() any { return map[string]any{"replay": r.view(o.Set)} })
}

func (o *Options) validate() error {
	if err := plugin.ValidateFormat(o.Format, Formats()...); err != nil {
		return err
	}
	switch {
	case o.Above < 0 || o.CutOff < 0:
		return errors.New("--above and --cut-off: must be 0 or more")
	case o.Since < 0:
		return errors.New("--since: must be 0 or more")
	}
	return o.Sweep.validate()
}

func (o *Options) load(ctx context.Context, caller *plugin.Caller) (*loaded, error) {
	since := time.Time{}
	if o.Since > 0 {
		since = time.Now().Add(-o.Since)
	}
	if _, _, isObject := cut(o.Words); isObject || o.Observer != "" {
		object, err := named(caller, o.Words)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
		defer cancel()
		body, err := fetch(ctx, caller, o.Observer, object, o.Since)
		if err != nil {
			return nil, err
		}
		defer body.Close()
		return load(body, object, since)
	}
	object, err := o.inFile()
	if err != nil {
		return nil, err
	}
	if len(o.Words) != 1 {
		return nil, errors.New("name an autoscaler as fhpa/NAME or mpa/NAME, or one file, or - for the standard input")
	}
	if o.Words[0] == "-" {
		return load(caller.In, object, since)
	}
	file, err := os.Open(o.Words[0])
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return load(file, object, since)
}

// inFile is the object of the file that is wanted; without a name, the only one.
func (o *Options) inFile() (object recording.Object, err error) {
	flag, text, kind := "--fhpa", o.Object, recording.Replicas
	switch {
	case o.Object != "" && o.Sized != "":
		return object, errors.New("--fhpa and --mpa: give one of them")
	case o.Sized != "":
		flag, text, kind = "--mpa", o.Sized, recording.SizesKind
	case o.Object == "":
		return object, nil
	}
	namespace, name, found := strings.Cut(text, "/")
	if !found || namespace == "" || name == "" {
		return object, fmt.Errorf("%s: write NAMESPACE/NAME, got %q", flag, text)
	}
	return recording.Object{Namespace: namespace, Name: name, Kind: kind}, nil
}

// changeSizes is change, of a MultidimPodAutoscaler.
func (o *Options) changeSizes(l *loaded) func(*v1alpha1.MultidimPodAutoscalerSpec) (*v1alpha1.MultidimPodAutoscalerSpec, error) {
	return func(before *v1alpha1.MultidimPodAutoscalerSpec) (*v1alpha1.MultidimPodAutoscalerSpec, error) {
		object := &v1alpha1.MultidimPodAutoscaler{Spec: *before}
		object.Namespace, object.Name = l.Namespace, l.Name
		changed, err := plugin.WithSizeSettings(object, o.Set)
		if err != nil {
			return nil, err
		}
		return &changed.Spec, nil
	}
}

// change sets the fields in each spec that decisions were made by.
func (o *Options) change(l *loaded) func(*v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error) {
	return func(before *v1alpha1.FederatedHPASpec) (*v1alpha1.FederatedHPASpec, error) {
		object := &v1alpha1.FederatedHPA{Spec: *before}
		object.Namespace, object.Name = l.Namespace, l.Name
		changed, err := plugin.WithSettings(object, o.Set)
		if err != nil {
			return nil, err
		}
		return &changed.Spec, nil
	}
}

// write prints a value in the format that was asked for.
func (o *Options) write(w io.Writer, value any, text func() string, pictures func() []chart.Plot, shown func() any) error {
	var out string
	switch o.Format {
	case "json":
		return plugin.Encode(w, o.Format, value)
	case "svg":
		out = chart.Column(pictures()...)
	case "html":
		var err error
		plots := pictures()
		if out, err = page(plots[0].Title, shown(), plots, text()); err != nil {
			return err
		}
	default:
		out = fleet.PrintableLines(text())
	}
	_, err := io.WriteString(w, out)
	return err
}
