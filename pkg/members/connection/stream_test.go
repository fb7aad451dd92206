// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/fleetscale/fleetscale/pkg/members/ratelimit"
)

// leaving counts those that wait for its end.
type leaving struct {
	context.Context

	waiting *int
}

func (leaving) Done() <-chan struct{} { return make(chan struct{}) }

func (l leaving) AfterFunc(func()) (stop func() bool) {
	*l.waiting++
	return func() bool { *l.waiting--; return true }
}

func (leaving) Value(any) any { return nil }

// A stream that is not opened leaves nothing behind with whoever asked for it.
func TestStreamOfAConnectionThatHasEnded(t *testing.T) {
	waiting := 0
	s := &streams{wire: &wire{limiter: ratelimit.New(1, 1, time.Second)}, ended: true}
	request := httptest.NewRequestWithContext(leaving{t.Context(), &waiting}, http.MethodGet, "/", nil)
	if _, err := s.RoundTrip(request); !errors.Is(err, errReplaced) || waiting != 0 {
		t.Errorf("%v, and %d wait", err, waiting)
	}
}

// A cluster is sent the part of the requests that is this process's.
func TestPartOfRequests(t *testing.T) {
	asked := false
	l := newLimiter(&Options{QPS: 1, Burst: 1, Timeout: time.Second, Part: func() float64 { asked = true; return 1 }})
	if err := l.Admit(t.Context(), ratelimit.Other, ""); err != nil || !asked {
		t.Errorf("error %v; asked for the part: %v", err, asked)
	}
}

// What we end ourselves says nothing of the cluster.
func TestResultOfWhatWeEnd(t *testing.T) {
	for _, err := range []error{context.Canceled, errReplaced, ratelimit.ErrThrottled, &reworded{errReplaced, "x"}} {
		if got := resultOf(nil, err); got != resultCanceled {
			t.Errorf("%v: %s", err, got)
		}
	}
}
