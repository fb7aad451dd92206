// SPDX-License-Identifier: Apache-2.0

package command

import (
	"net/http"
	"sync"

	"k8s.io/klog/v2"
)

// ReadyCheck logs when a readiness check fails, once per reason, and when it
// passes again. The library logs neither.
func ReadyCheck(name string, check func(*http.Request) error) func(*http.Request) error {
	var heard reasons
	return func(req *http.Request) error {
		err := check(req)
		if !heard.isNew(err) {
			return err
		}
		log := klog.FromContext(req.Context())
		if err != nil {
			log.Info("Not ready", "check", name, "reason", err.Error())
		} else {
			log.Info("Ready", "check", name)
		}
		return err
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
