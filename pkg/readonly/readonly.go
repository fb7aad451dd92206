// SPDX-License-Identifier: Apache-2.0

// Package readonly keeps a program that only observes from changing anything: what it sends to an API server passes a transport that
// sends nothing but reads, whoever made the client and whatever path of the code was forgotten.
package readonly

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reviews are posted to be answered, and nothing of them is stored: who asks for metrics, and what a credential may do. Their paths are
// those of an API server at the root of its address.
var reviews = map[string]bool{
	"/apis/authentication.k8s.io/v1/tokenreviews":            true,
	"/apis/authorization.k8s.io/v1/subjectaccessreviews":     true,
	"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": true,
	"/apis/authorization.k8s.io/v1/selfsubjectrulesreviews":  true,
	"/apis/authentication.k8s.io/v1/selfsubjectreviews":      true,
}

// Transport sends reads to next, and answers everything else itself, as an API server does for who may only read: 403. Dry runs are
// refused too: webhooks of others see them. base is the path of the API server's address, without a slash at its end.
func Transport(base string, next http.RoundTripper) http.RoundTripper { return transport{base, next} }

type transport struct {
	base string
	next http.RoundTripper
}

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.reads(req) {
		return t.next.RoundTrip(req)
	}
	if req.Body != nil {
		_ = req.Body.Close()
	}
	return refusal(req)
}

// WrappedRoundTripper lets libraries unwrap the transport.
func (t transport) WrappedRoundTripper() http.RoundTripper { return t.next }

func (t transport) reads(req *http.Request) bool {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions:
		return req.Header.Get("Upgrade") == "" && !connects(strings.TrimPrefix(req.URL.Path, t.base))
	case http.MethodPost:
		path, below := strings.CutPrefix(req.URL.Path, t.base)
		return below && reviews[path]
	}
	return false
}

// connects is true of a path of an API server that leads to what others serve, or into a container: a GET may change anything there.
func connects(path string) bool {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(segments) > 2 && segments[0] == "api":
		segments = segments[2:]
	case len(segments) > 3 && segments[0] == "apis" && segments[1] != "custom.metrics.k8s.io": // where it is the name of a metric
		segments = segments[3:]
	default:
		return false
	}
	if segments[0] == "namespaces" && len(segments) > 2 {
		segments = segments[2:]
	}
	if segments[0] == "proxy" { // as it was in former versions
		return true
	}
	return len(segments) > 2 && slices.Contains([]string{"exec", "attach", "portforward", "proxy"}, segments[2])
}

func refusal(req *http.Request) (*http.Response, error) {
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden,
		Message: fmt.Sprintf("%s %s was not sent: this program only observes", req.Method, req.URL.Path),
	})
	if err != nil {
		return nil, fmt.Errorf("refusing a write: %w", err)
	}
	return &http.Response{
		Status: "403 Forbidden", StatusCode: http.StatusForbidden, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)), Request: req,
	}, nil
}
