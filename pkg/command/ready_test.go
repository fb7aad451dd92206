// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestReadyCheckSaysWhatIsNew(t *testing.T) {
	away, slow := errors.New("the hub is away"), errors.New("the hub is slow")
	var got []string
	log := funcr.New(func(_, line string) { got = append(got, line) }, funcr.Options{})
	req := httptest.NewRequest(http.MethodGet, "/readyz", nil)
	req = req.WithContext(klog.NewContext(req.Context(), log))
	var now error
	check := ReadyCheck("members-known", func(*http.Request) error { return now })
	for _, now = range []error{nil, away, away, slow, away, nil, nil} {
		if err := check(req); (err == nil) != (now == nil) || err != nil && err.Error() != "not ready: the log has the reason" {
			t.Errorf("got %v for %v, want no more than whether it is ready", err, now)
		}
	}
	want := []string{
		`"level"=0 "msg"="Not ready" "check"="members-known" "reason"="the hub is away"`,
		`"level"=0 "msg"="Not ready" "check"="members-known" "reason"="the hub is slow"`,
		`"level"=0 "msg"="Not ready" "check"="members-known" "reason"="the hub is away"`,
		`"level"=0 "msg"="Ready" "check"="members-known"`,
	}
	fleettest.Same(t, "log", want, got)
}
