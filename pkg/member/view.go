// SPDX-License-Identifier: Apache-2.0

package member

import (
	"net/http"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// shown is what a member's view is made of, apart from labels.
type shown struct {
	ready         bool
	silence       fleet.Silence // the zero Silence when ready
	hub           bool
	conn, hubConn *connection // nil: callers get none
}

// show brings the member's view up to date. It is true when callers have to know:
// other words for the same reason are shown too, but are no news.
func (e *entry) show(silence *fleet.Silence, hub bool) bool {
	now := shown{ready: silence == nil, hub: hub}
	if silence != nil {
		now.silence = *silence
	}
	if e.usable(silence) {
		now.conn, now.hubConn = e.conn, e.hubConn
	}
	first := e.member.view.Load() == nil
	news := first || e.relabelled || now != e.shown.reworded(now)
	if !news && now == e.shown {
		return false
	}
	e.shown, e.relabelled = now, false
	e.member.view.Store(e.build(now))
	return news
}

func (s shown) reworded(now shown) shown {
	s.silence.Detail = now.silence.Detail
	return s
}

// usable is true when callers may have the connection: an accepted member that
// fails may still be asked, a refused one may not.
func (e *entry) usable(silence *fleet.Silence) bool {
	return e.conn != nil && (silence == nil || silence == e.health.silence)
}

func (e *entry) build(s shown) *view {
	v := &view{
		labels: e.reg.labels, topology: e.reg.topology, hub: s.hub,
		state: State{Ready: s.ready, Reason: s.silence.Reason, Message: s.silence.Detail, Since: e.since(s.ready)},
	}
	if s.ready {
		v.state.Reason = ReasonReady
	}
	v.state.Contacted = v.state.Reason != ReasonNotContacted
	if s.conn == nil {
		v.client = refusing(v.state.silence())
		v.watch = v.client
	} else {
		v.client, v.watch = s.conn.client, s.conn.watch
	}
	v.metrics = v.client
	if s.hubConn != nil {
		v.metrics = s.hubConn.client
	}
	return v
}

// since is when readiness became what it is.
func (e *entry) since(ready bool) time.Time {
	if v := e.member.view.Load(); v != nil && v.state.Ready == ready {
		return v.state.Since
	}
	return time.Now()
}

// refusing is a client whose every request fails with the reason.
func refusing(silence *fleet.Silence) rest.Interface {
	nowhere := &url.URL{Scheme: "https", Host: "refused.invalid"}
	content := rest.ClientContentConfig{
		Negotiator: runtime.NewClientNegotiator(scheme.Codecs.WithoutConversion(), schema.GroupVersion{Version: "v1"}),
	}
	client, err := rest.NewRESTClient(nowhere, "", content, nil, &http.Client{Transport: refusal{silence}})
	if err != nil {
		panic("a client without credentials can always be made: " + err.Error())
	}
	return client
}

// refusal is a transport that goes nowhere.
type refusal struct{ silence *fleet.Silence }

func (r refusal) RoundTrip(*http.Request) (*http.Response, error) { return nil, r.silence }
