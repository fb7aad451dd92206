// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"net/http"
	"sync"

	"k8s.io/klog/v2"
)

// errNotReady is all that is said to whoever asks: a reason may name objects, and anybody may ask.
var errNotReady = errors.New("not ready: the log has the reason")

// ReadyCheck logs when a readiness check fails, once per reason, and when it
// passes again. The library logs neither.
func ReadyCheck(name string, check func(*http.Request) error) func(*http.Request) error {
	var heard reasons
	return func(req *http.Request) error {
		err := check(req)
		if isNew := heard.isNew(err); isNew && err != nil {
			klog.FromContext(req.Context()).Info("Not ready", "check", name, "reason", err.Error())
		} else if isNew {
			klog.FromContext(req.Context()).Info("Ready", "check", name)
		}
		if err != nil {
			return errNotReady
		}
		return nil
	}
}

// reasons remembers the last reason.
type reasons struct {
	mu   sync.Mutex
	last string // empty: the check passes
}

func (r *reasons) isNew(err error) bool {
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.last
	r.last = reason
	return reason != before
}
