// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

// identitiesName is the ConfigMap in which the controller-manager records who is established as which cluster.
const identitiesName = "fleetscale-identities"

// Hub is where clusters are registered, with the person's rights there.
type Hub struct {
	*cluster

	places Places
	uid    types.UID
	// secrets are the registrations, and clusters what they and the record of identities tell.
	secrets  []corev1.Secret
	clusters []registered
	// askAgain, settled and unpublished are as the constants.
	askAgain, settled, unpublished time.Duration

	mu sync.Mutex
	// claimed are the names under which clusters join just now.
	claimed map[types.UID]string
}

// claim refuses a cluster that joins under another name just now.
func (h *Hub) claim(uid types.UID, name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if other, taken := h.claimed[uid]; taken {
		return fmt.Errorf("its context leads to the same cluster as that of %s", other)
	}
	h.claimed[uid] = name
	return nil
}

// NewHub returns the hub, once it is known to be one.
func NewHub(ctx context.Context, config *rest.Config, p Places) (*Hub, error) {
	c, err := connect("of the hub", config)
	if err != nil {
		return nil, err
	}
	h := &Hub{cluster: c, places: p, askAgain: askAgain, settled: settled, unpublished: unpublished,
		claimed: map[types.UID]string{}}
	if _, err := c.typed.CoreV1().Namespaces().Get(ctx, p.Registrations, metav1.GetOptions{}); apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("the hub at %s has no namespace %q: install fleetscale there first, or name the hub's context with --hub-context",
			config.Host, p.Registrations)
	} else if err != nil {
		return nil, fmt.Errorf("asking the hub at %s: %w", config.Host, err)
	}
	if h.uid, err = c.uid(ctx); err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	return h, h.read(ctx)
}

// read sees who is registered.
func (h *Hub) read(ctx context.Context) error {
	registering := metav1.ListOptions{LabelSelector: registration.MemberLabel + "=true"}
	list, err := h.typed.CoreV1().Secrets(h.places.Registrations).List(ctx, registering)
	if err != nil {
		return fmt.Errorf("listing the registrations of the hub: %w", err)
	}
	h.secrets = list.Items
	record, err := h.typed.CoreV1().ConfigMaps(h.places.Identities).Get(ctx, identitiesName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		record = &corev1.ConfigMap{}
	case err != nil:
		return fmt.Errorf("reading which clusters the hub knows: %w", err)
	}
	h.clusters = known(h.secrets, record.Data)
	return nil
}

// recorded are the clusters of the record of identities.
func recorded(record map[string]string) []registered {
	var all []registered
	for _, uid := range slices.Sorted(maps.Keys(record)) {
		var holder struct{ Registration, Name string }
		if json.Unmarshal([]byte(record[uid]), &holder) == nil {
			all = append(all, registered{by: holder.Registration, name: holder.Name, uid: types.UID(uid)})
		}
	}
	return all
}

// known are the clusters of these registrations, and of the record of those of other sources.
func known(secrets []corev1.Secret, record map[string]string) []registered {
	held := map[string]types.UID{}
	var all []registered
	for _, r := range recorded(record) {
		if held[r.by] = r.uid; r.secretOf() == "" { // of Secrets only those count that are there
			all = append(all, r)
		}
	}
	for i := range secrets {
		s := &secrets[i]
		r := registered{by: registration.SecretSource + "/" + s.Name, name: nameOf(s)}
		// The record may still have the registration of this name that was there before.
		r.uid = cmp.Or(types.UID(s.Annotations[UIDAnnotation]), held[r.by])
		all = append(all, r)
	}
	return all
}

// nameOf is the name of the cluster that a Secret registers.
func nameOf(s *corev1.Secret) string {
	if name := s.Annotations[registration.NameAnnotation]; name != "" {
		return name
	}
	return s.Name
}

// Names are those of the clusters that Secrets register.
func (h *Hub) Names() []string {
	var names []string
	for i := range h.secrets {
		names = append(names, nameOf(&h.secrets[i]))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// All are the clusters that Secrets register, whatever they are called.
func (h *Hub) All() ([]Target, error) {
	var all []Target
	for _, name := range h.Names() {
		all = append(all, Target{Name: name})
	}
	if len(all) == 0 {
		return nil, errors.New("--all: no Secret registers a cluster")
	}
	return all, nil
}

// secret is the registration Secret of this name; nil: there is none.
func (h *Hub) secret(name string) *corev1.Secret {
	for i := range h.secrets {
		if h.secrets[i].Name == name {
			return &h.secrets[i]
		}
	}
	return nil
}

// beside is the Secret with the credential that writes; nil: there is none.
func (h *Hub) beside(ctx context.Context, name string) (*corev1.Secret, error) {
	if h.places.Writers == h.places.Registrations {
		return nil, nil
	}
	return h.get(ctx, h.places.Writers, name)
}

// get is a Secret; nil: there is none.
func (h *Hub) get(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	s, err := h.typed.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading Secret %s/%s of the hub: %w", namespace, name, err)
	}
	return s, nil
}

// seesBy is sees with the cluster that the target's context leads to; nil: it has none.
func (h *Hub) seesBy(ctx context.Context, t Target, members Connect, server string) (*cluster, sight, error) {
	var member *cluster
	if t.Context != "" {
		config, err := members(t.Context)
		if err != nil {
			return nil, sight{}, err
		}
		if member, err = connect(t.Context, config); err != nil {
			return nil, sight{}, err
		}
	}
	s, err := h.sees(ctx, t, member, server)
	return member, s, err
}

// sees is what is known of a target before anything is changed.
func (h *Hub) sees(ctx context.Context, t Target, member *cluster, server string) (sight, error) {
	s := sight{target: t, hub: h.uid, known: slices.Clone(h.clusters), server: server, given: server != ""}
	if member != nil {
		uid, err := member.uid(ctx)
		if err != nil {
			return s, err
		}
		s.uid = uid
		if !s.given {
			s.server = member.config.Host
		}
	}
	if own := s.own(); own != nil {
		if s.registered = h.secret(own.secretOf()); s.registered != nil {
			own.sameServer = s.server != "" && serverOf(s.registered.Data[kubeconfigKey]) == s.server
		}
	}
	var err error
	if s.beside, err = h.beside(ctx, s.object()); err != nil || s.registered != nil {
		return s, err
	}
	s.foreign, err = h.get(ctx, h.places.Registrations, s.object())
	return s, err
}

// put has the hub hold a Secret with what this one has: one with a uid is changed, if it is still as it was seen, and keeps others'
// labels, annotations and keys; another is created, and must not be there.
func (h *Hub) put(ctx context.Context, s *corev1.Secret, dryRun bool) (created *corev1.Secret, err error) {
	var mode []string
	if dryRun {
		mode = []string{metav1.DryRunAll}
	}
	if s.UID != "" {
		return nil, unwritten(s, h.change(ctx, s, mode))
	}
	created, err = h.typed.CoreV1().Secrets(s.Namespace).Create(ctx, s, metav1.CreateOptions{FieldManager: fieldManager, DryRun: mode})
	if err != nil {
		return nil, unwritten(s, err)
	}
	return created, nil
}

// register writes the Secrets of a cluster that joins: all of them, or none that was not there before.
func (h *Hub) register(ctx context.Context, secrets []*corev1.Secret) error {
	var created []*corev1.Secret
	err := h.each(ctx, secrets, func(ctx context.Context, s *corev1.Secret) error {
		one, err := h.put(ctx, s, false)
		if one != nil {
			created = append(created, one)
		}
		return err
	})
	if err == nil || len(created) == 0 {
		return err
	}
	return errors.Join(err, h.each(context.WithoutCancel(ctx), created, h.take))
}

// change is put of a Secret that was seen; one that is no longer there stays away.
func (h *Hub) change(ctx context.Context, s *corev1.Secret, dryRun []string) error {
	patch, err := json.Marshal(map[string]any{"metadata": additions(s), "data": s.Data})
	if err != nil {
		return err
	}
	_, err = h.typed.CoreV1().Secrets(s.Namespace).Patch(ctx, s.Name, types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: fieldManager, DryRun: dryRun})
	return err
}

// additions are the labels and annotations that a Secret has. A patch without any must not name them: null takes all away.
func additions(s *corev1.Secret) map[string]any {
	added := map[string]any{}
	if len(s.Labels) > 0 {
		added["labels"] = s.Labels
	}
	if len(s.Annotations) > 0 {
		added["annotations"] = s.Annotations
	}
	if s.UID != "" {
		added["uid"] = s.UID // it is changed only if it is still this one
	}
	if s.ResourceVersion != "" {
		added["resourceVersion"] = s.ResourceVersion // and as it was seen
	}
	return added
}

func unwritten(s *corev1.Secret, err error) error {
	if err == nil {
		return nil
	}
	if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) {
		return fmt.Errorf(
			"the Secret %s/%s of the hub was made or changed by somebody else meanwhile: see that nobody else registers the cluster, "+
				"and run this again", s.Namespace, s.Name)
	}
	return fmt.Errorf("writing Secret %s/%s on the hub: %s", s.Namespace, s.Name, word(err))
}

// annotate sets an annotation of a registration, or takes it away.
func (h *Hub) annotate(ctx context.Context, s *corev1.Secret, key string, value *string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": s.UID, "annotations": map[string]*string{key: value}}})
	if err != nil {
		return err
	}
	_, err = h.typed.CoreV1().Secrets(s.Namespace).Patch(ctx, s.Name, types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: fieldManager})
	if err != nil {
		return fmt.Errorf("annotating Secret %s/%s on the hub: %s", s.Namespace, s.Name, word(err))
	}
	return nil
}

// take deletes a Secret, if it is still the one that was seen.
func (h *Hub) take(ctx context.Context, s *corev1.Secret) error {
	same := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(s.UID))}
	err := h.typed.CoreV1().Secrets(s.Namespace).Delete(ctx, s.Name, same)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting Secret %s/%s on the hub: %w", s.Namespace, s.Name, err)
	}
	return nil
}
