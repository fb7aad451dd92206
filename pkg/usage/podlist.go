// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"iter"

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

// Of protobuf's encoding: the number of the field that holds the items of a
// Kubernetes list, and how fields are written.
const (
	itemsField = 2

	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

var errTruncated = errors.New("the protobuf ends before it should, or is none")

// items yields the encoded items of a list, in order. After an error comes nothing more.
func items(list []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for len(list) > 0 {
			tag, value, rest, ok := cutField(list)
			if !ok {
				yield(nil, errTruncated)
				return
			}
			list = rest
			if tag == itemsField<<3|wireBytes && !yield(value, nil) {
				return
			}
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

// cutField takes one field off an encoded message. Only bytes have a value.
func cutField(message []byte) (tag uint64, value, rest []byte, ok bool) {
	tag, n := binary.Uvarint(message)
	if n <= 0 {
		return 0, nil, nil, false
	}
	rest = message[n:]
	var length uint64
	switch tag & 7 {
	case wireVarint:
		_, n = binary.Uvarint(rest)
		length = uint64(max(n, 0))
	case wireFixed64:
		length, n = 8, 8
	case wireFixed32:
		length, n = 4, 4
	case wireBytes:
		length, n = binary.Uvarint(rest)
		rest = rest[max(n, 0):]
	default: // a group, which Kubernetes does not have
		n = 0
	}
	if n <= 0 || length > uint64(len(rest)) {
		return 0, nil, nil, false
	}
	return tag, rest[:length], rest[length:], true
}
