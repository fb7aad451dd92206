// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// connected is a member that is asked over a real connection, with its limit.
type connected struct {
	*fakeMember
	conn *connection.Connection
}

func (c *connected) Client() rest.Interface { return c.conn.Client() }

func connect(t *testing.T, m *fakeMember, o connection.Options) *connected {
	o.AllowLocal = true
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, err := m.Serve(r)
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
		w.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(w, answer.Body)
	}))
	t.Cleanup(server.Close)
	conn, err := connection.NewPeer(m.Name(), o.WithDefaults(), nil, func(fleet.Reason) {}, nil).Connect(registration.Endpoint{
		Config: &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &connected{m, conn}
}

// A tenant asks more than a member is asked in a second. It is told so: the member is not silent, no part of what is
// known of it is lost, and others are answered.
func TestFloodOfQuestions(t *testing.T) {
	t.Parallel()
	east := connect(t, newFakeMember("east"), connection.Options{QPS: 20, Burst: 16, Timeout: 2 * time.Second})
	f := newFleetWith(func(o *Options) { o.Timeout = 2 * time.Second }, east)
	f.run(t)
	memberstest.Eventually(t, "2", func() string { return fmt.Sprint(len(f.CustomMetrics())) })
	stop := make(chan struct{})
	var all sync.WaitGroup
	var answered, throttled, silent atomic.Int64
	for i := range 60 {
		all.Go(func() {
			for j := 0; ; j++ {
				q := queue
				q.Namespace, q.MetricSelector = "evil", labels.SelectorFromSet(labels.Set{"n": fmt.Sprint(i, "-", j)})
				switch r := f.External(t.Context(), q); {
				case r.Throttled:
					throttled.Add(1)
				case len(r.Silent) > 0:
					silent.Add(1)
				default:
					answered.Add(1)
				}
				select {
				case <-stop:
					return
				case <-time.After(10 * time.Millisecond):
				}
			}
		})
	}
	memberstest.Eventually(t, "true", func() string { return fmt.Sprint(throttled.Load() > 20) })
	for i := range 5 {
		q := queue
		q.MetricSelector = labels.SelectorFromSet(labels.Set{"n": fmt.Sprint(i)})
		if r := f.External(t.Context(), q); r.Throttled || len(r.Values["east"]) != 1 {
			t.Errorf("another tenant's question: throttled %v, %v", r.Throttled, r.Coverage().Header())
		}
	}
	close(stop)
	all.Wait()
	if answered.Load() == 0 || silent.Load() > 0 {
		t.Errorf("of the flood %d were answered, %d throttled, %d count the member as silent; want some, some, none", answered.Load(),
			throttled.Load(), silent.Load())
	}
	f.external.mu.Lock()
	l := f.external.lines["east"]
	f.external.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, q := range l.questions {
		if !q.failing.IsZero() {
			t.Errorf("%v counts as failing", k)
		}
	}
}
