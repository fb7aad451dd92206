// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/ratelimit"
)

// Over real connections: what is refused was not sent, and is no fault of the member.
func TestThrottledRequestsAreNotSent(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	failures := make(chan fleet.Reason, 100)
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent.Add(1) }))
	t.Cleanup(server.Close)
	p := NewPeer("east", Options{AllowLocal: true, QPS: 0.001, Burst: 8, Timeout: time.Second}.WithDefaults(), nil,
		func(r fleet.Reason) { failures <- r }, nil)
	conn, err := p.Connect(insecure(server))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(client rest.Interface, path string) error {
		return client.Get().AbsPath(path).Do(t.Context()).Error()
	}
	var all sync.WaitGroup
	var throttled atomic.Int64
	for i := range 20 {
		client := conn.Client()
		if i%2 == 0 {
			client = conn.WatchClient()
		}
		all.Go(func() {
			if ratelimit.Throttled(ask(client, "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/*/rps")) {
				throttled.Add(1)
			}
		})
	}
	all.Wait()
	if sent.Load() != 5 || throttled.Load() != 15 { // its own, and four spare ones
		t.Errorf("%d were sent and %d throttled of 20, want 5 and 15", sent.Load(), throttled.Load())
	}
	for range 3 {
		if _, _, err := conn.Get(t.Context(), "/"); err != nil {
			t.Errorf("a probe: %v", err)
		}
	}
	if err := ask(conn.Client(), "/apis/metrics.k8s.io/v1beta1/pods"); err != nil {
		t.Errorf("a scrape: %v", err)
	}
	if len(failures) > 0 {
		t.Errorf("failure %s of the member, which was not asked", <-failures)
	}
}
