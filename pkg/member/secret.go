// SPDX-License-Identifier: Apache-2.0

package member

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// What a registration Secret is known by and may say of itself.
const (
	// MemberLabel with value "true" makes a Secret a registration.
	MemberLabel = "fleetscale.io/member"

	keyAnnotation     = "fleetscale.io/kubeconfig-key"
	contextAnnotation = "fleetscale.io/kubeconfig-context"
	nameAnnotation    = "fleetscale.io/cluster-name"

	defaultKey = "kubeconfig"
	// readSuffix makes the key of the credentials that may only read.
	readSuffix = "-read"
)

// parseSecret reads a registration Secret. It is total: whatever the Secret
// holds, the result is a registration, refused with all its faults or usable.
func parseSecret(s *corev1.Secret, access Access, policy Policy) registration {
	topology, misplaced := topologyOf(&s.ObjectMeta)
	r := registration{
		key:      key{fromSecret, s.Name},
		ref:      corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: s.Namespace, Name: s.Name, UID: s.UID},
		name:     cmp.Or(s.Annotations[nameAnnotation], s.Name),
		labels:   s.Labels,
		topology: topology,
	}
	faults := slices.Concat(checkName(r.name, "give another in the annotation "+nameAnnotation), misplaced)
	data, missing := kubeconfigOf(s, access)
	if len(missing) > 0 {
		r.faults = slices.Concat(faults, missing)
		return r
	}
	e, wrong := parseKubeconfig(data, s.Annotations[contextAnnotation], policy)
	r.faults = slices.Concat(faults, wrong)
	if !r.refused() {
		r.endpoint = e
	}
	return r
}

func kubeconfigOf(s *corev1.Secret, access Access) ([]byte, []fault) {
	name := cmp.Or(s.Annotations[keyAnnotation], defaultKey)
	if data := s.Data[name+readSuffix]; access == Read && len(data) > 0 {
		return data, nil
	}
	if data := s.Data[name]; len(data) > 0 {
		return data, nil
	}
	return nil, []fault{faultf(ReasonInvalidKubeconfig,
		"the Secret has no key %q; put a kubeconfig there, or name another key in the annotation %s", shorten(name), keyAnnotation)}
}
