// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"
)

// TestUnreadBytesAreBounded has answers that nobody reads fill what a connection may have received: one leaves room for others, two
// and a little leave none, until one of them ends.
func TestUnreadBytesAreBounded(t *testing.T) {
	sent := make(chan struct{})
	_, c := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/unread" {
			_, _ = io.WriteString(w, "{}")
			return
		}
		size, _ := strconv.Atoi(r.URL.Query().Get("size"))
		_, _ = w.Write(make([]byte, size))
		_ = http.NewResponseController(w).Flush()
		sent <- struct{}{}
		<-r.Context().Done()
	}), Options{Timeout: time.Second})
	leave := func(size int) io.ReadCloser {
		t.Helper()
		body, err := c.WatchClient().Get().AbsPath("/unread").Param("watch", "true").Param("size", strconv.Itoa(size)).Stream(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = body.Close() })
		<-sent
		return body
	}
	asked := func() error {
		_, _, err := c.Get(t.Context(), "/")
		return err
	}
	leave(mostUnread / 2)
	if err := asked(); err != nil {
		t.Fatalf("beside one answer that nobody reads: %v", err)
	}
	second := leave(mostUnread / 2)
	leave(1<<16 - 1) // what a connection has from its start, by HTTP/2 itself
	if asked() == nil {
		t.Fatalf("beside answers that nobody reads, of %d bytes, more was received", mostUnread)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if err := asked(); err != nil {
		t.Errorf("after one of the answers that nobody reads has ended: %v", err)
	}
}
