// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fleetscale/fleetscale/pkg/plugin/pages"
)

const (
	// cookie is what a browser has for a login; by its prefix no browser sends it without TLS, or to another host.
	cookie = "__Host-fleetscale-dashboard"
	// mostForm bounds a form, in bytes.
	mostForm = 2 * mostToken
	// formTimeout bounds how long a browser may take to send one.
	formTimeout = 10 * time.Second
	// withinNamespace is where a page is of who may list in one namespace only.
	withinNamespace = "/namespaces/"
	challenge       = `Bearer realm="fleetscale"`
	// howToEnter is for those who have sent no token.
	howToEnter = "Log in: open the page in a browser and give it a token of kubectl create token, or send Authorization: Bearer TOKEN."
)

var (
	errAnonymous = errors.New("no token was sent")
	errNamespace = errors.New("that is no name of a namespace")
)

// ServeHTTP answers readers, and nobody else.
func (s *Shared) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
	w.Header().Set("Content-Security-Policy", strings.Replace(policy, "form-action 'none'", "form-action 'self'", 1))
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience)); err != nil {
		http.Error(w, "This cannot be answered in time.", http.StatusInternalServerError)
		return
	}
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/login":
		http.NewCrossOriginProtection().Handler(http.HandlerFunc(s.logIn)).ServeHTTP(w, r)
	case r.Method == http.MethodPost && r.URL.Path == "/logout":
		http.NewCrossOriginProtection().Handler(http.HandlerFunc(s.logOut)).ServeHTTP(w, r)
	case !reads(w, r):
	case r.URL.Path == "/login": // which is where a form is after an error
		http.Redirect(w, r, "/", http.StatusSeeOther)
	case r.URL.Path == "/style.css": // it is the form's, too
		http.ServeFileFS(w, r, pages.Files(), "style.css")
	default:
		s.show(w, r)
	}
}

// show answers with what a reader's token shows.
func (s *Shared) show(w http.ResponseWriter, r *http.Request) {
	namespace, path, found := place(r.URL.Path)
	if !found {
		http.NotFound(w, r)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	c, leave, err := s.credential(r, cancel)
	defer leave()
	if err != nil {
		s.refuse(w, namespace, path, err)
		return
	}
	v, err := s.enter(ctx, c, namespace)
	if err != nil {
		s.refuse(w, namespace, path, err)
		return
	}
	defer s.views.release(v)
	defer context.AfterFunc(v.ctx, cancel)()
	if path == "moment" || path == "replay" { // which may take longer than a browser may take to read
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(readTimeout + patience)) // as could be done above
	}
	v.value.site.answer(w, r.WithContext(ctx), path)
}

// place is of which namespace a page is, which is empty for all, and what of it is asked for.
func place(of string) (namespace, path string, found bool) {
	rest, within := strings.CutPrefix(of, withinNamespace)
	if !within {
		return "", strings.TrimPrefix(of, "/"), true
	}
	namespace, path, found = strings.Cut(rest, "/")
	return namespace, path, found && isNamespace(namespace)
}

func isNamespace(name string) bool { return len(validation.IsDNS1123Label(name)) == 0 }

// credential is the token of a request: the one that it has itself, as what stands before us sends it, or that of a login. A request
// of a login is ended with it. Leave follows.
func (s *Shared) credential(r *http.Request, end func()) (c secret, leave func(), err error) {
	leave = func() {}
	if header := r.Header.Get("Authorization"); header != "" {
		kind, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(kind, "Bearer") || !isToken(token) {
			return c, leave, errRefused
		}
		return secret{token: token}, leave, nil
	}
	given, err := r.Cookie(cookie)
	if err != nil {
		return c, leave, errAnonymous
	}
	of, found := s.logins.take(sha256.Sum256([]byte(given.Value)))
	if !found {
		return c, leave, errAnonymous
	}
	stop := context.AfterFunc(of.ctx, end)
	return secret{token: of.value.token, login: true}, func() { stop(); s.logins.release(of) }, nil
}

// logIn has a browser be let in by a token, of which it gets nothing back.
func (s *Shared) logIn(w http.ResponseWriter, r *http.Request) {
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(formTimeout)); err != nil {
		http.Error(w, "This cannot be read in time.", http.StatusInternalServerError)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	token, namespace := strings.TrimSpace(r.PostFormValue("token")), strings.TrimSpace(r.PostFormValue("namespace"))
	to := "/"
	if namespace != "" {
		to = withinNamespace + namespace + "/"
	}
	switch {
	case namespace != "" && !isNamespace(namespace):
		s.form(w, "", errNamespace)
		return
	case !isToken(token):
		s.form(w, namespace, errRefused)
		return
	}
	id, err := s.newLogin(token)
	if err != nil {
		s.form(w, namespace, err)
		return
	}
	http.SetCookie(w, newCookie(id))
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// newLogin keeps a token that the hub accepts, and returns by what it is found.
func (s *Shared) newLogin(token string) (id string, err error) {
	name, err := s.whose(secret{token: token})
	if err != nil {
		return "", err
	}
	id = rand.Text()
	return id, s.logins.put(s.ctx, sha256.Sum256([]byte(id)), name, func(context.Context) login { return login{token} })
}

// logOut ends a login, with all that its token shows.
func (s *Shared) logOut(w http.ResponseWriter, r *http.Request) {
	if given, err := r.Cookie(cookie); err == nil {
		if of, found := s.logins.take(sha256.Sum256([]byte(given.Value))); found {
			s.logins.release(of)
			s.forget(sha256.Sum256([]byte(of.value.token)))
		}
	}
	gone := newCookie("")
	gone.MaxAge = -1
	http.SetCookie(w, gone)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// newCookie lasts as long as the browser runs: its login ends sooner.
func newCookie(id string) *http.Cookie {
	return &http.Cookie{Name: cookie, Value: id, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode}
}

// refuse says why nothing is shown: to those who open a page without having logged in, with a form to do so.
func (s *Shared) refuse(w http.ResponseWriter, namespace, path string, err error) {
	code, text := refusal(err)
	if code == http.StatusUnauthorized && path == "" {
		s.form(w, namespace, err)
		return
	}
	if code == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", challenge)
		text = strings.TrimSpace(text + " " + howToEnter)
	}
	http.Error(w, text, code)
}

// refusal is what is said of an error. What others say in one may hold anything, and is not repeated.
func refusal(err error) (code int, text string) {
	switch {
	case errors.Is(err, errAnonymous):
		return http.StatusUnauthorized, ""
	case errors.Is(err, errRefused):
		return http.StatusUnauthorized, sentence(errRefused)
	case errors.Is(err, errNamespace):
		return http.StatusUnprocessableEntity, sentence(errNamespace)
	case errors.Is(err, errUnnamed):
		return http.StatusForbidden, sentence(errUnnamed)
	case errors.Is(err, errOfReader):
		return http.StatusTooManyRequests, sentence(errOfReader) + " Close some."
	case errors.Is(err, errFull):
		return http.StatusServiceUnavailable, sentence(errFull) + " Try again in a few minutes."
	}
	return http.StatusBadGateway, "The hub cannot be asked at present who you are."
}

func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// form asks for a token, after an error.
func (s *Shared) form(w http.ResponseWriter, namespace string, after error) {
	code, said := refusal(after)
	text, err := pages.Login(said, namespace)
	if err != nil {
		http.Error(w, said, code)
		return
	}
	if code == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", challenge)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(text) // a browser that is gone needs no answer
}
