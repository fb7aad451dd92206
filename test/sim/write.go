// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/endpoints/request"
	"sigs.k8s.io/yaml"
)

var errChanged = errors.New("it has changed since it was read")

// serveWrite creates, changes and deletes objects that nothing acts on.
func (m *Member) serveWrite(w http.ResponseWriter, r *http.Request, s served, info *request.RequestInfo) {
	if err := buffer(r); err != nil {
		refuse(w, r, apierrors.NewBadRequest(err.Error()))
		return
	}
	m.world.mu.Lock()
	written, code, refused := m.write(r, s, info)
	if refused == nil {
		written = written.DeepCopyObject().(object) // it is stored, and others read it
	}
	m.world.mu.Unlock()
	if refused != nil {
		refuse(w, r, refused)
		return
	}
	m.reply(w, r, code, written, s.GroupVersion)
}

func (m *Member) write(r *http.Request, s served, info *request.RequestInfo) (object, int, *apierrors.StatusError) {
	e, exists := m.world.shelves[s.plural].find(keyOf(info))
	switch info.Verb {
	case "create":
		return m.create(r, s, info)
	case "patch":
		return m.patch(r, s, info, e)
	}
	if !exists {
		return nil, 0, apierrors.NewNotFound(s.gr(), info.Name)
	}
	switch info.Verb {
	case "update":
		o, refused := m.incoming(r, s, info.Namespace)
		if refused == nil {
			o, refused = m.replace(s, e, o, info.Subresource)
		}
		return o, http.StatusOK, refused
	case "delete":
		m.world.drop(s.plural, e.key())
		return e.object(), http.StatusOK, nil
	}
	return nil, 0, apierrors.NewMethodNotSupported(s.gr(), info.Verb)
}

func (m *Member) create(r *http.Request, s served, info *request.RequestInfo) (object, int, *apierrors.StatusError) {
	o, refused := m.incoming(r, s, info.Namespace)
	if refused != nil {
		return nil, 0, refused
	}
	if s.forgotten {
		return o, http.StatusCreated, nil
	}
	if _, exists := m.world.shelves[s.plural].find(key{o.GetNamespace(), o.GetName()}); exists {
		return nil, 0, apierrors.NewAlreadyExists(s.gr(), o.GetName())
	}
	m.world.keep(s.plural, o)
	return o, http.StatusCreated, nil
}

// patch merges. What is applied, and is not there yet, is created; who owns which field is not kept, so nothing that is applied
// is taken away.
func (m *Member) patch(r *http.Request, s served, info *request.RequestInfo, e entry) (object, int, *apierrors.StatusError) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		body, err = yaml.YAMLToJSON(body)
	}
	if err != nil {
		return nil, 0, apierrors.NewBadRequest(err.Error())
	}
	kind := types.PatchType(r.Header.Get("Content-Type"))
	switch {
	case kind != types.MergePatchType && kind != types.ApplyPatchType:
		return nil, 0, apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, info.Verb, s.gr(), info.Name, string(kind), 0, false)
	case e == nil && kind == types.MergePatchType:
		return nil, 0, apierrors.NewNotFound(s.gr(), info.Name)
	case e == nil:
		o, refused := m.decodeFor(body, s, info.Namespace)
		if refused != nil {
			return nil, 0, refused
		}
		o.SetName(info.Name)
		m.world.keep(s.plural, o)
		return o, http.StatusCreated, nil
	}
	o, refused := m.merged(s, e, body, kind == types.ApplyPatchType)
	if refused == nil {
		o, refused = m.replace(s, e, o, info.Subresource)
	}
	return o, http.StatusOK, refused
}

func (m *Member) merged(s served, e entry, patch []byte, applied bool) (object, *apierrors.StatusError) {
	present, err := format{media: mediaJSON}.encode(m.codecs, e.object(), s.GroupVersion)
	if err == nil {
		present, err = merge(present, patch, applied)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return m.decodeFor(present, s, e.key().namespace)
}

// replace stores the successor of an object, unless it is none, or the same. Of a kind that has /status, that alone
// changes the status, and nothing else.
func (m *Member) replace(s served, e entry, o object, subresource string) (object, *apierrors.StatusError) {
	present := e.object()
	if rv := o.GetResourceVersion(); rv != "" && rv != present.GetResourceVersion() {
		return nil, apierrors.NewConflict(s.gr(), present.GetName(), errChanged)
	}
	if subresource == status {
		next := e.object()
		field(next, "Status").Set(field(o, "Status"))
		o = next
	} else {
		succeed(s, present, o)
	}
	if !equality.Semantic.DeepEqual(o, present) {
		m.world.keep(s.plural, o)
	}
	return o, nil
}

// succeed gives an object what a write does not change.
func succeed(s served, present, o object) {
	o.SetUID(present.GetUID())
	o.SetCreationTimestamp(present.GetCreationTimestamp())
	o.SetResourceVersion(present.GetResourceVersion())
	o.SetGeneration(present.GetGeneration())
	if !s.told {
		return
	}
	field(o, "Status").Set(field(present, "Status"))
	if !equality.Semantic.DeepEqual(field(o, "Spec").Interface(), field(present, "Spec").Interface()) {
		o.SetGeneration(present.GetGeneration() + 1)
	}
}

const status = "status"

func field(o object, name string) reflect.Value { return reflect.ValueOf(o).Elem().FieldByName(name) }

// buffer reads what a request brings, so that nobody waits for a slow client.
func buffer(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err
}

func (m *Member) incoming(r *http.Request, s served, namespace string) (object, *apierrors.StatusError) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return m.decodeFor(body, s, namespace)
}

func (m *Member) decodeFor(body []byte, s served, namespace string) (object, *apierrors.StatusError) {
	decoded, refused := m.decode(body)
	if refused != nil {
		return nil, refused
	}
	o, ok := decoded.(object)
	if kinds, _, err := m.scheme.ObjectKinds(decoded); !ok || err != nil || kinds[0] != s.gvk() {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("it is no %s", s.gvk()))
	}
	decoded.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // as it is in lists
	o.SetNamespace(namespace)
	return o, nil
}

// merge does a JSON merge patch (RFC 7386). What is applied is merged too where it is in a list of things that have names.
func merge(present, patch []byte, applied bool) ([]byte, error) {
	var into, from any
	if err := errors.Join(json.Unmarshal(present, &into), json.Unmarshal(patch, &from)); err != nil {
		return nil, err
	}
	return json.Marshal(mergeValues(into, from, applied))
}

func mergeValues(into, from any, applied bool) any {
	if list, ok := from.([]any); ok && applied {
		return mergeLists(into, list)
	}
	patch, ok := from.(map[string]any)
	if !ok {
		return from
	}
	merged, ok := into.(map[string]any)
	if !ok {
		merged = map[string]any{}
	}
	for name, value := range patch {
		if value == nil {
			delete(merged, name)
			continue
		}
		merged[name] = mergeValues(merged[name], value, applied)
	}
	return merged
}

// mergeLists has what has a name take the place of what has the same; other lists are replaced.
func mergeLists(into any, from []any) any {
	merged, _ := into.([]any)
	for _, item := range from {
		name := nameOf(item)
		if name == nil {
			return from
		}
		if i := slices.IndexFunc(merged, func(there any) bool { return nameOf(there) == name }); i >= 0 {
			merged[i] = item
		} else {
			merged = append(merged, item)
		}
	}
	return merged
}

// nameOf is nil of what has none.
func nameOf(item any) any {
	fields, _ := item.(map[string]any)
	return fields["name"]
}
