// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Target is an object of the hub that leads to the program, and says by which
// authority the hub verifies it. One that does not exist is left out.
type Target struct {
	resource schema.GroupVersionResource
	name     string
}

// MutatingWebhooks are all of the webhooks of one configuration.
func MutatingWebhooks(configuration string) Target {
	return Target{schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"},
		configuration}
}

// ValidatingWebhooks are all of the webhooks of one configuration.
func ValidatingWebhooks(configuration string) Target {
	return Target{schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1",
		Resource: "validatingwebhookconfigurations"}, configuration}
}

// APIService is one of that name, as long as it leads to our Service: what
// leads elsewhere is somebody else's to verify.
func APIService(name string) Target {
	return Target{schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}, name}
}

func (t Target) String() string { return t.resource.Resource + "/" + t.name }

// inject sets bundle wherever object points at the service,
// and reports whether that is a change. The object is as the hub wrote it, so that
// fields which we do not know survive.
func inject(object *unstructured.Unstructured, bundle []byte, service types.NamespacedName) (changed bool, err error) {
	text := base64.StdEncoding.EncodeToString(bundle)
	if object.GetKind() == "APIService" {
		return injectAPIService(object.Object, text, service)
	}
	webhooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
	if err != nil {
		return false, err
	}
	for i := range webhooks {
		webhook, ok := webhooks[i].(map[string]any)
		if !ok {
			return false, fmt.Errorf("webhooks[%d] is no object", i)
		}
		if was, _, _ := unstructured.NestedString(webhook, "clientConfig", "caBundle"); was == text {
			continue
		}
		if err := unstructured.SetNestedField(webhook, text, "clientConfig", "caBundle"); err != nil {
			return false, err
		}
		changed = true
	}
	if !changed {
		return false, nil
	}
	return true, unstructured.SetNestedSlice(object.Object, webhooks, "webhooks")
}

func injectAPIService(object map[string]any, text string, service types.NamespacedName) (changed bool, err error) {
	namespace, _, _ := unstructured.NestedString(object, "spec", "service", "namespace")
	name, _, _ := unstructured.NestedString(object, "spec", "service", "name")
	was, _, _ := unstructured.NestedString(object, "spec", "caBundle")
	if namespace != service.Namespace || name != service.Name || was == text {
		return false, nil
	}
	unstructured.RemoveNestedField(object, "spec", "insecureSkipTLSVerify") // the hub refuses both
	return true, unstructured.SetNestedField(object, text, "spec", "caBundle")
}
