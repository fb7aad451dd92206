// SPDX-License-Identifier: Apache-2.0

// Package encoder measures what encoding a list costs when nothing else is
// done: the least for any server that encodes each answer again. It runs in a
// process of its own, so that nothing else shares its heap.
package encoder

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"syscall"
	"time"

	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/metrics/pkg/apis/metrics"
	"k8s.io/metrics/pkg/apis/metrics/install"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// Order is what is to be done next: a list to take, or to encode the one taken last.
type Order struct {
	// List is a PodMetricsList, encoded in any way. Empty: that of before.
	List []byte `json:",omitempty"`
	// Media is the type to encode it to.
	Media string
	// For is how long to go on.
	For time.Duration
}

// Cost is that of encoding a list once.
type Cost struct {
	// CPU in milliseconds, garbage collection included.
	CPU float64
	// Bytes of the encoded list, and allocated for it.
	Bytes, Allocated float64
	// Error is why there is no cost; empty if there is.
	Error string `json:",omitempty"`
}

// Serve does orders, one a line, until they end.
func Serve(in io.Reader, out io.Writer) error {
	w := newWorker()
	lines := bufio.NewReader(in)
	for {
		var o Order
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = json.Unmarshal(line, &o)
		}
		if err != nil {
			return fmt.Errorf("reading an order: %w", err)
		}
		if err := json.NewEncoder(out).Encode(w.do(o)); err != nil {
			return fmt.Errorf("telling a cost: %w", err)
		}
	}
}

type worker struct {
	codecs serializer.CodecFactory
	list   *metrics.PodMetricsList
}

func newWorker() *worker {
	scheme := apiruntime.NewScheme()
	install.Install(scheme)
	return &worker{codecs: serializer.NewCodecFactory(scheme), list: &metrics.PodMetricsList{}}
}

func (w *worker) do(o Order) Cost {
	if len(o.List) > 0 {
		decoded, err := apiruntime.Decode(w.codecs.UniversalDecoder(metrics.SchemeGroupVersion), o.List)
		list, ok := decoded.(*metrics.PodMetricsList)
		if err != nil || !ok {
			return Cost{Error: fmt.Sprintf("decoding the list: %T, %v", decoded, err)}
		}
		w.list = list
	}
	info, ok := apiruntime.SerializerInfoForMediaType(w.codecs.SupportedMediaTypes(), o.Media)
	if !ok {
		return Cost{Error: "there is no encoder for " + o.Media}
	}
	cost, err := w.encode(w.codecs.EncoderForVersion(info.Serializer, schema.GroupVersions{metricsv1beta1.SchemeGroupVersion}), o.For)
	if err != nil {
		return Cost{Error: err.Error()}
	}
	return cost
}

// encode continues for a while; once at least, and once before to warm up.
func (w *worker) encode(encoder apiruntime.Encoder, d time.Duration) (Cost, error) {
	var size counter
	if err := encoder.Encode(w.list, &size); err != nil {
		return Cost{}, err
	}
	runtime.GC()
	before, allocated := used(), allocations()
	n := 0
	for begin := time.Now(); n == 0 || time.Since(begin) < d; n++ {
		if err := encoder.Encode(w.list, io.Discard); err != nil {
			return Cost{}, err
		}
	}
	return Cost{
		CPU:       float64(used()-before) / float64(time.Millisecond) / float64(n),
		Bytes:     float64(size),
		Allocated: float64(allocations()-allocated) / float64(n),
	}, nil
}

type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// used is the cpu time of this process so far.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // of no argument of ours
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func allocations() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
