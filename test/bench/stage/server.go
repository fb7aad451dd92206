// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/test/bench/measure"
	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// Media types.
const (
	JSON     = "application/json"
	Protobuf = "application/vnd.kubernetes.protobuf"
)

// Server is one that is asked for metrics, directly.
type Server struct {
	URL string
	// Client is authorized for all of it.
	Client http.RoundTripper
	// PID is the process behind it; 0 if it is elsewhere, and cannot be measured.
	PID measure.Process

	process *lab.Process
}

// NewServer is one that is there already. The config leads to it.
func NewServer(config *rest.Config, pid measure.Process) (*Server, error) {
	client, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("preparing to ask %s: %w", config.Host, err)
	}
	return &Server{URL: strings.TrimSuffix(config.Host, "/"), Client: client, PID: pid}, nil
}

// belongsTo returns which process of the stage it is.
func (s *Server) belongsTo(p *lab.Process) error {
	_, pid, err := p.State()
	s.process, s.PID = p, measure.Process(pid)
	return err
}

// Stop ends its process.
func (s *Server) Stop() error { return s.process.Stop() }

// Pods returns where it lists the PodMetrics of a namespace.
func (s *Server) Pods(namespace string) string {
	return s.URL + "/apis/metrics.k8s.io/v1beta1/namespaces/" + namespace + "/pods"
}

// Discovery returns where it says which kinds of metrics it has. The answer is small,
// and passes all that others do.
func (s *Server) Discovery() string { return s.URL + "/apis/metrics.k8s.io/v1beta1" }

// What List wraps where an answer came that lacks something: all of it, some of it, and says so, and some of it, and does not.
var (
	ErrEmpty    = errors.New("the answer is empty")
	ErrPartial  = errors.New("the answer says that it is a part")
	ErrNotWhole = errors.New("a part was passed off as the whole")
)

// Refusal is an answer other than 200.
type Refusal struct {
	Code int
	Said string // the beginning of it
}

// Error implements error.
func (r *Refusal) Error() string { return fmt.Sprintf("%d: %s", r.Code, r.Said) }

// Fetch asks once for the PodMetrics of a namespace, of which there are so many. A warning says that there should be more.
func (s *Server) Fetch(ctx context.Context, namespace string) (body []byte, pods int, warning string, err error) {
	warning, body, err = s.get(ctx, s.Pods(namespace), Protobuf)
	if err != nil {
		return nil, 0, "", err
	}
	pods, err = count(body)
	return body, pods, warning, err
}

// List is Fetch where it is known how many there are. Fewer or more are an error.
func (s *Server) List(ctx context.Context, namespace string, want int) (body []byte, err error) {
	body, got, warning, err := s.Fetch(ctx, namespace)
	switch {
	case err != nil:
		return nil, err
	case got == want:
		return body, nil
	case got == 0:
		return nil, fmt.Errorf("none of %d Pods: %w: %s", want, ErrEmpty, warning)
	case warning != "": // Kubernetes' own servers have no such answers
		return nil, fmt.Errorf("%d of %d Pods: %w: %s", got, want, ErrPartial, warning)
	default:
		return nil, fmt.Errorf("%d of %d Pods: %w", got, want, ErrNotWhole)
	}
}

func count(body []byte) (int, error) {
	list, err := DecodePods(body)
	if err != nil {
		return 0, err
	}
	return len(list.Items), nil
}

// DecodePods reads a list of PodMetrics in any format that an API server has for them.
func DecodePods(body []byte) (*metricsv1beta1.PodMetricsList, error) {
	scheme := runtime.NewScheme()
	if err := metricsv1beta1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	decoded, err := runtime.Decode(serializer.NewCodecFactory(scheme).UniversalDeserializer(), body)
	if err != nil {
		return nil, fmt.Errorf("decoding a list: %w", err)
	}
	list, ok := decoded.(*metricsv1beta1.PodMetricsList)
	if !ok {
		return nil, fmt.Errorf("decoding a list: it is a %T", decoded)
	}
	return list, nil
}

// AwaitPods returns the list of a namespace as soon as it is whole.
func (s *Server) AwaitPods(ctx context.Context, namespace string, want int) (body []byte, err error) {
	const patience, pause = 3 * time.Minute, 100 * time.Millisecond
	begin := time.Now()
	for {
		if body, err = s.List(ctx, namespace, want); err == nil {
			return body, nil
		}
		if time.Since(begin) > patience || ctx.Err() != nil {
			return nil, fmt.Errorf("waiting for the Pods of %s at %s: %w", namespace, s.URL, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (s *Server) get(ctx context.Context, url, accept string) (warning string, body []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", nil, err
	}
	r.Header.Set("Accept", accept)
	resp, err := s.Client.RoundTrip(r)
	if err != nil {
		return "", nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("asking %s: %w", url, &Refusal{resp.StatusCode, fmt.Sprintf("%.300s", body)})
	}
	return resp.Header.Get("Warning"), body, err
}

// Metric adds up the series of a metric of the server's own that have all of these labels, as in `error="none"`.
func (s *Server) Metric(ctx context.Context, name string, labels ...string) (float64, error) {
	_, body, err := s.get(ctx, s.URL+"/metrics", "text/plain")
	if err != nil {
		return 0, fmt.Errorf("reading %s: %w", name, err)
	}
	sum, found, err := fixture.Sum(string(body), name, labels...)
	if err == nil && !found {
		err = fmt.Errorf("reading %s: %s does not tell it", name, s.URL)
	}
	return sum, err
}

// Allocated returns what the server has allocated so far, in bytes, whether or not it is still in use.
func (s *Server) Allocated(ctx context.Context) (float64, error) {
	return s.Metric(ctx, "go_memstats_alloc_bytes_total")
}

// Heap returns what is in use of the server's heap after a garbage collection, in bytes.
func (s *Server) Heap(ctx context.Context) (float64, error) { return s.heap(ctx, s.URL) }

// heap collects garbage by what is served at debug.
func (s *Server) heap(ctx context.Context, debug string) (float64, error) {
	if _, _, err := s.get(ctx, debug+"/debug/pprof/heap?gc=1", "*/*"); err != nil {
		return 0, fmt.Errorf("collecting garbage: %w", err)
	}
	return s.Metric(ctx, "go_memstats_heap_alloc_bytes")
}
