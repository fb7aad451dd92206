// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metainternalversionscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// question is what a list or a watch is asked for.
type question struct {
	namespace string
	labels    labels.Selector
	fields    fields.Selector
	options   metainternalversion.ListOptions
}

func questionOf(r *http.Request, info *request.RequestInfo) (question, *apierrors.StatusError) {
	q := question{namespace: info.Namespace, labels: labels.Everything(), fields: fields.Everything()}
	if info.Resource == "namespaces" {
		q.namespace = ""
	}
	if err := metainternalversionscheme.ParameterCodec.DecodeParameters(r.URL.Query(), metav1.SchemeGroupVersion, &q.options); err != nil {
		return q, apierrors.NewBadRequest(err.Error())
	}
	if q.options.LabelSelector != nil {
		q.labels = q.options.LabelSelector
	}
	if q.options.FieldSelector != nil {
		q.fields = q.options.FieldSelector
	}
	if info.Name != "" { // a watch of one object
		q.fields = fields.AndSelectors(q.fields, fields.OneTermEqualSelector("metadata.name", info.Name))
	}
	return q, nil
}

func (q question) matches(e entry) bool {
	return (q.namespace == "" || q.namespace == e.key().namespace) &&
		(q.labels.Empty() || q.labels.Matches(e.labels())) && (q.fields.Empty() || q.fields.Matches(e.fields()))
}

// page is a part of a list.
type page struct {
	entries  []entry
	revision int64
	next     string // how to ask for the following page; empty if there is none
}

// pageOf reads at most as many as are asked for. Pages after the first show what is there now; a watch from the
// list's revision tells what changed meanwhile.
func (m *Member) pageOf(s served, q question) (page, *apierrors.StatusError) {
	m.world.mu.RLock()
	defer m.world.mu.RUnlock()
	p := page{revision: m.world.revision}
	var from key
	if q.options.Continue != "" {
		var err error
		if p.revision, from, err = parseContinue(q.options.Continue); err != nil {
			return p, apierrors.NewBadRequest(err.Error())
		}
	}
	for e := range m.world.shelves[s.plural].after(q.namespace, from) {
		if !q.matches(e) {
			continue
		}
		if q.options.Limit > 0 && int64(len(p.entries)) == q.options.Limit {
			p.next = continueAfter(p.revision, p.entries[len(p.entries)-1].key())
			break
		}
		p.entries = append(p.entries, e)
	}
	return p, nil
}

func continueAfter(revision int64, k key) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d/%s/%s", revision, k.namespace, k.name))
}

func parseContinue(token string) (revision int64, from key, err error) {
	text, err := base64.RawURLEncoding.DecodeString(token)
	parts := strings.Split(string(text), "/")
	if err != nil || len(parts) != 3 {
		return 0, key{}, fmt.Errorf("continue: %q is none of ours", token)
	}
	revision, err = strconv.ParseInt(parts[0], 10, 64)
	return revision, key{parts[1], parts[2]}, err
}

func (m *Member) serveList(w http.ResponseWriter, r *http.Request, s served, info *request.RequestInfo) {
	q, refused := questionOf(r, info)
	if refused != nil {
		refuse(w, r, refused)
		return
	}
	p, refused := m.pageOf(s, q)
	if refused != nil {
		refuse(w, r, refused)
		return
	}
	f := m.formatOf(r, s.GroupVersion)
	list, gv := f.list(m, s, p)
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		panic(err) // it is none of the lists above
	}
	accessor.SetResourceVersion(strconv.FormatInt(p.revision, 10))
	accessor.SetContinue(p.next)
	m.reply(w, r, http.StatusOK, list, gv)
}

// list makes the list of a page's objects, in the form that is wanted.
func (f format) list(m *Member, s served, p page) (runtime.Object, schema.GroupVersion) {
	if f.metadata {
		list := &metav1.PartialObjectMetadataList{Items: make([]metav1.PartialObjectMetadata, 0, len(p.entries))}
		for _, e := range p.entries {
			list.Items = append(list.Items, *metadataOf(e.object()))
		}
		return list, metav1.SchemeGroupVersion
	}
	list, err := m.scheme.New(s.WithKind(s.kind + "List"))
	if err != nil {
		panic(err) // each kind that is served has one
	}
	items, err := meta.GetItemsPtr(list)
	if err != nil {
		panic(err)
	}
	all := reflect.ValueOf(items).Elem()
	all.Set(reflect.MakeSlice(all.Type(), 0, len(p.entries)))
	for _, e := range p.entries {
		all.Set(reflect.Append(all, reflect.ValueOf(e.object()).Elem()))
	}
	return list, s.GroupVersion
}
