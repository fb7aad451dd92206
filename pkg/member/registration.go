// SPDX-License-Identifier: Apache-2.0

package member

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// source is a kind of registration. The lesser one comes first when two
// registrations lead to one cluster.
type source int

const (
	fromSecret source = iota
	fromKarmada
)

func (s source) String() string {
	if s == fromSecret {
		return "secret"
	}
	return "karmada"
}

// invalid is the reason for an object of the source that leads nowhere.
func (s source) invalid() fleet.Reason {
	if s == fromSecret {
		return ReasonInvalidKubeconfig
	}
	return ReasonInvalidCluster
}

// key names a registration object: a Secret of the one namespace, or a Karmada Cluster.
type key struct {
	source source
	object string
}

func (k key) compare(other key) int {
	if k.source != other.source {
		return int(k.source) - int(other.source)
	}
	return strings.Compare(k.object, other.object)
}

// isSync is true for the sign that all first objects of a source have been handed over.
func (k key) isSync() bool { return k.object == "" }

// fallbackName is what the registration is listed as when it has no name of its own.
func (k key) fallbackName() string { return k.source.String() + "." + k.object }

// registration is what an object says of a cluster.
type registration struct {
	key      key
	ref      corev1.ObjectReference
	name     string
	labels   map[string]string
	topology Topology
	// declaredID is what the source believes to be the uid of kube-system. It
	// counts only for a cluster that cannot be asked, and only against itself.
	declaredID types.UID
	endpoint   endpoint
	// faults refuse the registration; then the endpoint is empty.
	faults []fault
	// awaiting, unless empty, says what has to be read before the endpoint is known.
	awaiting string
}

// fault is one thing that is wrong with a registration, and how to mend it.
type fault struct {
	reason  fleet.Reason
	message string
}

func faultf(reason fleet.Reason, format string, args ...any) fault {
	return fault{reason: reason, message: fmt.Sprintf(format, args...)}
}

func silencef(reason fleet.Reason, format string, args ...any) *fleet.Silence {
	return &fleet.Silence{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

func (r registration) refused() bool { return len(r.faults) > 0 }

// asksSame is true when nothing differs that concerns the connection.
func (r registration) asksSame(other registration) bool {
	return r.awaiting == other.awaiting && slices.Equal(r.faults, other.faults) && reflect.DeepEqual(r.endpoint, other.endpoint)
}

// refusal joins all faults. The first one gives the reason.
func (r registration) refusal() *fleet.Silence {
	messages := make([]string, 0, len(r.faults))
	for i, f := range r.faults {
		if i > 0 && f.reason != r.faults[0].reason {
			f.message = string(f.reason) + ": " + f.message
		}
		messages = append(messages, f.message)
	}
	return &fleet.Silence{Reason: r.faults[0].reason, Detail: strings.Join(messages, "; ")}
}

// nameless is true when the name asked for is none.
func (r registration) nameless() bool {
	return slices.ContainsFunc(r.faults, func(f fault) bool { return f.reason == ReasonInvalidName })
}

// withdrawn is true when the registration itself says that the hub cannot ask the cluster.
func (r registration) withdrawn() bool {
	return slices.ContainsFunc(r.faults, func(f fault) bool { return f.reason == ReasonPullMode })
}

// describe names the object as people know it.
func (r registration) describe() string {
	if r.ref.Namespace == "" {
		return r.ref.Kind + " " + r.ref.Name
	}
	return r.ref.Kind + " " + r.ref.Namespace + "/" + r.ref.Name
}

// checkName accepts what can be a label value, a DNS name's part and a metric's
// label alike.
func checkName(name, mend string) []fault {
	if len(validation.IsDNS1123Label(name)) == 0 {
		return nil
	}
	return []fault{faultf(ReasonInvalidName,
		"%q cannot name a cluster: a name has at most %d characters, lower-case letters, digits and '-', and no dots; %s",
		shorten(name), validation.DNS1123LabelMaxLength, mend)}
}

// shorten keeps text of others within bounds.
func shorten(s string) string {
	const most = 80
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

func sortedRegistrations(regs map[key]registration) []registration {
	sorted := make([]registration, 0, len(regs))
	for _, r := range regs {
		sorted = append(sorted, r)
	}
	slices.SortFunc(sorted, func(a, b registration) int { return a.key.compare(b.key) })
	return sorted
}
