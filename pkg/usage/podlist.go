// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"encoding/json"
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// A podList decodes a PodMetricsList. In protobuf it takes one item after the
// other: as Go objects, a member's list of ten thousand pods takes twenty times
// the memory of the list itself, and there may be several at once.
type podList struct {
	batchBuilder

	containers []container // of the item at hand; kept for the next
}

// Unmarshal is for protobuf.
func (l *podList) Unmarshal(raw []byte) error {
	l.grow(countItems(raw))
	var item metricsv1beta1.PodMetrics
	for encoded, err := range items(raw) {
		if err == nil {
			item.Reset()
			err = item.Unmarshal(encoded)
		}
		if err != nil {
			return err
		}
		l.take(&item)
	}
	return nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *podList) UnmarshalJSON(raw []byte) error {
	var list metricsv1beta1.PodMetricsList
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	l.grow(len(list.Items))
	for i := range list.Items {
		l.take(&list.Items[i])
	}
	return nil
}

func (l *podList) take(item *metricsv1beta1.PodMetrics) {
	l.containers = l.containers[:0]
	for _, c := range item.Containers {
		l.containers = append(l.containers, container{c.Name, c.Usage})
	}
	l.add(&item.ObjectMeta, item.Timestamp, item.Window, l.containers)
}

// Numbers of fields: that of what is in an envelope, and that of the items of a Kubernetes list.
const (
	rawField   = 2
	itemsField = 2
)

// unwrap returns what is in an envelope, in its place: of a long list there need be no second one.
func unwrap(envelope []byte) (raw []byte, err error) {
	for raw, err = range fields(envelope, rawField) {
		if err != nil {
			return nil, err
		}
	}
	return raw, nil
}

// items yields the encoded items of a list, in order. After an error comes nothing more.
func items(list []byte) iter.Seq2[[]byte, error] { return fields(list, itemsField) }

// fields yields what a message has in a field of bytes, each time that it has it.
func fields(message []byte, number protowire.Number) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for len(message) > 0 {
			field, kind, n := protowire.ConsumeTag(message)
			if n < 0 {
				yield(nil, protowire.ParseError(n))
				return
			}
			message = message[n:]
			if n = protowire.ConsumeFieldValue(field, kind, message); n < 0 {
				yield(nil, protowire.ParseError(n))
				return
			}
			if field == number && kind == protowire.BytesType {
				content, _ := protowire.ConsumeBytes(message)
				if !yield(content, nil) {
					return
				}
			}
			message = message[n:]
		}
	}
}

// countItems is how many there are before the end, or before what can not be read.
func countItems(list []byte) (n int) {
	for _, err := range items(list) {
		if err == nil {
			n++
		}
	}
	return n
}
