// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// events decodes the events of a watch, and leaves the object of each as it is: that is for a decoder of its own. The API
// machinery's decoder of JSON would make of an event the kind of object that it says it is.
type events struct {
	runtime.Serializer

	isProtobuf bool
}

var errNoEvent = errors.New("only events of a watch are decoded from a stream")

var eventKind = schema.GroupVersionKind{Version: "v1", Kind: "WatchEvent"}

// Decode is as runtime.Decoder has it, into a WatchEvent only.
func (e events) Decode(data []byte, _ *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	event, ok := into.(*metav1.WatchEvent)
	if !ok {
		return nil, nil, errNoEvent
	}
	*event = metav1.WatchEvent{}
	read := func() error { return json.Unmarshal(data, event) }
	if e.isProtobuf {
		read = func() error { return event.Unmarshal(data) }
	}
	if err := read(); err != nil {
		return nil, nil, fmt.Errorf("decoding an event: %w", err)
	}
	kind := eventKind
	return event, &kind, nil
}
