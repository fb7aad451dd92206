// SPDX-License-Identifier: Apache-2.0

package served

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/openapi"
	"sigs.k8s.io/yaml"
)

// object is JSON of any shape.
type object = map[string]any

// at goes down by names, and makes what is not there.
func at(o object, names ...string) object {
	for _, name := range names {
		below, found := o[name].(object)
		if !found {
			below = object{}
			o[name] = below
		}
		o = below
	}
	return o
}

// ours is the document of a hub that has deploy/crds.
func ours(t *testing.T) object {
	t.Helper()
	document := object{"openapi": "3.0.0", "info": object{"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}, "paths": object{}}
	for kind, plural := range map[string]string{"FederatedHPA": "federatedhpas", "CronFederatedHPA": "cronfederatedhpas",
		"MultidimPodAutoscaler": "multidimpodautoscalers"} {
		text, err := os.ReadFile("../../../deploy/crds/autoscaling.karmada.io_" + plural + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		crd := object{}
		if err := yaml.Unmarshal(text, &crd); err != nil {
			t.Fatal(err)
		}
		version := at(crd, "spec")["versions"].([]any)[0].(object)
		schema := at(version, "schema", "openAPIV3Schema")
		schema["x-kubernetes-group-version-kind"] = []metav1.GroupVersionKind{{Group: "autoscaling.karmada.io", Version: "v1alpha1", Kind: kind}}
		at(document, "components", "schemas")["io.karmada.autoscaling.v1alpha1."+kind] = schema
	}
	return document
}

// karmadas is the document of a hub that has Karmada's kinds in the place of two of
// ours, as an API server writes it, without its paths, its texts and what bounds values.
func karmadas(t *testing.T) object {
	t.Helper()
	text, err := os.ReadFile("testdata/karmada.json")
	if err != nil {
		t.Fatal(err)
	}
	document := object{}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	const multidim = "MultidimPodAutoscaler"
	at(document, "components", "schemas")["io.karmada.autoscaling.v1alpha1."+multidim] = schemaOf(ours(t), multidim)
	return document
}

// schemaOf is the schema of a kind inside a document.
func schemaOf(document object, kind string) object {
	return at(document, "components", "schemas", "io.karmada.autoscaling.v1alpha1."+kind)
}

// hub answers as an API server does for one document.
type hub struct {
	mu      sync.Mutex
	text    []byte // nil: the group is not served
	version int    // of text
	silent  bool
	reads   int // of the document
	checks  int
}

func (h *hub) serve(t *testing.T, document object) {
	t.Helper()
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text, h.version = text, h.version+1
}

func (h *hub) asked() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.checks
}

var errSilent = errors.New("connection refused")

func (h *hub) PathsWithContext(context.Context) (map[string]openapi.GroupVersionWithContext, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.checks++
	if h.silent {
		return nil, errSilent
	}
	if h.text == nil {
		return nil, nil
	}
	return map[string]openapi.GroupVersionWithContext{"apis/autoscaling.karmada.io/v1alpha1": h}, nil
}

func (h *hub) SchemaWithContext(context.Context, string) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reads++
	return h.text, nil
}

func (h *hub) ServerRelativeURL() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprintf("/openapi/v3/apis/autoscaling.karmada.io/v1alpha1?hash=%d", h.version)
}
