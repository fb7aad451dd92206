// SPDX-License-Identifier: Apache-2.0

package replaying

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/history/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordstore"
)

// fetchTimeout bounds a request for a record, with the times that it is asked for again while others read theirs.
const fetchTimeout = 5 * time.Minute

// RecordOptions are those of `record`.
type RecordOptions struct {
	// Words name objects of a namespace: TYPE/NAME.
	Words []string
	// Observer is where a controller-manager that observes serves its record; empty: the hub is asked.
	Observer string
	// Prometheus is asked instead, if it has a URL.
	Prometheus Prometheus
	// Since is how far back the record goes; 0: as far as there is one.
	Since time.Duration
	// File is where it is written to; -: Out.
	File string
}

// Record writes the record of decisions on objects to a file, one after the other.
func Record(ctx context.Context, caller *plugin.Caller, o RecordOptions) error {
	objects, err := allNamed(caller, o.Words)
	if err != nil {
		return err
	}
	if o.File == "-" {
		_, err := o.copy(ctx, caller, caller.Out, objects)
		return err
	}
	file, err := os.CreateTemp(dirOf(o.File), ".record-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // nothing is left of half a record
	n, err := o.copy(ctx, caller, file, objects)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return err
	}
	if err := os.Rename(file.Name(), o.File); err != nil {
		return err
	}
	_, err = fmt.Fprintf(caller.ErrOut, "%d bytes written to %s\n", n, o.File)
	return err
}

// copy writes the records of objects.
func (o *RecordOptions) copy(
	ctx context.Context, from *plugin.Caller, to io.Writer, objects []recording.Object,
) (written int64, err error) {
	for _, object := range objects {
		n, err := o.copyOne(ctx, from, to, object)
		if written += n; err != nil {
			return written, err
		}
	}
	return written, nil
}

func (o *RecordOptions) copyOne(ctx context.Context, caller *plugin.Caller, to io.Writer, object recording.Object) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	body, err := o.fetch(ctx, caller, object)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	n, err := io.Copy(to, body)
	if err != nil {
		return n, fmt.Errorf("the record did not come whole: %w", err)
	}
	return n, nil
}

func (o *RecordOptions) fetch(ctx context.Context, caller *plugin.Caller, object recording.Object) (io.ReadCloser, error) {
	switch {
	case o.Prometheus.URL == "":
		return fetch(ctx, caller, o.Observer, object, o.Since)
	case o.Observer != "":
		return nil, errors.New("--observer and --from-prometheus: give one of them")
	case object.Kind == recording.SizesKind:
		return nil, errors.New("--from-prometheus: metrics do not tell what sizes were decided by; a record of that is kept from now on, " +
			"without this flag")
	}
	return o.made(ctx, caller, object)
}

func dirOf(file string) string {
	if i := strings.LastIndexByte(file, os.PathSeparator); i >= 0 {
		return file[:i+1]
	}
	return "."
}

// fetch asks for the record of an object: the hub, by the rights of the caller, or an observer, who is sent no credentials.
func fetch(ctx context.Context, caller *plugin.Caller, observer string, object recording.Object, since time.Duration) (
	io.ReadCloser, error) {
	var from time.Time
	if since > 0 {
		from = time.Now().Add(-since)
	}
	if observer == "" {
		config, err := caller.Hub()
		if err != nil {
			return nil, err
		}
		return FromHub(ctx, config, object, from)
	}
	_, valid := plugin.ForwardedAt(observer)
	at, err := url.Parse(observer)
	if err != nil || !valid {
		return nil, fmt.Errorf("--observer: must be an address such as http://127.0.0.1:8082, got %q", observer)
	}
	body, err := recordstore.Ask(ctx, at, nil, object, from)
	if err != nil {
		return nil, fmt.Errorf("%w; is `kubectl port-forward` of the controller-manager running?", err)
	}
	return body, nil
}

// ErrNotServed is of a hub that has no API for records.
var ErrNotServed = errors.New("the hub does not serve " + v1alpha1.GroupName)

// FromHub asks a hub for the record of an object from a time on; the zero time: for all of it. It fails with [ErrNotServed] where the hub
// has no such API.
func FromHub(ctx context.Context, hub *rest.Config, object recording.Object, since time.Time) (io.ReadCloser, error) {
	config := rest.CopyConfig(hub)
	config.APIPath, config.GroupVersion = "/apis", &v1alpha1.SchemeGroupVersion
	known := runtime.NewScheme()
	metav1.AddToGroupVersion(known, metav1.Unversioned) // a refusal
	config.NegotiatedSerializer = serializer.NewCodecFactory(known).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("preparing to reach the hub: %w", err)
	}
	resource := v1alpha1.FederatedHPAs
	if object.Kind == recording.SizesKind {
		resource = v1alpha1.MultidimPodAutoscalers
	}
	request := client.Get().Namespace(object.Namespace).Resource(resource).Name(object.Name).SubResource(v1alpha1.Decisions)
	if !since.IsZero() {
		request = request.Param(v1alpha1.SinceParameter, since.UTC().Format(time.RFC3339))
	}
	body, err := request.Stream(ctx)
	if err != nil {
		return nil, explained(err)
	}
	return body, nil
}

// explained says what to do about what the hub refused.
func explained(err error) error {
	const which = v1alpha1.GroupName
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%w: is this the hub (--context)? If so, apply the manifests of deploy/ there", ErrNotServed)
	case apierrors.IsServiceUnavailable(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return fmt.Errorf("nobody serves "+which+" at present: is the metrics adapter running? `kubectl describe apiservice v1alpha1."+which+
			"` says more: %w", err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w; the ClusterRole fleetscale-history-reader has the right to get "+which, err)
	}
	return fmt.Errorf("asking for the record: %w", err)
}
