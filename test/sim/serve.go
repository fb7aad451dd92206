// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Groups of metrics.
const (
	metricsGroup  = "metrics.k8s.io"
	customGroup   = "custom.metrics.k8s.io"
	externalGroup = "external.metrics.k8s.io"
)

// ServeHTTP implements http.Handler: all that the API server is asked.
func (m *Member) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info, err := m.paths.NewRequestInfo(r)
	if err != nil {
		refuse(w, r, apierrors.NewBadRequest(err.Error()))
		return
	}
	m.tally.count(info)
	m.onRequest.tell(info)
	if !m.conduct.meet(w, r) {
		return
	}
	_, acceptable := formatOf(r.Header.Get("Accept"))
	if !acceptable && m.delegates.of(info.APIGroup) == nil { // another server may have tables
		refuse(w, r, apierrors.NewGenericServerResponse(http.StatusNotAcceptable, info.Verb, schema.GroupResource{}, "", "", 0, false))
		return
	}
	switch {
	case r.URL.Path == "/healthz" || r.URL.Path == "/livez" || r.URL.Path == "/readyz":
		_, _ = w.Write([]byte("ok"))
	case isKubelet(r.URL.Path):
		m.serveKubelet(w, r) // a metrics-server comes with credentials of its own
	case !m.authenticated(r):
		refuse(w, r, apierrors.NewUnauthorized("no token, or another one"))
	case info.IsResourceRequest:
		m.serveResource(w, r, info)
	default:
		m.serveOther(w, r)
	}
}

// serveOther answers what is about no resource.
func (m *Member) serveOther(w http.ResponseWriter, r *http.Request) {
	group, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/apis/"), "/")
	if server := m.delegates.of(group); server != nil && len(versions()[group]) == 0 {
		server.ServeHTTP(w, r)
		return
	}
	m.serveDiscovery(w, r)
}

func (m *Member) serveResource(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	if server := m.delegates.of(info.APIGroup); server != nil {
		server.ServeHTTP(w, r)
		return
	}
	switch info.APIGroup {
	case metricsGroup:
		m.serveUsage(w, r, info)
	case customGroup:
		m.serveCustom(w, r, info)
	case externalGroup:
		m.serveExternal(w, r, info)
	case "authentication.k8s.io", "authorization.k8s.io":
		m.serveReview(w, r, info)
	default:
		m.serveStored(w, r, info)
	}
}

func (m *Member) serveStored(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	s, found := findServed(schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}, info.Resource)
	if !found {
		http.NotFound(w, r)
		return
	}
	switch {
	case info.Subresource == "scale" && s.scalable:
		m.serveScale(w, r, s, info)
	case info.Subresource != "" && (info.Subresource != status || !s.told):
		http.NotFound(w, r)
	case info.Verb == "get":
		m.serveGet(w, r, s, info)
	case info.Verb == "list":
		m.serveList(w, r, s, info)
	case info.Verb == "watch":
		m.serveWatch(w, r, s, info)
	case s.writable:
		m.serveWrite(w, r, s, info)
	default:
		refuse(w, r, apierrors.NewMethodNotSupported(s.gr(), info.Verb))
	}
}

func (m *Member) serveGet(w http.ResponseWriter, r *http.Request, s served, info *request.RequestInfo) {
	m.world.mu.RLock()
	e, found := m.world.shelves[s.plural].find(keyOf(info))
	m.world.mu.RUnlock()
	if !found {
		refuse(w, r, apierrors.NewNotFound(s.gr(), info.Name))
		return
	}
	f := m.formatOf(r, s.GroupVersion)
	o, gv := f.shown(e, s)
	m.reply(w, r, http.StatusOK, o, gv)
}

// shown is an object in the form that is wanted.
func (f format) shown(e entry, s served) (object, schema.GroupVersion) {
	if !f.metadata {
		return e.object(), s.GroupVersion
	}
	return metadataOf(e.object()), metav1.SchemeGroupVersion
}

func metadataOf(o object) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(),
		CreationTimestamp: o.GetCreationTimestamp(), Labels: o.GetLabels(), Annotations: o.GetAnnotations(),
		OwnerReferences: o.GetOwnerReferences(),
	}}
}

func keyOf(info *request.RequestInfo) key {
	if info.Resource == "namespaces" {
		return key{name: info.Name} // its name stands as its namespace too
	}
	return key{info.Namespace, info.Name}
}
