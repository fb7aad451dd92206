// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/guard"
)

// codecs are how a member's answers are decoded: guarded, in time, and each event
// of a watch within bounds.
type codecs struct {
	runtime.NegotiatedSerializer // of events; what is in them is decoded by plain

	reading *Reading
	timeout time.Duration
	most    int64 // bytes of an event
	intake  *intake
	lasting bool // they are for answers that last
}

// SupportedMediaTypes is as runtime.NegotiatedSerializer has it.
func (c codecs) SupportedMediaTypes() []runtime.SerializerInfo {
	supported := c.NegotiatedSerializer.SupportedMediaTypes()
	for i := range supported {
		if stream := supported[i].StreamSerializer; stream != nil {
			copied := *stream
			copied.Framer = framer{stream.Framer, c.most, c.intake}
			copied.Serializer = soundEvents{stream.Serializer, c.intake}
			supported[i].StreamSerializer = &copied
		}
	}
	return supported
}

// DecoderToVersion is as runtime.NegotiatedSerializer has it.
func (c codecs) DecoderToVersion(d runtime.Decoder, version runtime.GroupVersioner) runtime.Decoder {
	return timed{answers().plain.DecoderToVersion(d, version), answers().guard, c.reading, c.timeout, c.lasting}
}

// kinds are what answers are made of, and how they are decoded.
type kinds struct {
	guard *guard.Scheme
	plain runtime.NegotiatedSerializer // without the guard
}

// timed is a decoder that comes back. It has a deadline of its own: a decoder knows
// no request.
type timed struct {
	runtime.Decoder

	guard   *guard.Scheme
	reading *Reading
	timeout time.Duration
	lasting bool
}

// Decode is as runtime.Decoder has it. After an error nobody may read into: it may
// be written to still.
func (d timed) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind,
	error) {
	var object runtime.Object
	var kind *schema.GroupVersionKind
	var err error
	check := func(data []byte) (int64, error) { return d.guard.Check(data, defaults, into) }
	if stopped := d.reading.within(d.timeout, data, check, func() {
		object, kind, err = d.Decoder.Decode(data, defaults, into)
	}); stopped != nil {
		return nil, nil, unreadable(stopped)
	}
	if err != nil || !d.lasting || d.reading.intake.creditsEvent(time.Now()) {
		d.reading.intake.judge(err)
	}
	if err != nil {
		return nil, nil, unreadable(err)
	}
	return object, kind, nil
}

// unreadable is the error of what cannot be decoded. Our own reasons stay as they are.
func unreadable(err error) error {
	var silence *fleet.Silence
	if errors.As(err, &silence) {
		return err
	}
	return fleet.Silencef(fleet.ReasonBadAnswer, "decoding the answer: %s", strings.Join(strings.Fields(err.Error()), " "))
}

// soundEvents decodes events of a watch; a panic over one is as an event that cannot be read.
type soundEvents struct {
	runtime.Serializer

	intake *intake
}

// Decode is as runtime.Decoder has it.
func (s soundEvents) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (object runtime.Object,
	kind *schema.GroupVersionKind, err error) {
	if panicked := s.intake.try(func() { object, kind, err = s.Serializer.Decode(data, defaults, into) }); panicked != nil {
		return nil, nil, panicked
	}
	return object, kind, err
}

// framer bounds each frame, which is one event. That of JSON reads one to its end
// whatever its length.
type framer struct {
	runtime.Framer

	most   int64
	intake *intake
}

// NewFrameReader is as runtime.Framer has it.
func (f framer) NewFrameReader(r io.ReadCloser) io.ReadCloser {
	raw := bound(r, f.most, f.intake, func() { go func() { _ = r.Close() }() })
	return frames{f.Framer.NewFrameReader(raw), raw}
}

type frames struct {
	io.ReadCloser

	raw *bounded
}

// Read reads a frame, or a part of it. What it reads ahead counts for this one, so
// that an event may be of up to twice the bytes.
func (f frames) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	if err == nil { // the frame is whole
		f.raw.again()
	}
	return n, err
}

// mostEvent bounds one event of a watch. It is what client-go decodes at most.
const mostEvent = 16 << 20

// isWatch is true for a request whose answer has no end, so that only each of its events can be bounded.
func isWatch(req *http.Request) bool {
	switch req.URL.Query().Get("watch") {
	case "1", "true":
		return true
	}
	return false
}
