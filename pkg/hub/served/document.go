// SPDX-License-Identifier: Apache-2.0

package served

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

const (
	notServed = "not served" // in place of the URL of a document
	advice    = "apply deploy/crds, and do so again after each upgrade of Karmada, which brings back kinds of its own"
	mostNamed = 5 // fields in a message
)

var groupVersion = v1alpha1.SchemeGroupVersion

// kind is one that we need, with its Go type: the fields that we know of.
type kind struct {
	name string
	of   reflect.Type
}

func kinds() []kind {
	return []kind{
		{v1alpha1.FederatedHPAKind, reflect.TypeFor[v1alpha1.FederatedHPA]()},
		{v1alpha1.CronFederatedHPAKind, reflect.TypeFor[v1alpha1.CronFederatedHPA]()},
		{v1alpha1.MultidimPodAutoscalerKind, reflect.TypeFor[v1alpha1.MultidimPodAutoscaler]()},
	}
}

// parse returns the schemas of an OpenAPI v3 document by the kinds they are for.
func parse(text []byte) (map[schema.GroupVersionKind]*spec.Schema, error) {
	document := spec3.OpenAPI{}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("reading its OpenAPI document: %w", err)
	}
	found := map[schema.GroupVersionKind]*spec.Schema{}
	if document.Components == nil {
		return found, nil
	}
	for name, s := range document.Components.Schemas {
		var isFor []metav1.GroupVersionKind
		if err := s.Extensions.GetObject("x-kubernetes-group-version-kind", &isFor); err != nil {
			return nil, fmt.Errorf("reading for which kind schema %s is: %w", name, err)
		}
		for _, gvk := range isFor {
			found[schema.GroupVersionKind(gvk)] = s
		}
	}
	return found, nil
}

// faultsOf has an entry for each kind that is not ours.
func faultsOf(schemas map[schema.GroupVersionKind]*spec.Schema) map[string]error {
	faults := map[string]error{}
	for _, k := range kinds() {
		if err := k.fault(schemas[groupVersion.WithKind(k.name)]); err != nil {
			faults[k.name] = err
		}
	}
	return faults
}

// asOne returns nil if there are none.
func asOne(faults map[string]error) error {
	var texts []string
	for _, k := range kinds() {
		if err := faults[k.name]; err != nil {
			texts = append(texts, err.Error())
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return errors.New(strings.Join(append(texts, advice), "; "))
}

func (k kind) fault(served *spec.Schema) error {
	if served == nil {
		return fmt.Errorf("the hub does not serve %s of %s", k.name, groupVersion)
	}
	lost := lost(k.of, served, "")
	if len(lost) == 0 {
		return nil
	}
	more := ""
	if extra := len(lost) - mostNamed; extra > 0 {
		lost, more = lost[:mostNamed], fmt.Sprintf(" and %d more", extra)
	}
	return fmt.Errorf("the hub drops fields of %s: %s%s", k.name, strings.Join(lost, ", "), more)
}
