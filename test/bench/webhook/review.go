// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// review is what the hub asks of a webhook about a write: first to complete it,
// then to judge it.
type review struct {
	write

	validate bool
	path     string
	body     []byte
}

// reviews returns those about a period of writes.
func reviews() ([]review, error) {
	var all []review
	for number := range period {
		for _, validate := range []bool{false, true} {
			r := review{write: writes(number), validate: validate}
			kind := strings.TrimSuffix(r.resource, "s")
			r.path = map[bool]string{false: "/mutate-", true: "/validate-"}[validate] + kind
			var err error
			if r.body, err = json.Marshal(r.asked()); err != nil {
				return nil, fmt.Errorf("writing an AdmissionReview: %w", err)
			}
			all = append(all, r)
		}
	}
	return all, nil
}

func (r review) asked() admissionv1.AdmissionReview {
	const namespace, name = "default", "new"
	gvr := metav1.GroupVersionResource{Group: "autoscaling.karmada.io", Version: "v1alpha1", Resource: r.resource}
	gvk := metav1.GroupVersionKind{Group: gvr.Group, Version: gvr.Version,
		Kind: map[string]string{federated: "FederatedHPA", cron: "CronFederatedHPA"}[r.resource]}
	request := &admissionv1.AdmissionRequest{
		UID:  types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", r.number)),
		Kind: gvk, RequestKind: &gvk, Resource: gvr, RequestResource: &gvr, Namespace: namespace, Name: name, Operation: admissionv1.Create,
		UserInfo: authenticationv1.UserInfo{Username: "bench", Groups: []string{"system:masters", "system:authenticated"}},
		Object:   managed(r.object(namespace, name, "")),
		DryRun:   new(true),
	}
	if r.update {
		before := r.write
		before.number, before.faulty = r.number+1, false
		request.Name, request.Operation = stored, admissionv1.Update
		request.OldObject = managed(before.object(namespace, name, ""))
	}
	review := admissionv1.AdmissionReview{Request: request}
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	return review
}

// managed is an object as the hub passes it on: with a record of whose each field is.
func managed(object []byte) runtime.RawExtension {
	const record = `"metadata":{"uid":"00000000-0000-0000-0000-000000000000","generation":1,"creationTimestamp":"2026-01-01T00:00:00Z","managedFields":[` +
		`{"apiVersion":"autoscaling.karmada.io/v1alpha1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:` + label +
		`":{}}},` +
		`"f:spec":{".":{},"f:behavior":{".":{},"f:scaleDown":{".":{},"f:policies":{},"f:stabilizationWindowSeconds":{}}},"f:maxReplicas":{},"f:metrics":{},` +
		`"f:scaleTargetRef":{".":{},"f:apiVersion":{},"f:kind":{},"f:name":{}}}},"manager":"bench","operation":"Update","time":"2026-01-01T00:00:00Z"}],`
	return runtime.RawExtension{Raw: bytes.Replace(object, []byte(`"metadata":{`), []byte(record), 1)}
}

// allowed returns what is wrong with the answer of a webhook that checks nothing.
func (r review) allowed(code int, body []byte) error {
	if code != http.StatusOK {
		return fmt.Errorf("%s to %s: %d: %s", r, r.path, code, body)
	}
	return r.holds(body, `"allowed":true`)
}

// judged returns what is wrong with the answer of ours: a FederatedHPA is completed,
// and what is faulty is refused when it is judged.
func (r review) judged(code int, body []byte) error {
	if r.validate && r.faulty {
		return cmp.Or(r.holds(body, `"allowed":false`), r.holds(body, r.field()))
	}
	err := r.allowed(code, body)
	if err == nil && !r.validate && r.resource == federated {
		return r.holds(body, `"patch":"`)
	}
	return err
}
