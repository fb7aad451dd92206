// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/plugin/dashboard/dashboardtest"
)

const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

// gate is a hub that knows readers by their tokens. Each has a hub of their own below it, which has what they may read.
type gate struct {
	mu      sync.Mutex
	readers map[string]*dashboardtest.Hub
	infos   map[string]authenticationv1.UserInfo
	asked   []string // METHOD TOKEN PATH
	echoes  bool     // refusals repeat tokens
}

// admit has the hub know a token.
func (g *gate) admit(token, name string, groups ...string) *dashboardtest.Hub {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.readers == nil {
		g.readers, g.infos = map[string]*dashboardtest.Hub{}, map[string]authenticationv1.UserInfo{}
	}
	g.readers[token] = &dashboardtest.Hub{}
	g.infos[token] = authenticationv1.UserInfo{Username: name, Groups: groups}
	return g.readers[token]
}

// revoke has it know the token no more. Watches that are open stay open.
func (g *gate) revoke(token string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.readers, token)
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	g.mu.Lock()
	g.asked = append(g.asked, r.Method+" "+token+" "+r.URL.Path)
	hub, info, said := g.readers[token], g.infos[token], "Unauthorized"
	if g.echoes {
		said += ": " + token
	}
	g.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case hub == nil:
		w.WriteHeader(http.StatusUnauthorized)
		_ = json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonUnauthorized,
			Code: http.StatusUnauthorized, Message: said,
		})
	case r.URL.Path == reviews && info.Username != "":
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(authenticationv1.SelfSubjectReview{
			TypeMeta: metav1.TypeMeta{APIVersion: "authentication.k8s.io/v1", Kind: "SelfSubjectReview"},
			Status:   authenticationv1.SelfSubjectReviewStatus{UserInfo: info},
		})
	default:
		hub.ServeHTTP(w, r)
	}
}

// times is how often something was asked.
func (g *gate) times(question string) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, asked := range g.asked {
		if asked == question {
			n++
		}
	}
	return n
}

// served is the page for many, over TLS.
type served struct {
	t      *testing.T
	gate   *gate
	shared *Shared
	page   *httptest.Server

	mu   sync.Mutex
	time time.Time
}

func (p *served) now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.time
}

func (p *served) pass(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.time = p.time.Add(d)
}

func configOf(hub *httptest.Server) *rest.Config {
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hub.Certificate().Raw})
	return &rest.Config{Host: hub.URL, TLSClientConfig: rest.TLSClientConfig{CAData: authority}}
}

// host serves the page for many, with room for so many pages.
func host(t *testing.T, most int) *served {
	t.Helper()
	p := &served{t: t, gate: &gate{}, time: time.Now()}
	hub := httptest.NewTLSServer(p.gate)
	t.Cleanup(hub.Close)
	config := configOf(hub)
	config.BearerToken, config.Username, config.Impersonate.UserName = "ours", "we", "root" // which nobody may be asked with
	ctx, end := context.WithCancel(t.Context())
	if _, err := NewShared(ctx, config, most); err != nil {
		t.Fatal(err)
	}
	p.shared = newShared(ctx, rest.AnonymousClientConfig(config), most, p.now)
	p.page = httptest.NewTLSServer(p.shared)
	ended := make(chan struct{})
	go func() { defer close(ended); p.shared.Run() }()
	t.Cleanup(func() {
		end()
		p.page.Close()
		<-ended
	})
	return p
}

// browser is one with a store of cookies of its own, which does not follow where it is led.
func (p *served) browser() *http.Client {
	p.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return &http.Client{Transport: p.page.Client().Transport, Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// answer is what was answered, and its body.
type answer struct {
	*http.Response
	body string
}

// ask asks with a browser.
func (p *served) ask(from *http.Client, r *http.Request) answer {
	p.t.Helper()
	got, err := from.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer{got, string(body)}
}

// question is one for a path, with a header of Authorization if there is one.
func (p *served) question(ctx context.Context, path, authorization string) *http.Request {
	p.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.page.URL+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	return r
}

// get asks with a token.
func (p *served) get(path, token string) answer {
	p.t.Helper()
	return p.ask(p.browser(), p.question(p.t.Context(), path, "Bearer "+token))
}

// post sends a form.
func (p *served) post(from *http.Client, path string, form url.Values, change ...func(*http.Request)) answer {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.page.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, to := range change {
		to(r)
	}
	return p.ask(from, r)
}

// logIn logs in with a token.
func (p *served) logIn(from *http.Client, token, namespace string) answer {
	p.t.Helper()
	return p.post(from, "/login", url.Values{"token": {token}, "namespace": {namespace}})
}

// stream is what a page is told.
type stream struct {
	*messages
	code int
}

// follow opens a stream, which the test ends.
func (p *served) follow(from *http.Client, path, authorization string) stream {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.t.Context(), 20*time.Second)
	p.t.Cleanup(stop)
	got, err := from.Do(p.question(ctx, path+"stream", authorization))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { got.Body.Close() })
	return stream{listenTo(p.t, got.Body), got.StatusCode}
}

// all is what there is, once all was read.
func (s stream) all() (names []string) {
	s.t.Helper()
	held := map[string]bool{}
	s.until(func(_ string, told *changes) bool {
		for i := range told.Members {
			held[told.Members[i].Name] = true
		}
		for i := range told.Autoscalers {
			held[told.Autoscalers[i].ID] = true
		}
		return len(told.Loading) == 0
	})
	for name := range held {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// ends waits until a stream does.
func (s stream) ends() {
	s.t.Helper()
	for s.from.Scan() {
	}
	if err := s.from.Err(); err != nil && strings.Contains(err.Error(), "deadline") {
		s.t.Errorf("the stream did not end: %v", err)
	}
}

// holds has a reader see members and autoscalers of these names.
func holds(hub *dashboardtest.Hub, namespace string, names ...string) {
	for _, name := range names {
		hub.Put(dashboardtest.Members, dashboardtest.Member(name, 4, time.Now()))
		hub.Put(dashboardtest.FederatedHPAs, dashboardtest.FederatedHPA(namespace, name, time.Now(), 60, 2, name))
	}
}

// Each reader sees what their own token shows, by whatever way it comes, at the same time, and the hub is asked with no other.
func TestReadersSeeTheirOwn(t *testing.T) {
	p := host(t, 10)
	holds(p.gate.admit("token-of-ann", "ann"), "shop", "east")
	holds(p.gate.admit("token-of-bob", "bob"), "pay", "west")
	ann, bob := p.browser(), p.browser()
	if got := p.logIn(bob, "token-of-bob", ""); got.StatusCode != http.StatusSeeOther {
		t.Fatalf("logging in: %d %s", got.StatusCode, got.body)
	}
	of := map[string]stream{
		"ann":             p.follow(ann, "/", "Bearer token-of-ann"),
		"bob":             p.follow(bob, "/", ""),
		"ann once more":   p.follow(p.browser(), "/", "bearer token-of-ann"),
		"ann with bob's":  p.follow(bob, "/", "Bearer token-of-ann"), // what a proxy sends counts, and not what the browser was given
		"bob's namespace": p.follow(bob, "/namespaces/pay/", ""),
	}
	for who, s := range of {
		want := "[east fhpa/shop/east]"
		if strings.HasPrefix(who, "bob") {
			want = "[fhpa/pay/west west]"
		}
		if got := fmt.Sprint(s.all()); got != want {
			t.Errorf("%s sees %s, want %s", who, got, want)
		}
	}
	for id, want := range map[string]int{"fhpa/shop/east": http.StatusOK, "fhpa/pay/west": http.StatusNotFound} {
		if got := p.get("/autoscaler?id="+id, "token-of-ann"); got.StatusCode != want {
			t.Errorf("%s for ann: %d, want %d", id, got.StatusCode, want)
		}
	}
	for _, path := range []string{"/moment?id=fhpa/pay/west&at=1", "/replay?id=fhpa/pay/west"} {
		if got := p.get(path, "token-of-ann"); got.StatusCode != http.StatusNotFound || !strings.Contains(got.body, "no record") {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
		}
	}
	for _, path := range []string{"/", "/main.js", "/namespaces/shop/", "/namespaces/shop/main.js"} {
		if got := p.get(path, "token-of-ann"); got.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	for _, asked := range p.gate.asked {
		method, rest, _ := strings.Cut(asked, " ")
		token, path, _ := strings.Cut(rest, " ")
		if method != http.MethodGet && (method != http.MethodPost || path != reviews) || token != "token-of-ann" && token != "token-of-bob" {
			t.Errorf("the hub was asked: %s", asked)
		}
	}
}

// Who may list in one namespace only is told where that is, and sees it there.
func TestNamespaceOfAReader(t *testing.T) {
	p := host(t, 10)
	hub := p.gate.admit("token-of-ann", "ann")
	holds(hub, "shop", "east")
	for _, k := range kinds {
		hub.Refuse("/apis/autoscaling.karmada.io/v1alpha1/"+k.resource, http.StatusForbidden)
	}
	notice := ""
	p.follow(p.browser(), "/", "Bearer token-of-ann").until(func(_ string, told *changes) bool {
		if len(told.Notices) > 0 {
			notice = told.Notices[0].Text
		}
		return len(told.Loading) == 0
	})
	if !strings.Contains(notice, "those of one are at /namespaces/NAME/ of this address") {
		t.Errorf("it is said: %s", notice)
	}
	if got := fmt.Sprint(p.follow(p.browser(), "/namespaces/shop/", "Bearer token-of-ann").all()); got != "[east fhpa/shop/east]" {
		t.Errorf("in the namespace there is %s", got)
	}
}

// Who brings no token that the hub takes for somebody's sees nothing, and is told what to do; no token is repeated.
func TestWhoIsRefused(t *testing.T) {
	p := host(t, 10)
	p.gate.echoes = true
	holds(p.gate.admit("token-of-ann", "ann"), "shop", "east")
	p.gate.admit("token-of-nobody", "system:anonymous", "system:unauthenticated")
	p.gate.admit("token-of-a-group", "somebody", "system:unauthenticated")
	p.gate.admit("token-unnamed", "").Refuse(reviews, http.StatusForbidden)
	p.gate.admit("token-too-early", "").Refuse(reviews, http.StatusServiceUnavailable)
	for name, tc := range map[string]struct {
		path, authorization string
		want                int
		says                string
	}{
		"a page without a token":     {"/", "", http.StatusUnauthorized, `<form method="post" action="/login">`},
		"a stream without a token":   {"/stream", "", http.StatusUnauthorized, howToEnter},
		"a script without a token":   {"/main.js", "", http.StatusUnauthorized, howToEnter},
		"an unknown token":           {"/stream", "Bearer token-of-eve", http.StatusUnauthorized, "The hub does not accept this token"},
		"a page with an unknown one": {"/", "Bearer token-of-eve", http.StatusUnauthorized, "The hub does not accept this token"},
		"a name and a password":      {"/stream", "Basic token-of-ann", http.StatusUnauthorized, howToEnter},
		"nothing after the kind":     {"/stream", "Bearer ", http.StatusUnauthorized, howToEnter},
		"two tokens":                 {"/stream", "Bearer token-of-ann token-of-ann", http.StatusUnauthorized, howToEnter},
		"more than a token":          {"/stream", "Bearer " + strings.Repeat("a", mostToken+1), http.StatusUnauthorized, howToEnter},
		"nobody's token":             {"/stream", "Bearer token-of-nobody", http.StatusUnauthorized, howToEnter},
		"that of nobody's group":     {"/stream", "Bearer token-of-a-group", http.StatusUnauthorized, howToEnter},
		"one without a name":         {"/stream", "Bearer token-unnamed", http.StatusForbidden, "system:basic-user"},
		"a hub that does not answer": {"/stream", "Bearer token-too-early", http.StatusBadGateway, "cannot be asked at present"},
		"a namespace that is none":   {"/namespaces/a.b/", "Bearer token-of-ann", http.StatusNotFound, ""},
		"a namespace without a page": {"/namespaces/shop", "Bearer token-of-ann", http.StatusNotFound, ""},
		"a file that is none":        {"/serve.go", "Bearer token-of-ann", http.StatusNotFound, ""},
	} {
		got := p.ask(p.browser(), p.question(t.Context(), tc.path, tc.authorization))
		if got.StatusCode != tc.want || !strings.Contains(got.body, tc.says) || strings.Contains(got.body, "token-of") {
			t.Errorf("%s: %d, want %d with %q: %s", name, got.StatusCode, tc.want, tc.says, got.body)
		}
		if asked := got.Header.Get("WWW-Authenticate") != ""; asked != (tc.want == http.StatusUnauthorized) {
			t.Errorf("%s: WWW-Authenticate %q", name, got.Header.Get("WWW-Authenticate"))
		}
	}
	if n := p.shared.views.kept(); n != 1 {
		t.Errorf("%d views are kept, want that of ann", n)
	}
	if got := p.post(p.browser(), "/stream", nil); got.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a write: %d", got.StatusCode)
	}
	style := p.ask(p.browser(), p.question(t.Context(), "/style.css", ""))
	if style.StatusCode != http.StatusOK || !strings.HasPrefix(style.Header.Get("Content-Type"), "text/css") {
		t.Errorf("the style of the form: %d", style.StatusCode)
	}
	for name, want := range headers {
		if name == "Content-Security-Policy" {
			want = strings.Replace(want, "form-action 'none'", "form-action 'self'", 1)
		}
		if got := style.Header.Get(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// A browser that has logged in has something that is no token, and that no other page can read or send.
func TestLogin(t *testing.T) {
	p := host(t, 10)
	holds(p.gate.admit("token-of-ann", "ann"), "shop", "east")
	from := p.browser()
	got := p.logIn(from, " token-of-ann\n", "shop")
	if to := got.Header.Get("Location"); got.StatusCode != http.StatusSeeOther || to != "/namespaces/shop/" {
		t.Fatalf("%d to %s: %s", got.StatusCode, to, got.body)
	}
	c := got.Cookies()[0]
	if c.Name != "__Host-fleetscale-dashboard" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" ||
		c.Domain != "" || c.MaxAge != 0 || len(c.Value) < 26 || strings.Contains(c.Value, "ann") {
		t.Errorf("the cookie is %v", c)
	}
	page := p.follow(from, "/", "")
	if told := fmt.Sprint(page.all()); told != "[east fhpa/shop/east]" {
		t.Errorf("the page has %s", told)
	}
	other := p.browser()
	if again := p.logIn(other, "token-of-ann", "").Cookies()[0]; again.Value == c.Value {
		t.Error("two logins are one")
	}
	if got := p.post(from, "/logout", nil); got.StatusCode != http.StatusSeeOther || got.Cookies()[0].MaxAge >= 0 {
		t.Errorf("logging out: %d %v", got.StatusCode, got.Cookies())
	}
	page.ends()
	kept := p.question(t.Context(), "/stream", "")
	kept.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
	if got := p.ask(p.browser(), kept); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("somebody has kept the cookie: %d", got.StatusCode)
	}
}

// Forms of other pages, and those that are too long or make no sense, log nobody in.
func TestFormsThatAreRefused(t *testing.T) {
	p := host(t, 10)
	p.gate.admit("token-of-ann", "ann")
	of := func(pairs ...string) (form url.Values) {
		form = url.Values{"token": {"token-of-ann"}}
		for i := 0; i < len(pairs); i += 2 {
			form.Set(pairs[i], pairs[i+1])
		}
		return form
	}
	foreign := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, tc := range map[string]struct {
		form   url.Values
		change []func(*http.Request)
		want   int
		says   string
	}{
		"of another site":        {of(), []func(*http.Request){foreign("Sec-Fetch-Site", "cross-site")}, http.StatusForbidden, ""},
		"of another host":        {of(), []func(*http.Request){foreign("Origin", "https://evil.example.org")}, http.StatusForbidden, ""},
		"of a neighbour":         {of(), []func(*http.Request){foreign("Sec-Fetch-Site", "same-site")}, http.StatusForbidden, ""},
		"without a token":        {of("token", ""), nil, http.StatusUnauthorized, "does not accept"},
		"with an unknown token":  {of("token", "token-of-eve"), nil, http.StatusUnauthorized, "does not accept"},
		"with two lines":         {of("token", "token-of-ann\ntoken-of-ann"), nil, http.StatusUnauthorized, "does not accept"},
		"too long":               {of("other", strings.Repeat("a", mostForm)), nil, http.StatusUnauthorized, "does not accept"},
		"of a namespace of two":  {of("namespace", "shop/../pay"), nil, http.StatusUnprocessableEntity, "no name of a namespace"},
		"of a namespace of HTML": {of("namespace", `"><script>`), nil, http.StatusUnprocessableEntity, "no name of a namespace"},
	} {
		got := p.post(p.browser(), "/login", tc.form, tc.change...)
		if got.StatusCode != tc.want || !strings.Contains(got.body, tc.says) || len(got.Cookies()) != 0 ||
			strings.Contains(got.body, "token-of") {
			t.Errorf("%s: %d, want %d: %v %s", name, got.StatusCode, tc.want, got.Cookies(), got.body)
		}
	}
	if n := p.shared.logins.kept(); n != 0 {
		t.Errorf("%d logins are kept", n)
	}
	got := p.ask(p.browser(), p.question(t.Context(), "/login", ""))
	if got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != "/" {
		t.Errorf("the address of a form that was refused: %d", got.StatusCode)
	}
}

// A token that the hub takes no more ends what it shows, in all pages and logins, and nobody else's.
func TestTokenThatIsRevoked(t *testing.T) {
	p := host(t, 10)
	holds(p.gate.admit("token-of-ann", "ann"), "shop", "east")
	holds(p.gate.admit("token-of-bob", "bob"), "pay", "west")
	ann, bob := p.browser(), p.browser()
	for token, from := range map[string]*http.Client{"token-of-ann": ann, "token-of-bob": bob} {
		if got := p.logIn(from, token, ""); got.StatusCode != http.StatusSeeOther {
			t.Fatalf("%d %s", got.StatusCode, got.body)
		}
	}
	pages := []stream{p.follow(ann, "/", ""), p.follow(ann, "/namespaces/shop/", ""), p.follow(p.browser(), "/", "Bearer token-of-ann")}
	for _, page := range pages {
		page.all()
	}
	other := p.follow(bob, "/", "")
	other.all()
	p.gate.revoke("token-of-ann")
	p.ask(ann, p.question(t.Context(), "/autoscaler?id=fhpa/shop/east", "")) // asks the hub for Events
	for _, page := range pages {
		page.ends()
	}
	if got := p.ask(ann, p.question(t.Context(), "/", "")); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("the page afterwards: %d", got.StatusCode)
	}
	if views, logins := p.shared.views.kept(), p.shared.logins.kept(); views != 1 || logins != 1 {
		t.Errorf("%d views and %d logins are left, want those of bob", views, logins)
	}
	if got := p.ask(bob, p.question(t.Context(), "/autoscaler?id=fhpa/pay/west", "")); got.StatusCode != http.StatusOK {
		t.Errorf("bob: %d", got.StatusCode)
	}
}

// A server behind the hub that refuses the token, as one that trusts no hub does, ends nothing: the hub itself is asked.
func TestRefusalOfAnotherServer(t *testing.T) {
	p := host(t, 10)
	hub := p.gate.admit("token-of-ann", "ann")
	holds(hub, "shop", "east")
	hub.Refuse("/apis/members.fleetscale.io/v1alpha1/members", http.StatusUnauthorized)
	page := p.follow(p.browser(), "/", "Bearer token-of-ann")
	if got := fmt.Sprint(page.all()); got != "[fhpa/shop/east]" {
		t.Errorf("the page has %s", got)
	}
	asked := func(context.Context) (bool, error) { return p.gate.times("POST token-of-ann "+reviews) > 1, nil }
	if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, asked); err != nil {
		t.Fatalf("waiting until the hub is asked again: %v", err)
	}
	if n := p.shared.views.kept(); n != 1 {
		t.Errorf("%d views are kept, want that of the page", n)
	}
}

// What nobody has open is kept for a while, and everything for a working day at most; the hub is asked again then who somebody is.
func TestPagesEnd(t *testing.T) {
	p := host(t, 10)
	holds(p.gate.admit("token-of-ann", "ann"), "shop", "east")
	asked := func() int { return p.gate.times("POST token-of-ann " + reviews) }
	for range 3 {
		p.get("/", "token-of-ann")
	}
	if n := asked(); n != 1 {
		t.Errorf("the hub was asked %d times who ann is, want once", n)
	}
	p.pass(idle)
	p.get("/", "token-of-ann")
	if n := asked(); n != 2 {
		t.Errorf("after a while the hub was asked %d times, want 2", n)
	}
	page := p.follow(p.browser(), "/", "Bearer token-of-ann")
	page.all()
	p.pass(idle)
	p.shared.views.sweep()
	if n := p.shared.views.kept(); n != 1 {
		t.Errorf("%d views are kept, want that of the open page", n)
	}
	p.pass(life)
	p.shared.views.sweep()
	page.ends()
	from := p.browser()
	p.logIn(from, "token-of-ann", "")
	if got := p.ask(from, p.question(t.Context(), "/", "")); got.StatusCode != http.StatusOK {
		t.Errorf("after a login: %d", got.StatusCode)
	}
	p.pass(idle)
	if got := p.ask(from, p.question(t.Context(), "/", "")); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("after a login that nobody has used: %d", got.StatusCode)
	}
}

// One reader has a few pages at most, and all together as many as there is room for.
func TestPagesAreBounded(t *testing.T) {
	p := host(t, mostOfReader+1)
	for _, name := range []string{"ann", "bob", "cid"} {
		p.gate.admit("token-of-"+name, name)
	}
	for i := range mostOfReader {
		if s := p.follow(p.browser(), fmt.Sprintf("/namespaces/n%d/", i), "Bearer token-of-ann"); s.code != http.StatusOK {
			t.Fatalf("page %d: %d", i, s.code)
		}
	}
	if got := p.get("/", "token-of-ann"); got.StatusCode != http.StatusTooManyRequests || !strings.Contains(got.body, "Close some.") {
		t.Errorf("one more of ann: %d %s", got.StatusCode, got.body)
	}
	if s := p.follow(p.browser(), "/", "Bearer token-of-bob"); s.code != http.StatusOK {
		t.Fatalf("bob: %d", s.code)
	}
	if got := p.get("/", "token-of-cid"); got.StatusCode != http.StatusServiceUnavailable || !strings.Contains(got.body, "Try again") {
		t.Errorf("cid: %d %s", got.StatusCode, got.body)
	}
}

// journal keeps what is logged.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *journal) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(text)
}

// However much is logged, no token is, nor what a browser has in its place.
func TestTokensAreNotLogged(t *testing.T) {
	t.Cleanup(klog.CaptureState().Restore) // after the page has ended, which logs until then
	logged := &journal{}
	var fs flag.FlagSet
	klog.InitFlags(&fs)
	for name, value := range map[string]string{"v": "10", "logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := fs.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	klog.SetOutput(logged)
	p := host(t, 10)
	holds(p.gate.admit("token-of-ann", "ann"), "shop", "east")
	from := p.browser()
	c := p.logIn(from, "token-of-ann", "").Cookies()[0]
	p.follow(from, "/", "").all()
	p.get("/", "token-of-eve")
	p.gate.revoke("token-of-ann")
	p.get("/autoscaler?id=fhpa/shop/east", "token-of-ann")
	p.page.Close()
	klog.Flush()
	logged.mu.Lock()
	defer logged.mu.Unlock()
	text := logged.text.String()
	if !strings.Contains(text, "selfsubjectreviews") {
		t.Error("nothing is logged of what the hub is asked: does this test see what is?")
	}
	for _, hidden := range []string{"token-of", c.Value} {
		if at := strings.Index(text, hidden); at >= 0 {
			t.Errorf("it is logged: %s", text[max(0, at-200):min(len(text), at+100)])
		}
	}
}

// Tokens are sent over TLS only, to a server that was verified.
func TestHubThatCannotBeTrusted(t *testing.T) {
	for name, tc := range map[string]struct {
		hub  rest.Config
		fine bool
	}{
		"verified":     {rest.Config{Host: "https://hub"}, true},
		"without TLS":  {rest.Config{Host: "http://hub"}, false},
		"not verified": {rest.Config{Host: "https://hub", TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, false},
		"nowhere":      {rest.Config{Host: "https://a b"}, false},
	} {
		if _, err := NewShared(t.Context(), &tc.hub, 1); (err == nil) != tc.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
}
