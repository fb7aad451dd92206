// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

type object = map[string]any

// server is an API server that keeps whatever it is sent, by its path, and lets everybody do everything who has a token of it.
type server struct {
	t       testing.TB
	http    *httptest.Server
	latency time.Duration
	// meets, if it is set, may answer instead; true: it has.
	meets func(w http.ResponseWriter, r *http.Request) bool

	mu      sync.Mutex
	objects map[string]object
	tokens  map[string]string // to the uid of their account
	asked   []string          // "VERB path", of what changes something
	number  int
}

const person = "the-token-of-the-person"

// newServer is one whose namespace kube-system has this uid, with further namespaces.
func newServer(t testing.TB, uid string, namespaces ...string) *server {
	s := &server{t: t, objects: map[string]object{}, tokens: map[string]string{person: ""}}
	s.http = httptest.NewTLSServer(s)
	t.Cleanup(s.http.Close)
	s.put("/api/v1/namespaces/kube-system", object{"metadata": object{"name": "kube-system", "uid": uid}})
	for _, name := range namespaces {
		s.put("/api/v1/namespaces/"+name, object{"metadata": object{"name": name}})
	}
	return s
}

func (s *server) authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.http.Certificate().Raw})
}

func (s *server) config() *rest.Config {
	return &rest.Config{
		Host: s.http.URL, BearerToken: person, TLSClientConfig: rest.TLSClientConfig{CAData: s.authority()},
		ContentConfig: rest.ContentConfig{ContentType: "application/json"},
	}
}

func (s *server) put(at string, o object) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keep(at, o)
}

func (s *server) keep(at string, o object) object {
	s.number++
	m, _ := o["metadata"].(object)
	if m == nil {
		m = object{}
		o["metadata"] = m
	}
	if before := s.objects[at]; before != nil {
		m["uid"] = before["metadata"].(object)["uid"]
	}
	if m["uid"] == nil {
		m["uid"] = fmt.Sprintf("uid-%d", s.number)
	}
	m["resourceVersion"] = fmt.Sprint(s.number)
	s.objects[at] = o
	if dir, name := path.Split(at); dir == "/api/v1/namespaces/" {
		root := at + "/configmaps/kube-root-ca.crt"
		s.objects[root] = object{
			"metadata": object{"namespace": name, "name": "kube-root-ca.crt"}, "data": object{"ca.crt": string(s.authority())},
		}
	}
	return o
}

func (s *server) get(at string) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[at]
}

// has are the paths of what it holds, but for what it has by itself.
func (s *server) has(parts ...string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for at := range s.objects {
		if !strings.HasSuffix(at, "kube-root-ca.crt") && slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(at, p) }) {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	return all
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	<-time.After(s.latency) // what a network takes
	if s.meets != nil && s.meets(w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.admitted(r) {
		refuse(w, http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	if r.Method != http.MethodGet {
		s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	}
	dry := r.URL.Query().Get("dryRun") != ""
	switch r.Method {
	case http.MethodGet:
		s.serveGet(w, r)
	case http.MethodPost:
		s.servePost(w, r, body, dry)
	case http.MethodPatch:
		s.servePatch(w, r, body, dry)
	case http.MethodDelete:
		s.serveDelete(w, r, body)
	}
}

func (s *server) admitted(r *http.Request) bool {
	uid, issued := s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if !issued || uid == "" {
		return issued
	}
	for _, o := range s.objects {
		if o["metadata"].(object)["uid"] == uid {
			return true
		}
	}
	return false
}

func (s *server) serveGet(w http.ResponseWriter, r *http.Request) {
	if o := s.objects[r.URL.Path]; o != nil {
		reply(w, o)
		return
	}
	dir, name := path.Split(r.URL.Path)
	group, _, _ := strings.Cut(dir, "/namespaces/")
	kind, collection := map[string]string{
		"secrets": "Secret", "roles": "Role", "rolebindings": "RoleBinding", "events": "Event",
		"federatedhpas": "FederatedHPA", "multidimpodautoscalers": "MultidimPodAutoscaler",
	}[name]
	if !collection {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, path.Base(r.URL.Path))
		return
	}
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		s.t.Error(err)
	}
	items := []any{}
	for at, o := range s.objects {
		set := labels.Set{}
		m := o["metadata"].(object)
		if given, ok := m["labels"].(object); ok {
			for k, v := range given {
				set[k] = v.(string)
			}
		}
		if strings.HasPrefix(at, dir) && path.Base(path.Dir(at)) == name && selector.Matches(set) {
			items = append(items, o)
		}
	}
	reply(w, object{"kind": kind + "List", "apiVersion": strings.Trim(strings.TrimPrefix(strings.TrimPrefix(group, "/apis"), "/api"), "/"),
		"metadata": object{}, "items": items})
}

func (s *server) namespaceOf(at string) bool {
	parts := strings.Split(at, "/namespaces/")
	if len(parts) == 1 || !strings.Contains(parts[1], "/") {
		return true
	}
	name, _, _ := strings.Cut(parts[1], "/")
	return s.objects["/api/v1/namespaces/"+name] != nil
}

func (s *server) servePost(w http.ResponseWriter, r *http.Request, body []byte, dry bool) {
	o := object{}
	if err := json.Unmarshal(body, &o); err != nil {
		s.t.Error(err)
	}
	if path.Base(r.URL.Path) == "token" {
		s.serveToken(w, r, o)
		return
	}
	name, _ := o["metadata"].(object)["name"].(string)
	at := r.URL.Path + "/" + name
	switch {
	case !s.namespaceOf(at):
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, name)
	case s.objects[at] != nil:
		refuse(w, http.StatusConflict, metav1.StatusReasonAlreadyExists, name)
	case dry:
		reply(w, o)
	default:
		reply(w, s.keep(at, o))
	}
}

// serveToken issues one that expires as it is asked for.
func (s *server) serveToken(w http.ResponseWriter, r *http.Request, o object) {
	account := s.objects[path.Dir(r.URL.Path)]
	if account == nil {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, path.Base(path.Dir(r.URL.Path)))
		return
	}
	s.number++
	life := time.Duration(o["spec"].(object)["expirationSeconds"].(float64)) * time.Second
	token := jwt(time.Now(), life, s.number)
	s.tokens[token] = account["metadata"].(object)["uid"].(string)
	o["status"] = object{"token": token, "expirationTimestamp": time.Now().Add(life).UTC().Format(time.RFC3339)}
	reply(w, o)
}

func jwt(issued time.Time, life time.Duration, number int) string {
	payload := fmt.Sprintf(`{"iat":%d,"exp":%d,"jti":"%d"}`, issued.Unix(), issued.Add(life).Unix(), number)
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".c2VjcmV0"
}

func (s *server) servePatch(w http.ResponseWriter, r *http.Request, body []byte, dry bool) {
	at := r.URL.Path
	if !s.namespaceOf(at) {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, path.Base(at))
		return
	}
	o := object{}
	applied := strings.Contains(r.Header.Get("Content-Type"), "apply-patch")
	if !applied && s.objects[at] == nil {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, path.Base(at))
		return
	}
	if !applied {
		var sent metav1.PartialObjectMetadata
		if err := json.Unmarshal(body, &sent); err != nil {
			s.t.Error(err)
		}
		if m := s.objects[at]["metadata"].(object); sent.UID != "" && string(sent.UID) != m["uid"] ||
			sent.ResourceVersion != "" && sent.ResourceVersion != m["resourceVersion"] {
			refuse(w, http.StatusConflict, metav1.StatusReasonConflict, path.Base(at))
			return
		}
		before, err := json.Marshal(s.objects[at])
		if err == nil {
			body, err = jsonpatch.MergePatch(before, body)
		}
		if err != nil {
			s.t.Error(err)
		}
	}
	if err := yaml.Unmarshal(body, &o); err != nil {
		s.t.Error(err)
	}
	if !dry {
		o = s.keep(at, o)
	}
	reply(w, o)
}

func (s *server) serveDelete(w http.ResponseWriter, r *http.Request, body []byte) {
	var options metav1.DeleteOptions
	if err := json.Unmarshal(body, &options); err != nil && len(body) > 0 {
		s.t.Error(err)
	}
	o := s.objects[r.URL.Path]
	if o == nil {
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, path.Base(r.URL.Path))
		return
	}
	if p := options.Preconditions; p != nil && string(*p.UID) != o["metadata"].(object)["uid"] {
		refuse(w, http.StatusConflict, metav1.StatusReasonConflict, path.Base(r.URL.Path))
		return
	}
	delete(s.objects, r.URL.Path)
	for at := range s.objects {
		if strings.HasPrefix(at, r.URL.Path+"/") {
			delete(s.objects, at)
		}
	}
	reply(w, metav1.Status{Status: metav1.StatusSuccess})
}

func reply(w http.ResponseWriter, o any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(o)
}

func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason, name string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Reason: reason, Code: int32(code), Message: string(reason),
		Details: &metav1.StatusDetails{Name: name},
	})
}
