// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"unique"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetscale/fleetscale/pkg/compact"
	"github.com/fleetscale/fleetscale/pkg/fit"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// template is what Pods have in common, as a rule those of one Pod template.
type template struct {
	requests replicas.Requests
	sizes    sizes
	room     fit.Pod // but for its name, its node, and what it waits for
}

// sharedTemplate is a template, as the mirror counts it.
type sharedTemplate struct{ unique.Handle[template] }

// uniqueBytes is about what package unique takes to find a value.
const uniqueBytes = 128

// Bytes is what it takes, however many Pods have it: by itself, and its labels.
func (s sharedTemplate) Bytes() int64 { return compact.Bytes(s.Value()) + 2*uniqueBytes }

// templateOf is the same for all Pods that have the same. Room is the Pod's.
func templateOf(p *corev1.Pod, room fit.Pod) unique.Handle[template] {
	room.Labels.Name, room.Node, room.Terminating, room.Waiting = "", unique.Handle[string]{}, false, nil
	return unique.Make(template{requests: *replicas.RequestsOf(&p.Spec), sizes: sizesOf(p), room: room})
}
