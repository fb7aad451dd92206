// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
	"sync/atomic"

	"k8s.io/client-go/dynamic"

	"github.com/fleetscale/fleetscale/pkg/plugin/pages"
)

// own is the site of who has started it. The address has a secret that other users of the machine, and other pages, do not know.
type own struct {
	token string
	site  *site
}

// site answers a browser with what one reader may read.
type site struct {
	seen    *seen
	hub     dynamic.Interface
	pasts   pasts
	own     turns // of the page's answers with what is decided again
	turns   turns // of all pages, while it is
	streams atomic.Int32
}

// policy lets a page load and connect to nothing but ours, and lets nothing be made of text but text.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// headers go with every answer.
var headers = map[string]string{
	"Content-Security-Policy":      policy,
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Cache-Control":                "no-store",
}

func (o *own) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
	switch {
	case !local(r.Host):
		http.Error(w, "This is served to this machine only.", http.StatusForbidden)
		return
	case !reads(w, r):
		return
	}
	token, path, below := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case subtle.ConstantTimeCompare([]byte(token), []byte(o.token)) != 1:
		http.Error(w, "The address is not the one that kubectl fleetscale dashboard printed: each start has another.", http.StatusForbidden)
	case !below: // what a page loads is relative to it
		http.Redirect(w, r, "/"+o.token+"/", http.StatusFound)
	default:
		o.site.answer(w, r, path)
	}
}

// reads reports whether a request changes nothing; otherwise it is refused.
func reads(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	http.Error(w, "This can only be read.", http.StatusMethodNotAllowed)
	return false
}

// answer answers what is asked for by a path below the page's own.
func (s *site) answer(w http.ResponseWriter, r *http.Request, path string) {
	switch path {
	case "stream":
		s.stream(w, r)
	case "autoscaler":
		s.autoscaler(w, r)
	case "moment":
		s.moment(w, r)
	case "replay":
		s.replay(w, r)
	default:
		http.StripPrefix(strings.TrimSuffix(r.URL.Path, path), http.FileServerFS(pages.Files())).ServeHTTP(w, r)
	}
}

// local reports whether a browser was led here by the name of this machine, and not by one whose address changed under it.
func local(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	return name == "127.0.0.1" || name == "localhost" || name == "::1"
}

func (s *site) autoscaler(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	if _, found := s.seen.about(id); !found { // so that nobody's record is asked for
		http.Error(w, "There is no such autoscaler.", http.StatusNotFound)
		return
	}
	past := s.pasts.past(r.Context(), id)
	d, found := about(r.Context(), s.seen, s.hub, id, past.recorded)
	if !found {
		http.Error(w, "There is no such autoscaler.", http.StatusNotFound)
		return
	}
	d.RecordTrouble, d.Reading = past.trouble, past.reading
	reply(w, d)
}

// about is the page about one autoscaler, with its Events, and what was recorded of it.
func about(ctx context.Context, s *seen, hub dynamic.Interface, id string, past *recorded) (d detail, found bool) {
	k, found := s.about(id)
	if !found {
		return d, false
	}
	k.Recorded = past
	d = detailOf(k)
	d.Events, d.EventsTrouble = eventsOf(ctx, hub, k.Object)
	return d, true
}
