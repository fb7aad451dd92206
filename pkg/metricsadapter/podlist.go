// SPDX-License-Identifier: Apache-2.0

package metricsadapter

import (
	"bytes"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/metrics/pkg/apis/metrics"
	metricsv1 "k8s.io/metrics/pkg/apis/metrics/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// podList is a list of pods on its way out. In JSON and protobuf, which is what
// programs ask for, it is written straight from memory: to make objects of the
// pods and encode those costs three to ten times as much. The bytes are those
// that the API server's library would write, and the tests hold that. In any
// other form the library writes it, from objects.
//
// To the library it is an object that knows its own encoding.
type podList struct {
	items        []found
	writers      writers
	conversation *conversation
}

var _ runtime.CacheableObject = (*podList)(nil)

// A writer writes a list like the given empty one, with these items.
type writer func(w io.Writer, empty []byte, items []found) error

// writers are known by the encoders whose work they do.
type writers map[runtime.Identifier]writer

func newWriters(serializer runtime.NegotiatedSerializer) writers {
	all := writers{}
	for mediaType, writer := range map[string]writer{runtime.ContentTypeJSON: writeJSON, runtime.ContentTypeProtobuf: writeProtobuf} {
		if info, found := runtime.SerializerInfoForMediaType(serializer.SupportedMediaTypes(), mediaType); found {
			for _, version := range []schema.GroupVersion{metricsv1.SchemeGroupVersion, metricsv1beta1.SchemeGroupVersion} {
				all[serializer.EncoderForVersion(info.Serializer, version).Identifier()] = writer
			}
		}
	}
	return all
}

// CacheEncode is how the library has the list encoded.
func (l *podList) CacheEncode(id runtime.Identifier, encode func(runtime.Object, io.Writer) error, w io.Writer) error {
	write := l.writers[id]
	if write == nil {
		objects, err := l.objects()
		if err != nil {
			return err
		}
		return encode(objects, w)
	}
	var empty bytes.Buffer
	if err := encode(podObjects(nil), &empty); err != nil {
		return err
	}
	return write(w, empty.Bytes(), l.items)
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
