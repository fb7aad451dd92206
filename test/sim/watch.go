// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
)

func (m *Member) serveWatch(w http.ResponseWriter, r *http.Request, s served, info *request.RequestInfo) {
	q, refused := questionOf(r, info)
	if refused != nil {
		refuse(w, r, refused)
		return
	}
	f := m.formatOf(r, s.GroupVersion)
	stream := m.newStream(w, f, s)
	revision, err := stream.begin(q)
	if err != nil {
		refuse(w, r, err)
		return
	}
	ctx, path := r.Context(), r.URL.Path
	if q.options.TimeoutSeconds != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(*q.options.TimeoutSeconds)*time.Second)
		defer cancel()
	}
	for {
		events, now, more, ok := m.world.since(s.plural, revision)
		if !ok {
			stream.expired()
			return
		}
		if !m.conduct.hold(ctx, path) || stream.pass(q, events) != nil {
			return
		}
		revision = now
		select {
		case <-ctx.Done():
			return
		case <-more:
		}
	}
}

// stream writes the events of one watch.
type stream struct {
	member *Member
	format format
	served served
	http   *http.ResponseController
	frames io.Writer
}

func (m *Member) newStream(w http.ResponseWriter, f format, s served) *stream {
	w.Header().Set("Content-Type", f.media+";stream=watch")
	return &stream{m, f, s, http.NewResponseController(w), f.info(m.codecs).StreamSerializer.NewFrameWriter(w)}
}

// begin finds the revision from which to go on. Who comes with none is told of all there is first.
func (s *stream) begin(q question) (revision int64, refused *apierrors.StatusError) {
	initial := q.options.SendInitialEvents != nil && *q.options.SendInitialEvents
	if rv := q.options.ResourceVersion; rv != "" && rv != "0" && !initial {
		revision, err := strconv.ParseInt(rv, 10, 64)
		if err != nil {
			return 0, apierrors.NewBadRequest("resourceVersion: " + err.Error())
		}
		_ = s.http.Flush()
		return revision, nil
	}
	q.options.Limit, q.options.Continue = 0, ""
	p, refused := s.member.pageOf(s.served, q)
	if refused != nil {
		return 0, refused
	}
	for _, e := range p.entries {
		if s.send(watch.Added, e) != nil {
			break // it shows at the next one
		}
	}
	if initial {
		_ = s.bookmark(p.revision)
	}
	_ = s.http.Flush()
	return p.revision, nil
}

func (s *stream) pass(q question, events []event) error {
	sent := false
	for _, e := range events {
		if !q.matches(e.entry) {
			continue
		}
		if err := s.send(e.kind, e.entry); err != nil {
			return err
		}
		sent = true
	}
	if !sent {
		return nil
	}
	return s.http.Flush()
}

func (s *stream) send(kind watch.EventType, e entry) error {
	o, gv := s.format.shown(e, s.served)
	return s.write(kind, o, gv)
}

// bookmark reports that all there was has been told.
func (s *stream) bookmark(revision int64) error {
	o, gv := object(&metav1.PartialObjectMetadata{}), metav1.SchemeGroupVersion
	if !s.format.metadata {
		empty, err := s.member.scheme.New(s.served.gvk())
		if err != nil {
			return err
		}
		o, gv = empty.(object), s.served.GroupVersion
	}
	o.SetResourceVersion(strconv.FormatInt(revision, 10))
	o.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	return s.write(watch.Bookmark, o, gv)
}

// expired says that the log does not go back so far.
func (s *stream) expired() {
	status := apierrors.NewResourceExpired("too old resource version").Status()
	if s.write(watch.Error, &status, schema.GroupVersion{Version: "v1"}) == nil {
		_ = s.http.Flush()
	}
}

func (s *stream) write(kind watch.EventType, o runtime.Object, gv schema.GroupVersion) error {
	raw, err := s.format.encode(s.member.codecs, o, gv)
	if err != nil {
		return err
	}
	var frame bytes.Buffer
	told := &metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: raw}}
	if err := s.format.info(s.member.codecs).StreamSerializer.Encode(told, &frame); err != nil {
		return err
	}
	_, err = s.frames.Write(frame.Bytes())
	return err
}
