// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"sync/atomic"
	"time"

	"k8s.io/apiserver/pkg/endpoints/request"
)

// Seen is one request as it came in.
type Seen struct {
	Request

	// Namespace and Name are empty where the request names none.
	Namespace, Name string
	At              time.Time
}

// OnRequest has f told of each request from now on, before it is answered. It is called by many goroutines at once,
// and holds them up. Nil: nobody is told.
func (m *Member) OnRequest(f func(Seen)) { m.onRequest.set(f) }

type observer struct{ f atomic.Pointer[func(Seen)] }

func (o *observer) set(f func(Seen)) {
	if f == nil {
		o.f.Store(nil)
		return
	}
	o.f.Store(&f)
}

func (o *observer) tell(info *request.RequestInfo) {
	if f := o.f.Load(); f != nil {
		(*f)(Seen{requestOf(info), info.Namespace, info.Name, time.Now()})
	}
}
