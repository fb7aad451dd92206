// SPDX-License-Identifier: Apache-2.0

package hubmetrics

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

func TestAnswersAreBounded(t *testing.T) {
	tests := map[string]struct {
		left int64
		want string
	}{
		"less than may be":    {6, ""},
		"as much as may be":   {5, ""},
		"one byte beyond":     {4, "the answer is larger than 128 MiB"},
		"nothing may be read": {0, "the answer is larger than 128 MiB"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, reader := range []io.Reader{strings.NewReader("12345"), iotest.OneByteReader(strings.NewReader("12345")),
				iotest.DataErrReader(strings.NewReader("12345"))} {
				got, err := io.ReadAll(&bounded{io.NopCloser(reader), tc.left})
				switch {
				case tc.want == "" && (err != nil || string(got) != "12345"):
					t.Errorf("got %q, %v", got, err)
				case tc.want != "" && (err == nil || err.Error() != tc.want):
					t.Errorf("got error %v, want %q", err, tc.want)
				}
			}
		})
	}
}

// endless is a hub whose answers have no end.
type endless struct{ read int64 }

func (e *endless) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(e)}, nil
}

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	return len(p), nil
}

func TestAnEndlessAnswerEnds(t *testing.T) {
	hub := &endless{}
	response, err := listen(hub).RoundTrip(httpRequest(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err == nil || hub.read > mostBytes+1<<20 {
		t.Errorf("read %d bytes, then error %v", hub.read, err)
	}
}

func TestATransportsErrorIsPassedOn(t *testing.T) {
	refused := errors.New("refused")
	response, err := listen(refusing{refused}).RoundTrip(httpRequest(t))
	if response != nil {
		defer func() { _ = response.Body.Close() }()
	}
	if response != nil || !errors.Is(err, refused) {
		t.Errorf("got %v, %v", response, err)
	}
}

type refusing struct{ err error }

func (r refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, r.err }

func httpRequest(t *testing.T) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://hub", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return request
}
