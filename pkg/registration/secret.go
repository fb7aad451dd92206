// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// What a registration Secret is known by and may say of itself.
const (
	// MemberLabel with value "true" makes a Secret a registration.
	MemberLabel = "fleetscale.io/member"
	// NameAnnotation gives the cluster another name than the Secret's.
	NameAnnotation = "fleetscale.io/cluster-name"
	// RenewAnnotation is who renews its tokens, and when: "false" leaves them to somebody else than the controller-manager; a time,
	// as of RFC 3339, has that one renew those that were issued until then at once.
	RenewAnnotation = "fleetscale.io/renew-token"

	// multiclusterRuntimeLabel is what the provider kubeconfig of multicluster-runtime knows its Secrets by, whose key is the same.
	multiclusterRuntimeLabel = "sigs.k8s.io/multicluster-runtime-kubeconfig"

	keyAnnotation     = "fleetscale.io/kubeconfig-key"
	contextAnnotation = "fleetscale.io/kubeconfig-context"

	defaultKey = "kubeconfig"

	// forReading follows the key in Secrets of an older form, which hold the credentials that read beside those that write.
	forReading = "-read"

	// reasonTwoCredentials is of a warning about one of them.
	reasonTwoCredentials fleet.Reason = "TwoCredentials"
)

// secrets are the labelled Secrets of one namespace, each with a kubeconfig.
type secrets struct {
	options     Options
	name, label string
}

func (s secrets) Name() string { return s.name }

func (s secrets) Watch() Watch {
	return Watch{
		What:          "the Secrets with the label " + s.label + " of namespace " + s.options.Namespace,
		Resource:      corev1.SchemeGroupVersion.WithResource("secrets"),
		Namespace:     s.options.Namespace,
		LabelSelector: s.label + "=true",
	}
}

func (s secrets) Read(u *unstructured.Unstructured) Object {
	o := &secret{options: s.options}
	o.unreadable = decode(u, o, reasonInvalidKubeconfig)
	_, o.holdsBoth = o.Data[o.key()+forReading]
	used := o.used()
	maps.DeleteFunc(o.Data, func(key string, _ []byte) bool { return key != used })
	return o
}

// secret is what is read of a registration Secret.
type secret struct {
	metav1.ObjectMeta `json:"metadata"`

	Data map[string][]byte `json:"data"`

	options    Options
	holdsBoth  bool // it is of the older form
	unreadable []Fault
}

// used is the key of what is needed of the Secret; empty: nothing is.
func (s *secret) used() string {
	switch {
	case s.holdsBoth && s.options.Access == Read:
		return s.key() + forReading
	case s.options.apart() && !s.holdsBoth:
		return ""
	}
	return s.key()
}

// key is that of the kubeconfig.
func (s *secret) key() string { return cmp.Or(s.Annotations[keyAnnotation], defaultKey) }

func (s *secret) Credentials() Reference {
	if !s.options.apart() {
		return Reference{}
	}
	return Reference{Namespace: s.options.WriteNamespace, Name: s.Name, By: "--write-namespace names", Keys: [2]string{s.key()}}
}

func (s *secret) Register(creds Credentials) Registration {
	r := registrationOf(corev1.SchemeGroupVersion.WithKind("Secret"), &s.ObjectMeta, reasonInvalidKubeconfig)
	r.Name = cmp.Or(s.Annotations[NameAnnotation], s.Name)
	r.Faults = slices.Concat(s.unreadable, checkName(r.Name, "give another in the annotation "+NameAnnotation), r.Faults)
	if s.options.apart() && creds.Awaiting != "" {
		r.Awaiting = creds.Awaiting
		return r
	}
	if s.holdsBoth {
		r.Warnings = append(r.Warnings, faultf(reasonTwoCredentials, "the next minor version does not read the key %[1]q any more: put that "+
			"kubeconfig under %[2]q, and the one that is there into a Secret of this name in the namespace of --write-namespace",
			shorten(s.key()+forReading), shorten(s.key())))
	}
	data, missing := s.kubeconfig(creds)
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

func (s *secret) kubeconfig(creds Credentials) ([]byte, []Fault) {
	if s.options.apart() && creds.Data == nil && !s.holdsBoth {
		return nil, []Fault{faultf(ReasonMissingCredentials, "%s does not exist: put the credentials of deploy/member-write there",
			s.Credentials())}
	}
	held, key, whose := s.Data, s.used(), "the Secret"
	if s.beside(creds) {
		held, key, whose = creds.Data, s.key(), "Secret "+s.options.WriteNamespace+"/"+s.Name
	}
	if data := held[key]; len(data) > 0 {
		return data, nil
	}
	return nil, []Fault{faultf(reasonInvalidKubeconfig,
		"%s has no key %q; put a kubeconfig there, or name another key in the annotation %s", whose, shorten(key), keyAnnotation)}
}

// beside is true when the kubeconfig is in the Secret of WriteNamespace.
func (s *secret) beside(creds Credentials) bool { return s.options.apart() && creds.Data != nil }
