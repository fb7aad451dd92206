// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/ratelimit"
)

// ReasonNestedHub is for a cluster that is itself served by fleetscale.
const ReasonNestedHub fleet.Reason = "NestedHub"

var errReplaced = errors.New("the connection was replaced or the cluster has left; get a new client from its Member")

// wire is the outermost transport of a connection: every request to a member
// passes it. It counts and times, bounds what is read of an answer, and turns what
// another hub serves into an error.
type wire struct {
	next http.RoundTripper
	// base is the path of the address, without a slash at its end: what a proxy in front of several clusters tells them apart by.
	base    string
	limiter *ratelimit.Limiter
	meter   *meter
	most    int64 // bytes of an answer, decompressed
	intake  *intake
	plain   bool // answers are not asked for compressed
	ended   atomic.Bool
	onFail  func(fleet.Reason)
	// secrets are what no error may show: servers and proxies repeat what they were sent.
	secrets func() []string
	// nestedAt is the API in whose answers the hub's header was seen last; nil when it was not.
	nestedAt atomic.Pointer[string]
}

// RoundTrip sends one request.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if w.ended.Load() {
		return nil, errReplaced
	}
	if err := w.admit(req); err != nil {
		return nil, err
	}
	start := time.Now()
	resp, err := w.send(req)
	if err != nil {
		w.done(resultOf(nil, err), start)
		return nil, w.redact(err)
	}
	resp.Body = &meteredBody{ReadCloser: resp.Body, redact: w.redact, done: func(err error) { w.done(resultOf(resp, err), start) }}
	return resp, nil
}

// unlimited is the key of requests that are past the limit: probes, of which there are few.
type unlimited struct{}

// admit waits for the request's turn. What is not sent is not counted.
func (w *wire) admit(req *http.Request) error {
	if req.Context().Value(unlimited{}) != nil {
		return nil
	}
	of, namespace := ratelimit.Classify(req.Method, w.asked(req))
	return w.limiter.Admit(req.Context(), of, namespace)
}

// asked is the path that the cluster itself is asked for.
func (w *wire) asked(req *http.Request) string { return strings.TrimPrefix(req.URL.Path, w.base) }

// send neither counts nor redacts.
func (w *wire) send(req *http.Request) (*http.Response, error) {
	ctx, stop := context.WithCancel(req.Context())
	asking := req.WithContext(ctx)
	if !w.plain {
		asking = compressed(asking)
	}
	resp, err := w.next.RoundTrip(asking)
	if err != nil {
		stop()
		return nil, err
	}
	of, _ := ratelimit.Classify(req.Method, w.asked(req))
	w.intake.receive(resp, of)
	if len(resp.Header[fleet.HubHeader]) > 0 {
		defer stop()
		return nil, w.nested(req, resp)
	}
	if err := w.believe(req, resp); err != nil {
		defer stop()
		_ = resp.Body.Close()
		return nil, err
	}
	if err := w.intake.asked(req, resp); err != nil {
		defer stop()
		_ = resp.Body.Close()
		return nil, err
	}
	if !isWatch(req) || resp.StatusCode != http.StatusOK { // of a watch that begins the framer bounds each event
		most := w.most
		if resp.StatusCode >= http.StatusMultipleChoices {
			most = min(most, mostRefusal)
		}
		resp.Body = bound(resp.Body, most, w.intake, stop)
	}
	resp.Body = stopping{resp.Body, stop}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return w.refusal(resp)
	}
	return resp, nil
}

// mostRefusal bounds the bytes of an answer that is an error: it is read whole.
const mostRefusal = 1 << 20

// refusal is an answer whose words reach statuses and logs, without the secrets that whoever refused may repeat.
func (w *wire) refusal(resp *http.Response) (*http.Response, error) {
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	text = []byte(w.hide(string(text)))
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return resp, nil
}

// stopping ends what belongs to a body with it.
type stopping struct {
	io.ReadCloser

	stop func()
}

func (s stopping) Close() error {
	defer s.stop()
	return s.ReadCloser.Close()
}

// mostHeaders bounds the bytes of an answer's headers. Those of an API server have less than one KiB.
const mostHeaders = 64 << 10

func (w *wire) nested(req *http.Request, resp *http.Response) error {
	_ = resp.Body.Close() // nothing in it is wanted
	api := apiOf(w.asked(req))
	w.nestedAt.Store(&api)
	return &fleet.Silence{Reason: ReasonNestedHub,
		Detail: "the cluster is itself served by fleetscale (" + api +
			"): its answers hold other clusters' items; register those clusters here instead"}
}

// hide replaces secrets in a text of others.
func (w *wire) hide(text string) string {
	for _, secret := range w.secrets() {
		text = strings.ReplaceAll(text, secret, "[redacted]")
	}
	return text
}

// redact rewords an error that shows a secret; it stays the same error otherwise.
func (w *wire) redact(err error) error {
	text := w.hide(err.Error())
	if text == err.Error() {
		return err
	}
	return &reworded{err, text}
}

// reworded is an error with other words.
type reworded struct {
	error

	text string
}

func (r *reworded) Error() string { return r.text }
func (r *reworded) Unwrap() error { return r.error }

func (w *wire) done(result string, start time.Time) {
	w.meter.observe(result, time.Since(start))
	if result != resultAnswered && result != resultCanceled {
		w.onFail(fleet.Reason(result))
	}
}

// apiOf is the part of a path that names the API: what is behind it decides who
// answers. Asking for it alone costs next to nothing.
func apiOf(path string) string {
	if !strings.HasPrefix(path, "/apis/") {
		return path
	}
	const version = 3 // "/apis/<group>/<version>"
	parts := strings.SplitN(path, "/", version+2)
	return strings.Join(parts[:min(len(parts), version+1)], "/")
}

// meteredBody reports once how reading an answer ended.
type meteredBody struct {
	io.ReadCloser

	redact func(error) error
	once   sync.Once
	done   func(error)
}

func (b *meteredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == nil {
		return n, nil
	}
	b.finish(err)
	if errors.Is(err, io.EOF) {
		return n, io.EOF
	}
	return n, b.redact(err)
}

func (b *meteredBody) Close() error {
	b.finish(io.EOF)
	return b.ReadCloser.Close()
}

func (b *meteredBody) finish(err error) {
	if errors.Is(err, io.EOF) {
		err = nil
	}
	b.once.Do(func() { b.done(err) })
}
