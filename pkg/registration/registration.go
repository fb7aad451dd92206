// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// Why a registration is refused. The same word stands in the member's state, logs, Events and metrics.
const (
	// reasonInvalidName: the registration's name cannot be a label value without dots.
	reasonInvalidName fleet.Reason = "InvalidName"
	// reasonInvalidKubeconfig: the Secret holds no usable kubeconfig.
	reasonInvalidKubeconfig fleet.Reason = "InvalidKubeconfig"
	// reasonInvalidCluster: an object that is no kubeconfig, such as a Karmada Cluster, names no usable address, or cannot be read.
	reasonInvalidCluster fleet.Reason = "InvalidCluster"
	// reasonInvalidTopology: an annotation that says where the cluster runs is too long or not printable.
	reasonInvalidTopology fleet.Reason = "InvalidTopology"
	// ReasonMissingCredentials: the Secret that the registration refers to is not there, not readable or not complete.
	ReasonMissingCredentials fleet.Reason = "MissingCredentials"
	// reasonPullMode: a Karmada Cluster in mode Pull that says neither where its API server is nor how to be let in.
	reasonPullMode fleet.Reason = "PullMode"
	// reasonSkipReconcile: a cluster Secret of Argo CD that Argo CD is told to ignore.
	reasonSkipReconcile fleet.Reason = "SkipReconcile"

	// reasonExecNotAllowed: the kubeconfig would run a command in our container.
	reasonExecNotAllowed fleet.Reason = "ExecNotAllowed"
	// reasonAuthProviderNotAllowed: the kubeconfig names an auth provider.
	reasonAuthProviderNotAllowed fleet.Reason = "AuthProviderNotAllowed"
	// reasonFileNotAllowed: the kubeconfig would read files of our container.
	reasonFileNotAllowed fleet.Reason = "FileNotAllowed"
	// reasonInsecureNotAllowed: the member's identity would not be verified.
	reasonInsecureNotAllowed fleet.Reason = "InsecureNotAllowed"
)

// SameAsAnnotation on a registration, whatever its kind, names the cluster that it registers too: it yields to the registration
// that is listed so.
const SameAsAnnotation = "fleetscale.io/same-as"

// Registration is what an object says of a cluster.
type Registration struct {
	// Ref is the object.
	Ref corev1.ObjectReference
	// Name is the one asked for; see [Names].
	Name     string
	Labels   map[string]string
	Topology Topology
	Prices   Prices
	// Headroom is how many replicas of each workload the cluster adds nodes for.
	Headroom int32
	Creation Creation
	// Taints are those that count, of the object itself and as which its annotations act. They are shared: do not write to them.
	Taints []corev1.Taint
	// SameAs is the name of the cluster that this one is, and to which it yields; empty: it does not say.
	SameAs string
	// Endpoint is usable unless the registration is refused or awaits something.
	Endpoint Endpoint
	// Invalid is the reason for an endpoint that turns out to lead nowhere.
	Invalid fleet.Reason
	// Faults refuse the registration.
	Faults []Fault
	// Warnings do not: what they name is ignored, and the rest of the registration is used.
	Warnings []Fault
	// Awaiting, unless empty, says what has to be read before the endpoint is known.
	Awaiting string
}

// Fault is one thing that is wrong with a registration, and how to fix it.
type Fault struct {
	Reason  fleet.Reason
	Message string
}

func faultf(reason fleet.Reason, format string, args ...any) Fault {
	return Fault{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// registrationOf returns what the metadata of any object say.
func registrationOf(kind schema.GroupVersionKind, object *metav1.ObjectMeta, invalid fleet.Reason) Registration {
	topology, faults := topologyOf(object)
	prices, warnings := pricesOf(object)
	headroom, unread := headroomOf(object)
	creation, ignored := creationOf(object)
	tainted, wrong := annotatedTaints(object)
	version, kindName := kind.ToAPIVersionAndKind()
	return Registration{
		Ref: corev1.ObjectReference{
			APIVersion: version, Kind: kindName, Namespace: object.Namespace, Name: object.Name, UID: object.UID,
		},
		Name: object.Name, SameAs: object.Annotations[SameAsAnnotation],
		Labels: object.Labels, Topology: topology, Prices: prices, Headroom: headroom, Creation: creation, Taints: tainted,
		Invalid: invalid, Faults: faults, Warnings: slices.Concat(warnings, unread, ignored, wrong),
	}
}

// by has the endpoint to which credentials lead, unless it is refused without them, or they are awaited.
func (r Registration) by(creds Credentials, endpoint func(Credentials) (Endpoint, []Fault)) Registration {
	switch {
	case r.Refused():
	case creds.Awaiting != "":
		r.Awaiting = creds.Awaiting
	default:
		r.Endpoint, r.Faults = endpoint(creds)
	}
	return r
}

// Refused is true when the cluster must not be asked.
func (r Registration) Refused() bool { return len(r.Faults) > 0 }

// AsksSame is true when nothing differs that concerns the connection.
func (r Registration) AsksSame(other Registration) bool {
	return r.Awaiting == other.Awaiting && slices.Equal(r.Faults, other.Faults) && reflect.DeepEqual(r.Endpoint, other.Endpoint)
}

// Refusal joins all faults of a refused registration. The first one gives the reason.
func (r Registration) Refusal() *fleet.Silence {
	messages := make([]string, 0, len(r.Faults))
	for i, f := range r.Faults {
		if i > 0 && f.Reason != r.Faults[0].Reason {
			f.Message = string(f.Reason) + ": " + f.Message
		}
		messages = append(messages, f.Message)
	}
	return &fleet.Silence{Reason: r.Faults[0].Reason, Detail: strings.Join(messages, "; ")}
}

// Withdrawn is true when the registration itself says that the hub cannot, or is not to, ask the cluster.
func (r Registration) Withdrawn() bool { return r.has(reasonPullMode) || r.has(reasonSkipReconcile) }

func (r Registration) has(reason fleet.Reason) bool {
	return slices.ContainsFunc(r.Faults, func(f Fault) bool { return f.Reason == reason })
}

// String names the object as people know it.
func (r Registration) String() string {
	if r.Ref.Namespace == "" {
		return r.Ref.Kind + " " + r.Ref.Name
	}
	return r.Ref.Kind + " " + r.Ref.Namespace + "/" + r.Ref.Name
}

// shorten keeps text of others within bounds.
func shorten(s string) string {
	const most = 80
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
