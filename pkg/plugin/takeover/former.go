// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"encoding/json"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/fleetscale/fleetscale/pkg/hub/apiservice"
)

// FormerAnnotation holds what stood there before the takeover, as JSON.
const FormerAnnotation = "fleetscale.io/former-apiservice"

// takeoverRecord is the annotation's content.
type takeoverRecord struct {
	// By is the Service that the takeover set. An APIService that points
	// elsewhere was rewritten since, even if it still bears the annotation:
	// `kubectl apply` of somebody else's manifest leaves it there.
	By serviceName `json:"by"`
	// Former is nil where nothing stood before.
	Former *former `json:"former"`
}

type serviceName struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// former is what a person wrote of the APIService, and nothing that the hub did.
type former struct {
	Labels      map[string]string                `json:"labels,omitempty"`
	Annotations map[string]string                `json:"annotations,omitempty"`
	Spec        apiregistrationv1.APIServiceSpec `json:"spec"`
}

// recordOf reads the annotation; nil without an error if there is none.
func recordOf(api *apiregistrationv1.APIService) (*takeoverRecord, error) {
	text, found := api.Annotations[FormerAnnotation]
	if !found {
		return nil, nil
	}
	r := &takeoverRecord{}
	if err := json.Unmarshal([]byte(text), r); err != nil {
		return nil, fmt.Errorf("reading annotation %s: %w; correct it, or remove it to discard the former APIService", FormerAnnotation, err)
	}
	return r, nil
}

// holds reports whether api is still as that takeover left it.
func (r *takeoverRecord) holds(api *apiregistrationv1.APIService) bool {
	return r != nil && apiservice.Target(api) == types.NamespacedName(r.By)
}

func (r *takeoverRecord) annotate(meta *metav1.ObjectMeta) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("writing annotation %s: %w", FormerAnnotation, err)
	}
	metav1.SetMetaDataAnnotation(meta, FormerAnnotation, string(text))
	return nil
}

// formerOf keeps what a later restore puts back. A record that no longer holds is dropped.
func formerOf(api *apiregistrationv1.APIService) *former {
	annotations := maps.Clone(api.Annotations)
	delete(annotations, FormerAnnotation)
	return &former{Labels: maps.Clone(api.Labels), Annotations: annotations, Spec: *api.Spec.DeepCopy()}
}
