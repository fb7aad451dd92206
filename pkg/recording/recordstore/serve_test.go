// SPDX-License-Identifier: Apache-2.0

package recordstore

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
)

func TestHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore("", 1<<20)
		defer running(t, s)()
		for i := range 4 {
			s.Record(record([]string{"cart", "web"}[i%2], time.Unix(int64(i), 0)))
		}
		for _, r := range recordingtest.NewSized(1, 1).Run(rand.New(rand.NewPCG(1, 1)), 3) {
			s.Record(r)
		}
		write()
		handler := s.Handler()
		ask := func(query string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8082"+Path+query, nil))
			return w
		}
		for query, want := range map[string]int{
			"?namespace=shop&name=web": 2, "?namespace=shop&name=web&type=FederatedHPA": 2,
			"?namespace=shop&name=web&type=MultidimPodAutoscaler": 3, "?namespace=other&name=web": 0, "?namespace=shop&name=none": 0,
			"?namespace=shop&name=cart&since=1970-01-01T00:00:02Z": 1,
		} {
			if w := ask(query); w.Code != http.StatusOK || len(decoded(t, w.Body.Bytes())) != want {
				t.Errorf("%q: %d, %d records, want %d", query, w.Code, len(decoded(t, w.Body.Bytes())), want)
			}
		}
		for _, query := range []string{"", "?namespace=shop", "?name=web", "?namespace=shop&name=cart&since=x"} {
			if w := ask(query); w.Code != http.StatusBadRequest {
				t.Errorf("%q: %d", query, w.Code)
			}
		}
	})
}

// slow takes its time to read what it is written.
type slow struct {
	*httptest.ResponseRecorder

	takes time.Duration
}

func (s slow) Write(b []byte) (int, error) {
	time.Sleep(s.takes)
	return s.ResponseRecorder.Write(b)
}

// Who asks again and again leaves half of the time to who decides, and others wait no longer than they want to.
func TestAnswersRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore("", 1<<20)
		defer running(t, s)()
		s.Record(record("cart", time.Now()))
		write()
		handler, start := s.Handler(), time.Now()
		ask := func(ctx context.Context) int {
			w := slow{httptest.NewRecorder(), time.Second}
			handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, Path+"?namespace=shop&name=cart", nil).WithContext(ctx))
			return w.Body.Len()
		}
		for range 10 {
			if ask(t.Context()) == 0 {
				t.Fatal("there is no record")
			}
		}
		if took := time.Since(start); took < 19*time.Second {
			t.Errorf("10 answers of a second took %v", took)
		}
		short, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		if n := ask(short); n != 0 {
			t.Errorf("%d bytes for who has left", n)
		}
		time.Sleep(time.Minute) // the last rest is over
	})
}

// serves is a server that answers so.
func serves(t *testing.T, answer http.HandlerFunc) (*url.URL, *tls.Config) {
	t.Helper()
	server := httptest.NewTLSServer(answer)
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return at, server.Client().Transport.(*http.Transport).TLSClientConfig
}

func TestAsk(t *testing.T) {
	var asked *url.URL
	at, config := serves(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, "the record")
	})
	object := recording.Object{Namespace: "shop", Name: "cart"}
	body, err := Ask(t.Context(), at, config, object, time.Unix(5, 0))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil || string(got) != "the record" {
		t.Errorf("%q, %v", got, err)
	}
	if want := Path + "?name=cart&namespace=shop&since=1970-01-01T00%3A00%3A05Z"; asked.String() != want {
		t.Errorf("asked %s, want %s", asked, want)
	}
	object.Kind = recording.SizesKind
	if body, err = Ask(t.Context(), at, config, object, time.Time{}); err != nil || body.Close() != nil {
		t.Fatal(err)
	}
	if want := Path + "?name=cart&namespace=shop&type=MultidimPodAutoscaler"; asked.String() != want {
		t.Errorf("asked %s, want %s", asked, want)
	}
	if _, err := Ask(t.Context(), at, &tls.Config{MinVersion: tls.VersionTLS13}, object, time.Time{}); err == nil ||
		!strings.Contains(err.Error(), "certificate") {
		t.Errorf("of somebody unknown: %v", err)
	}
}

// Whatever answers, it is an error unless it is whole, it is bounded, and its words stand in one line.
func TestHostileAnswers(t *testing.T) {
	record := func(w http.ResponseWriter) { w.Header().Set("Content-Type", contentType) }
	endless := func(w http.ResponseWriter, r *http.Request) {
		for block := make([]byte, 1<<20); r.Context().Err() == nil; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a record without end": {func(w http.ResponseWriter, r *http.Request) { record(w); endless(w, r) }, "the record is longer than 64 MiB"},
		"half a record": {func(w http.ResponseWriter, _ *http.Request) {
			record(w)
			_, _ = io.WriteString(w, "the rec")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "reading the record: unexpected EOF"},
		"a record that hangs": {func(w http.ResponseWriter, r *http.Request) {
			record(w)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "context deadline exceeded"},
		"no answer": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "context deadline exceeded"},
		"a page":    {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "200 OK: <html>"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
			"asking for the record: 302 Found"},
		"a refusal without end": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, "no\x1b[2J\nshop/cart: ")
			endless(w, r)
		}, "asking for the record: 418 I'm a teapot: no\ufffd[2J shop/cart: "},
		"headers without end": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 2*mostHeader))
			record(w)
		}, "server response headers exceeded 16384 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			at, config := serves(t, func(w http.ResponseWriter, r *http.Request) {
				tc.answer(w, r.WithContext(t.Context())) // who hangs does so until the test ends, not until the client leaves, which may still read
			})
			ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute) // a busy machine takes its time for 64 MiB
			defer stop()
			if strings.Contains(tc.want, "deadline") {
				ctx, stop = context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer stop()
			}
			body, err := Ask(ctx, at, config, recording.Object{Namespace: "shop", Name: "cart"}, time.Time{})
			if err == nil {
				var n int64
				if n, err = io.Copy(io.Discard, body); n > MostAnswer {
					t.Errorf("%d bytes were read", n)
				}
				_ = body.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || utf8.RuneCountInString(err.Error()) > 500 ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v\nwant %s", err, tc.want)
			}
		})
	}
}
