// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"runtime"
	"slices"
	"sync"
	"weak"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// template is what Pods have in common, as a rule those of one Pod template. It
// is not written to.
type template struct {
	namespace string
	owner     Owner
	requests  *replicas.Requests
	labels    labelSet
}

// Owner is the controller of a Pod; the zero value: it has none.
type Owner struct {
	UID  types.UID
	Kind string
	Name string
}

func ownerOf(p *corev1.Pod) Owner {
	c := metav1.GetControllerOfNoCopy(p)
	if c == nil {
		return Owner{}
	}
	return Owner{UID: c.UID, Kind: c.Kind, Name: c.Name}
}

func templateOf(p *corev1.Pod) *template {
	return &template{
		namespace: p.Namespace,
		owner:     ownerOf(p),
		requests:  replicas.RequestsOf(&p.Spec),
		labels:    labelSetOf(p.Labels, p.Name),
	}
}

// digest tells templates apart.
func (t *template) digest() [sha256.Size]byte {
	b := make([]byte, 0, 1024)
	b = appendTexts(b, t.namespace, string(t.owner.UID), t.owner.Kind, t.owner.Name)
	b = binary.AppendUvarint(b, uint64(len(t.requests.Containers)))
	for _, c := range t.requests.Containers {
		b = appendAmounts(appendTexts(b, c.Name), c.Milli)
	}
	if t.requests.Pod != nil {
		b = appendAmounts(appendTexts(b, "pod"), t.requests.Pod)
	}
	b = binary.AppendUvarint(b, uint64(len(t.labels.all)))
	for _, l := range t.labels.all {
		b = append(appendTexts(b, l.key, l.value), byte(l.place))
	}
	return sha256.Sum256(b)
}

// appendTexts leads each text by its length.
func appendTexts(b []byte, texts ...string) []byte {
	for _, s := range texts {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}

func appendAmounts(b []byte, amounts map[corev1.ResourceName]int64) []byte {
	b = binary.AppendUvarint(b, uint64(len(amounts)))
	for _, name := range slices.SortedFunc(maps.Keys(amounts), cmp.Compare) {
		b = binary.AppendVarint(appendTexts(b, string(name)), amounts[name])
	}
	return b
}

// shelf holds each template once, for as long as some record has it.
type shelf struct {
	mu        sync.Mutex
	templates map[[sha256.Size]byte]weak.Pointer[template]
}

// of is the template of a Pod.
func (s *shelf) of(p *corev1.Pod) *template {
	t := templateOf(p)
	digest := t.digest()
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.templates[digest].Value(); known != nil {
		return known
	}
	if s.templates == nil {
		s.templates = map[[sha256.Size]byte]weak.Pointer[template]{}
	}
	s.templates[digest] = weak.Make(t)
	runtime.AddCleanup(t, s.forget, digest)
	return t
}

// forget takes a template away that nobody has any more, unless there is another
// of the same digest by now.
func (s *shelf) forget(digest [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.templates[digest].Value() == nil {
		delete(s.templates, digest)
	}
}
