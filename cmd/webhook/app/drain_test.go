// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

func TestDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		defer end()
		later, begin := drained(ctx, time.Second), time.Now()
		synctest.Wait()
		if later.Err() != nil {
			t.Error("it ends without a reason")
		}
		end()
		<-later.Done()
		if took := time.Since(begin); took != time.Second {
			t.Errorf("it ends after %v, want %v", took, time.Second)
		}
	})
}

func TestLastAnswersCloseTheirConnection(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	defer end()
	handler := lastly(ctx, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }))
	for _, want := range []string{"", "close"} {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, "/", nil))
		if got := recorder.Header().Get("Connection"); got != want || recorder.Code != http.StatusAccepted {
			t.Errorf("Connection %q, want %q; %d", got, want, recorder.Code)
		}
		end()
	}
}
