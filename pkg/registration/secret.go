// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What a registration Secret is known by and may say of itself.
const (
	// MemberLabel with value "true" makes a Secret a registration.
	MemberLabel = "fleetscale.io/member"
	// NameAnnotation gives the cluster another name than the Secret's.
	NameAnnotation = "fleetscale.io/cluster-name"

	keyAnnotation     = "fleetscale.io/kubeconfig-key"
	contextAnnotation = "fleetscale.io/kubeconfig-context"

	defaultKey = "kubeconfig"
	// readSuffix makes the key of the credentials that may only read.
	readSuffix = "-read"
)

// secrets are the labelled Secrets of one namespace, each with a kubeconfig.
type secrets struct{ options Options }

func (s secrets) Name() string { return "secret" }

func (s secrets) Watch() Watch {
	return Watch{
		What:          "the registration Secrets of namespace " + s.options.Namespace,
		Resource:      corev1.SchemeGroupVersion.WithResource("secrets"),
		Namespace:     s.options.Namespace,
		LabelSelector: MemberLabel + "=true",
	}
}

func (s secrets) Read(u *unstructured.Unstructured) Object {
	o := &secret{options: s.options}
	o.unreadable = decode(u, o, reasonInvalidKubeconfig)
	return o
}

// secret is what is read of a registration Secret.
type secret struct {
	metav1.ObjectMeta `json:"metadata"`

	Data map[string][]byte `json:"data"`

	options    Options
	unreadable []Fault
}

func (s *secret) Credentials() Reference { return Reference{} }

func (s *secret) Register(Credentials) Registration {
	r := registrationOf(corev1.SchemeGroupVersion.WithKind("Secret"), &s.ObjectMeta, reasonInvalidKubeconfig)
	r.Name = cmp.Or(s.Annotations[NameAnnotation], s.Name)
	r.Faults = slices.Concat(s.unreadable, checkName(r.Name, "give another in the annotation "+NameAnnotation), r.Faults)
	data, missing := s.kubeconfig()
	if len(missing) > 0 {
		r.Faults = slices.Concat(r.Faults, missing)
		return r
	}
	e, wrong := parseKubeconfig(data, s.Annotations[contextAnnotation], s.options.Policy)
	r.Faults = slices.Concat(r.Faults, wrong)
	if !r.Refused() {
		r.Endpoint = e
	}
	return r
}

func (s *secret) kubeconfig() ([]byte, []Fault) {
	name := cmp.Or(s.Annotations[keyAnnotation], defaultKey)
	if data := s.Data[name+readSuffix]; s.options.Access == Read && len(data) > 0 {
		return data, nil
	}
	if data := s.Data[name]; len(data) > 0 {
		return data, nil
	}
	return nil, []Fault{faultf(reasonInvalidKubeconfig,
		"the Secret has no key %q; put a kubeconfig there, or name another key in the annotation %s", shorten(name), keyAnnotation)}
}
