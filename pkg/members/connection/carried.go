// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"net/http"
	"sync/atomic"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

// carried remembers what the last requests were authorized by: no registration says what a plugin or a file yields.
type carried struct {
	http.RoundTripper

	last, before atomic.Pointer[string]
}

// RoundTrip is as http.RoundTripper has it.
func (c *carried) RoundTrip(req *http.Request) (*http.Response, error) {
	value := req.Header.Get("Authorization")
	if last := c.last.Load(); value != "" && (last == nil || *last != value) {
		c.before.Store(last)
		c.last.Store(&value)
	}
	return c.RoundTripper.RoundTrip(req)
}

// secrets are the forms of what was carried: by the last requests, and by those before it was renewed.
func (c *carried) secrets() []string {
	var all []string
	for _, value := range []*string{c.last.Load(), c.before.Load()} {
		if value == nil {
			continue
		}
		for _, secret := range registration.Authorization(*value) {
			all = append(all, registration.Forms(secret)...)
		}
	}
	return all
}
