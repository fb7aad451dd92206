// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// echo answers with what it was sent, in a way that no client takes for an answer: as text with one verb.
func echo(t *testing.T, text string, form func(string) string) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, credentials, _ := strings.Cut(req.Header.Get("Authorization"), " ")
		fmt.Fprintf(conn, text, form(credentials))
		conn.Close()
	}))
	t.Cleanup(server.Close)
	return server
}

func TestErrorsShowNoCredentials(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("t0p-s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	configs := map[string]rest.Config{
		"a token": {BearerToken: "t0p-s3cret"}, "a password": {Username: "me", Password: "t0p-s3cret"},
		"a token of a file": {BearerTokenFile: file},
	}
	credentials := map[string]string{
		"a token": "t0p-s3cret", "a password": base64.StdEncoding.EncodeToString([]byte("me:t0p-s3cret")), "a token of a file": "t0p-s3cret",
	}
	forms := map[string]func(string) string{
		"as it is": func(s string) string { return s }, "quoted": func(s string) string { return fmt.Sprintf("%q", s) },
		"in base64": func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	}
	for source, config := range configs {
		for how, form := range forms {
			t.Run(source+" "+how, func(t *testing.T) {
				config.Host = echo(t, "echo-of-%s-.\r\n\r\n", form).URL
				c, err := NewPeer("east", Options{AllowLocal: true}.WithDefaults(), nil, func(fleet.Reason) {}, nil).
					Connect(registration.Endpoint{Config: &config})
				if err != nil {
					t.Fatal(err)
				}
				_, _, err = c.Get(t.Context(), "/")
				if err == nil || !strings.Contains(err.Error(), "echo-of-") || !strings.Contains(err.Error(), "[redacted]") {
					t.Fatalf("error %v, want one that says what the server said, but for one word", err)
				}
				if sent := strings.Trim(form(credentials[source]), `"`); strings.Contains(err.Error(), sent) {
					t.Errorf("%q is shown: %v", sent, err)
				}
			})
		}
	}
}

// What is in the body of an answer is shown too, and how reading it failed.
func TestBodiesShowNoCredentials(t *testing.T) {
	const secret = "t0p-s3cret"
	same := func(s string) string { return s }
	for name, text := range map[string]string{
		"a refusal":      "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\necho-of-%s-.",
		"a redirect":     "HTTP/1.1 302 Found\r\nConnection: close\r\n\r\necho-of-%s-.",
		"a server error": "HTTP/1.1 503 Unavailable\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\necho-of-%s-.",
		"a broken trailer": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\nContent-Type: application/json\r\n\r\n" +
			"2\r\n{}\r\n0\r\necho-of-%s-.\r\n\r\n",
		"a broken refusal": "HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n" +
			"2\r\n{}\r\n0\r\necho-of-%s-.\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := NewPeer("east", Options{AllowLocal: true}.WithDefaults(), nil, func(fleet.Reason) {}, nil).
				Connect(registration.Endpoint{Config: &rest.Config{BearerToken: secret, Host: echo(t, text, same).URL}})
			if err != nil {
				t.Fatal(err)
			}
			body, _, err := c.Get(t.Context(), "/")
			shown := []string{fmt.Sprintf("%s %v", body, err)}
			for _, client := range []rest.Interface{c.Client(), c.WatchClient()} {
				body, err := client.Get().AbsPath("/").MaxRetries(0).DoRaw(t.Context())
				shown = append(shown, fmt.Sprintf("%s %v", body, err))
			}
			for _, text := range shown {
				if strings.Contains(text, secret) || !strings.Contains(text, "echo-of-") || !strings.Contains(text, "[redacted]") {
					t.Errorf("%s: want what the server said, but for one word", text)
				}
			}
		})
	}
}

// An answer that is an error is read whole, so there is less of it.
func TestRefusalThatIsTooLarge(t *testing.T) {
	for size, want := range map[int]fleet.Reason{mostRefusal: fleet.ReasonServerError, mostRefusal + 1: fleet.ReasonTooLarge} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write(make([]byte, size))
		}))
		defer server.Close()
		c, err := NewPeer("east", Options{AllowLocal: true}.WithDefaults(), nil, func(fleet.Reason) {}, nil).
			Connect(registration.Endpoint{Config: &rest.Config{Host: server.URL}})
		if err != nil {
			t.Fatal(err)
		}
		if silence, _ := fleet.Classify(c.Client().Get().AbsPath("/").MaxRetries(0).Do(t.Context()).Error()); silence.Reason != want {
			t.Errorf("%d bytes: %v, want %s", size, silence, want)
		}
	}
}

func TestWhatWasCarriedBeforeIsRememberedOnce(t *testing.T) {
	c := &carried{RoundTripper: answering{}}
	for _, token := range []string{"first", "second", "second", "", "third", "third"} {
		req := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		if _, err := c.RoundTrip(req); err != nil {
			t.Fatal(err)
		}
	}
	all := strings.Join(c.secrets(), " ")
	for token, want := range map[string]bool{"first": false, "second": true, "third": true} {
		if strings.Contains(all, token) != want {
			t.Errorf("%s is remembered: %v, want %v", token, !want, want)
		}
	}
}

// answering answers nothing.
type answering struct{}

func (answering) RoundTrip(*http.Request) (*http.Response, error) { return &http.Response{}, nil }
