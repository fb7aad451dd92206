// SPDX-License-Identifier: Apache-2.0

package memberstest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/wire"
)

// Hang answers nothing until the asker gives up.
func Hang(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// Saying answers so, whatever is asked.
func Saying(code int, contentType, body string) Handler {
	return func(*http.Request) (*http.Response, error) { return Respond(code, contentType, []byte(body)), nil }
}

// Respond is an answer.
func Respond(code int, contentType string, body []byte) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(bytes.NewReader(body))}
}

// JSON is an answer of one document.
func JSON(code int, document any) *http.Response {
	body, err := json.Marshal(document)
	if err != nil {
		panic(err) // no document of a test can fail so
	}
	return Respond(code, runtime.ContentTypeJSON, body)
}

// Refusal is an answer with an error's status.
func Refusal(err *apierrors.StatusError) *http.Response {
	status := err.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	return JSON(int(status.Code), status)
}

// Protobuf is an encoded object as it is sent.
func Protobuf(kind runtime.TypeMeta, object interface{ Marshal() ([]byte, error) }) []byte {
	raw, err := object.Marshal()
	if err != nil {
		panic(err) // it was made by a test
	}
	return Envelope(runtime.Unknown{TypeMeta: kind, Raw: raw})
}

// Envelope encodes what is around an encoded object.
func Envelope(unknown runtime.Unknown) []byte {
	body, err := unknown.Marshal()
	if err != nil {
		panic(err) // it was made by a test
	}
	return append([]byte(wire.Magic), body...)
}

// Told is an error in some words: none, silence with its reason, or what the cluster says.
func Told(err error) string {
	var silence *fleet.Silence
	switch {
	case err == nil:
		return ""
	case errors.As(err, &silence):
		return "silence: " + string(silence.Reason)
	}
	return err.Error()
}
