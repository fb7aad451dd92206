// SPDX-License-Identifier: Apache-2.0

package byzantine

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/test/sim"
)

// Attack is one way to do harm.
type Attack struct {
	Name string
	// Worst are those that a short test has time and memory for.
	Worst bool

	// wanted are the requests that it is on; nil: all for objects and metrics.
	wanted func(*request.RequestInfo) bool
	serve  func(*Member, http.ResponseWriter, question)
	// socket is in place of serve for what is no HTTP.
	socket func(context.Context, *tls.Conn)
}

// Targets are what attacks are about, beside the one who asks.
type Targets struct {
	// Victim is an honest member, whose identity is claimed.
	Victim *sim.Member
	// Elsewhere are addresses that nobody should be sent to.
	Elsewhere []string
	// Deadline is how long a client waits.
	Deadline time.Duration
	// Namespaces are not those that are asked for.
	Namespaces []string
}

// Attacks are all there are.
func Attacks(t Targets) []Attack {
	return []Attack{
		{Name: "bomb", serve: bomb()},
		{Name: "drip", serve: drip},
		{Name: "list without end", Worst: true, serve: endlessList()},
		{Name: "events without end", Worst: true, serve: endlessWatch(event)},
		{Name: "bookmarks without end", serve: endlessWatch(bookmark)},
		{Name: "an event without end", serve: longEvent},
		{Name: "quantities", Worst: true, serve: quantities},
		{Name: "digits", serve: digits},
		{Name: "uid of another", Worst: true, wanted: probe, serve: claim(t.Victim)},
		{Name: "another time", wanted: anything, serve: otherTime()},
		{Name: "other namespaces", Worst: true, serve: otherNamespaces(t.Namespaces)},
		{Name: "one name half a million times", serve: repeated(500_000, false)},
		{Name: "millions of nothing", Worst: true, serve: repeated(20_000_000, true)},
		{Name: "many series", serve: many(100_000)},
		{Name: "many metrics", wanted: discovery, serve: manyMetrics(500_000)},
		{Name: "bad protobuf", Worst: true, serve: broken(runtime.ContentTypeProtobuf)},
		{Name: "bad JSON", serve: broken(runtime.ContentTypeJSON)},
		{Name: "garbage", serve: garbage},
		{Name: "headers", serve: headers},
		{Name: "streams that break", serve: func(*Member, http.ResponseWriter, question) { panic(http.ErrAbortHandler) }},
		{Name: "connections that break", Worst: true, serve: cutOff},
		{Name: "connections that are sent away", wanted: anything, serve: goAway},
		{Name: "settings and pings", socket: frames},
		{Name: "no word", socket: mute},
		{Name: "redirects", Worst: true, serve: redirect(t.Elsewhere)},
		{Name: "too late", serve: late(t.Deadline + time.Second)},
		{Name: "refusals", serve: refusals()},
	}
}

func anything(*request.RequestInfo) bool { return true }

func probe(info *request.RequestInfo) bool {
	return info.IsResourceRequest && info.Resource == "namespaces" && info.Name == "kube-system"
}

func discovery(info *request.RequestInfo) bool {
	return !info.IsResourceRequest && strings.HasPrefix(info.Path, "/apis/") && strings.Contains(info.Path, "metrics")
}

// bomb is small on the way, and has no end once it is unfolded.
func bomb() func(*Member, http.ResponseWriter, question) {
	spaces := strings.Repeat(" ", 1<<20)
	part := folded(func(w io.Writer) { _, _ = io.WriteString(w, spaces) }) // parts that follow each other are one
	return func(_ *Member, w http.ResponseWriter, q question) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		for q.Context().Err() == nil {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	}
}

// drip begins at once, and continues by a byte a second.
func drip(_ *Member, w http.ResponseWriter, q question) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	flush := http.NewResponseController(w)
	for first := true; first || q.elapse(time.Second); first = false {
		_, err := w.Write([]byte("{"))
		if err != nil || flush.Flush() != nil {
			return
		}
	}
}

// endlessList says of each page that there is another.
func endlessList() func(*Member, http.ResponseWriter, question) {
	const items = 200
	var page atomic.Int64
	return func(m *Member, w http.ResponseWriter, q question) {
		n := page.Add(1)
		body, ok := q.encodedAs(runtime.ContentTypeJSON, items, func(i int) string { return fmt.Sprintf("web-%d-%d", n, i) })
		if !ok {
			m.truly(w, q)
			return
		}
		say(w, runtime.ContentTypeJSON, []byte(strings.Replace(string(body), `"metadata":{`,
			`"metadata":{"continue":"`+strconv.FormatInt(n, 10)+`","remainingItemCount":1,`, 1)))
	}
}

const (
	event    = `{"type":"ADDED","object":{"kind":%q,"apiVersion":%q,"metadata":{"namespace":%q,"name":"web-%d","resourceVersion":"%[4]d"}}}` + "\n"
	bookmark = `{"type":"BOOKMARK","object":{"kind":%q,"apiVersion":%q,"metadata":{"namespace":%q,"resourceVersion":"%d"}}}` + "\n"
)

// endlessWatch tells of more and more, as fast as it may.
func endlessWatch(format string) func(*Member, http.ResponseWriter, question) {
	return func(m *Member, w http.ResponseWriter, q question) {
		kind, version, ok := q.kind()
		if q.info.Verb != "watch" || !ok {
			m.truly(w, q)
			return
		}
		w.Header().Set("Content-Type", runtime.ContentTypeJSON+";stream=watch")
		p := pace{}
		for n := 1_000_000; p.wait(q.Context()); {
			var some strings.Builder
			for range 1_000 {
				fmt.Fprintf(&some, format, kind, version, q.info.Namespace, n)
				n++
			}
			if _, err := io.WriteString(w, some.String()); err != nil {
				return
			}
			p.sent(some.Len())
		}
	}
}

// kind is what the objects of some resources are.
func (q question) kind() (kind, version string, ok bool) {
	switch q.info.Resource {
	case "pods":
		return "Pod", "v1", true
	case "nodes":
		return "Node", "v1", true
	case "horizontalpodautoscalers":
		return "HorizontalPodAutoscaler", "autoscaling/v2", true
	}
	return "", "", false
}

// longEvent begins an event that has no end.
func longEvent(m *Member, w http.ResponseWriter, q question) {
	kind, version, ok := q.kind()
	if q.info.Verb != "watch" || !ok {
		m.truly(w, q)
		return
	}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON+";stream=watch")
	fmt.Fprintf(w, `{"type":"ADDED","object":{"kind":%q,"apiVersion":%q,"metadata":{"name":"`, kind, version)
	letters, p := []byte(strings.Repeat("a", 64<<10)), pace{}
	for p.wait(q.Context()) {
		if _, err := w.Write(letters); err != nil {
			return
		}
		p.sent(len(letters))
	}
}

// quantities take forever to parse.
func quantities(m *Member, w http.ResponseWriter, q question) {
	body, media, ok := q.encoded(3, numbered)
	if !ok {
		m.truly(w, q)
		return
	}
	say(w, media, memberstest.Hostile(media, body)["endless"])
}

// digits are a quantity of 10 MB.
func digits(m *Member, w http.ResponseWriter, q question) {
	body, ok := q.encodedAs(runtime.ContentTypeJSON, 1, numbered)
	if !ok {
		m.truly(w, q)
		return
	}
	say(w, runtime.ContentTypeJSON, []byte(strings.Replace(string(body), memberstest.Stand, strings.Repeat("9", 10<<20), 1)))
}

// claim has another member tell who it is.
func claim(victim *sim.Member) func(*Member, http.ResponseWriter, question) {
	return func(_ *Member, w http.ResponseWriter, q question) {
		asked := q.Clone(q.Context())
		asked.Header.Set("Authorization", "Bearer "+victim.RESTConfig().BearerToken)
		victim.ServeHTTP(w, asked)
	}
}

// otherTime is years ago, and years to come, in turns.
func otherTime() func(*Member, http.ResponseWriter, question) {
	const years = 10 * 365 * 24 * time.Hour
	var turn atomic.Int64
	return func(m *Member, w http.ResponseWriter, q question) {
		w.Header().Set("Date", time.Now().Add(years*time.Duration(turn.Add(1)%2*2-1)).UTC().Format(http.TimeFormat))
		m.truly(w, q)
	}
}

// otherNamespaces says of a namespace what should be in others.
func otherNamespaces(namespaces []string) func(*Member, http.ResponseWriter, question) {
	return func(m *Member, w http.ResponseWriter, q question) {
		q.info.Namespace = "PLACE"
		body, ok := q.encodedAs(runtime.ContentTypeJSON, 10*len(namespaces), numbered)
		if !ok {
			m.truly(w, q)
			return
		}
		parts := strings.Split(string(body), `"PLACE"`)
		var lie strings.Builder
		for i, part := range parts {
			lie.WriteString(part)
			if i < len(parts)-1 {
				fmt.Fprintf(&lie, "%q", namespaces[i%len(namespaces)])
			}
		}
		say(w, runtime.ContentTypeJSON, []byte(strings.ReplaceAll(lie.String(), memberstest.Stand, "1")))
	}
}

// broken are answers that no decoder should trip over, one after the other.
func broken(media string) func(*Member, http.ResponseWriter, question) {
	var turn atomic.Int64
	return func(m *Member, w http.ResponseWriter, q question) {
		body, ok := q.encodedAs(media, 3, numbered)
		if !ok {
			m.truly(w, q)
			return
		}
		all := memberstest.Hostile(media, body)
		say(w, media, all[nth(all, int(turn.Add(1)))])
	}
}

func garbage(_ *Member, w http.ResponseWriter, _ question) {
	say(w, "text/html", []byte(strings.Repeat("<html>It works!</html>\n", 100_000)))
}

// headers are 8 MB of them.
func headers(m *Member, w http.ResponseWriter, q question) {
	value := strings.Repeat("a", 40<<10)
	for i := range 200 {
		w.Header().Set(fmt.Sprintf("X-%d", i), value)
	}
	m.truly(w, q)
}

// cutOff breaks the connection in the midst of an answer.
func cutOff(_ *Member, w http.ResponseWriter, q question) {
	w.Header().Set("Content-Length", "1000")
	say(w, runtime.ContentTypeJSON, []byte(`{"kind":`))
	_ = http.NewResponseController(w).Flush()
	q.breakOff()
}

// goAway has each answer be the last one of its connection.
func goAway(m *Member, w http.ResponseWriter, q question) {
	w.Header().Set("Connection", "close")
	m.truly(w, q)
}

// Stolen begins the path of whoever follows a redirect.
const Stolen = "/stolen"

func redirect(elsewhere []string) func(*Member, http.ResponseWriter, question) {
	codes := []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}
	var turn atomic.Int64
	return func(_ *Member, w http.ResponseWriter, q question) {
		n := int(turn.Add(1))
		http.Redirect(w, q.Request, elsewhere[n%len(elsewhere)]+Stolen+q.URL.RequestURI(), codes[n/len(elsewhere)%len(codes)])
	}
}

// late is right, but nobody waits for it any more.
func late(after time.Duration) func(*Member, http.ResponseWriter, question) {
	return func(m *Member, w http.ResponseWriter, q question) {
		if q.elapse(after) {
			m.truly(w, q)
		}
	}
}

func refusals() func(*Member, http.ResponseWriter, question) {
	codes := []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusServiceUnavailable, http.StatusGone, http.StatusNotImplemented}
	var turn atomic.Int64
	return func(_ *Member, w http.ResponseWriter, _ question) {
		w.Header().Set("Retry-After", "86400")
		code := codes[int(turn.Add(1))%len(codes)]
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"details":{"retryAfterSeconds":86400}}`, code)
	}
}
