// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/metrics/pkg/apis/metrics"
	metricsv1 "k8s.io/metrics/pkg/apis/metrics/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/fleetscale/fleetscale/pkg/wire"
)

// podList is a list of pods on its way out. In JSON and protobuf, which is what
// programs ask for, package wire writes it straight from memory: to make objects
// of the pods and encode those costs three to ten times as much. The bytes are
// those that the API server's library would write, and the tests hold that. In
// any other form the library writes it, from objects.
//
// To the library it is an object that knows its own encoding.
type podList struct {
	items        []found
	writers      writers
	conversation *conversation
}

var _ runtime.CacheableObject = (*podList)(nil)

// writers are known by the encoders whose work they do.
type writers map[runtime.Identifier]writer

// A writer writes lists in one version and form.
type writer struct {
	// empty is the list without items, as the library writes it.
	empty []byte
	write write
	// memory is that of all writers.
	memory *pages
}

type write = func(w io.Writer, empty []byte, items []found, memory wire.Pages) error

func newWriters(serializer runtime.NegotiatedSerializer) (writers, error) {
	all, memory := writers{}, newPages()
	for mediaType, write := range map[string]write{
		runtime.ContentTypeJSON: wire.WriteJSON[found], runtime.ContentTypeProtobuf: wire.WriteProtobuf[found],
	} {
		info, _ := runtime.SerializerInfoForMediaType(serializer.SupportedMediaTypes(), mediaType)
		for _, version := range []schema.GroupVersion{metricsv1.SchemeGroupVersion, metricsv1beta1.SchemeGroupVersion} {
			encoder := serializer.EncoderForVersion(info.Serializer, version)
			empty, err := runtime.Encode(encoder, podObjects(nil))
			if err != nil {
				return nil, fmt.Errorf("encoding an empty list of pods in %s: %w", mediaType, err)
			}
			all[encoder.Identifier()] = writer{empty, write, memory}
		}
	}
	return all, nil
}

// CacheEncode returns how the library has the list encoded.
func (l *podList) CacheEncode(id runtime.Identifier, encode func(runtime.Object, io.Writer) error, w io.Writer) error {
	if writer, known := l.writers[id]; known {
		return writer.write(w, writer.empty, l.items, writer.memory)
	}
	objects, err := l.objects()
	if err != nil {
		return err
	}
	return encode(objects, w)
}

func (l *podList) objects() (runtime.Object, error) {
	if err := l.conversation.hold(len(l.items), bytesPerObject); err != nil {
		return nil, err
	}
	return l.GetObject(), nil
}

// GetObject makes the list that this one stands for.
func (l *podList) GetObject() runtime.Object { return podObjects(l.items) }

// GetObjectKind says nothing: the library knows the kind by the path.
func (*podList) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject is the list itself, which never changes.
func (l *podList) DeepCopyObject() runtime.Object { return l }

func podObjects(items []found) *metrics.PodMetricsList {
	list := &metrics.PodMetricsList{Items: make([]metrics.PodMetrics, len(items))}
	for i, item := range items {
		item.pod(&list.Items[i])
	}
	return list
}

// AppendTo has the form write the pod.
func (f found) AppendTo(b []byte, form wire.Form) []byte {
	b = form.Begin(b, f.Namespace(), f.Name())
	for key, value := range f.labels() {
		b = form.Label(b, key, value)
	}
	b = form.Annotation(b, karmadaClusterAnnotation, f.cluster.name)
	b = form.Measured(b, f.Timestamp().Time, f.Window())
	for name, used := range f.Containers() {
		b = form.Container(b, name)
		for resource, number := range used.All() {
			b = form.Use(b, resource, number)
		}
		b = form.EndContainer(b)
	}
	return form.End(b)
}
