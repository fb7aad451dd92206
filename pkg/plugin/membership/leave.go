// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// Leave has one cluster leave.
type Leave struct {
	// Target has no context where the cluster itself is not to be asked, as when it is gone.
	Target Target
	// DeleteSizes: the kind PodSizes and its policy are deleted too, and so all objects of it.
	DeleteSizes bool
	// Yes: the person is not asked.
	Yes bool
}

// leaving is what a cluster that leaves has on the hub.
type leaving struct {
	registered, beside *corev1.Secret
	// naming and untold are as in [Hub.naming].
	naming, untold []string
}

// Run takes the registration off the hub, and then the identities out of the cluster.
func (l Leave) Run(ctx context.Context, streams genericiooptions.IOStreams, h *Hub, members Connect) error {
	member, s, err := h.seesBy(ctx, l.Target, members, "")
	if err != nil {
		return err
	}
	if err := judgeLeaving(s); err != nil {
		return err
	}
	on := h.leaving(ctx, s)
	if on.registered == nil && on.beside == nil && member == nil {
		return unregistered(s)
	}
	fmt.Fprintln(streams.ErrOut, consequences(l, on))
	if err := Confirm(ctx, streams, l.Yes, l.Target.Name+" leaves. Continue?"); err != nil {
		return err
	}
	if err := h.takeAll(ctx, on); err != nil {
		return err
	}
	tell := newTeller(streams)
	if member == nil {
		tell.result("%s left; its identities remain in the cluster: to take them away, run `kubectl fleetscale leave %[1]s --context CONTEXT`",
			l.Target.Name)
		return nil
	}
	tell.say("%s: taking the rights away in the cluster of context %q", l.Target.Name, l.Target.Context)
	if err := member.revokeAll(ctx, l.DeleteSizes); err != nil {
		return fmt.Errorf("%s is no member any more, but not all of its identities are gone, run this again: %w", l.Target.Name, err)
	}
	tell.result("%s left", l.Target.Name)
	return nil
}

func unregistered(s sight) error {
	if own := s.own(); own != nil {
		return fmt.Errorf("%s is registered by %s, not by a Secret: delete that, or use the tool that made it", s.target.Name, own.by)
	}
	return fmt.Errorf("no Secret registers %s; `kubectl get members` lists the clusters, and where they are registered", s.target.Name)
}

func (h *Hub) leaving(ctx context.Context, s sight) leaving {
	on := leaving{registered: s.registered, beside: s.beside}
	on.naming, on.untold = h.naming(ctx, s.target.Name)
	return on
}

// mostNamed bounds the autoscalers that are told to a person.
const mostNamed = 10

// consequences is what a person should know before.
func consequences(l Leave, on leaving) string {
	t := l.Target
	lines := []string{
		t.Name + " leaves the fleet:",
		"* Nobody sees its Pods and their metrics from the hub any more. Autoscalers decide without it at once.",
		"* Its workloads stay as they are, with their replicas, and so do HorizontalPodAutoscalers that were made there.",
	}
	switch {
	case l.DeleteSizes && t.Context != "":
		lines = append(lines, "* Its PodSizes are deleted, with their kind and policy: new Pods are created as their templates say.")
	default:
		lines = append(lines, "* Its PodSizes stay in force, and so do their kind and policy. "+
			"`leave --context CONTEXT --delete-sizes` takes them away.")
	}
	if t.Context != "" {
		lines = append(lines, "* Its accounts are deleted: another hub that uses the same ones loses its tokens.")
	}
	if s := on.registered; s != nil {
		lines = append(lines, fmt.Sprintf("  To have other clusters take over before: kubectl -n %s annotate secret %s fleetscale.io/drain=true",
			s.Namespace, s.Name))
	}
	if n := len(on.naming); n > 0 {
		shown := strings.Join(on.naming[:min(n, mostNamed)], ", ")
		if n > mostNamed {
			shown += fmt.Sprintf(" and %d more", n-mostNamed)
		}
		lines = append(lines, "* These name it, or act there now: "+shown+".")
	}
	if len(on.untold) > 0 {
		lines = append(lines, "* Whether these name it is not known: "+strings.Join(on.untold, ", ")+".")
	}
	return strings.Join(lines, "\n")
}

// takeAll deletes the Secrets: the registration first, so that nobody misses the credential beside it.
func (h *Hub) takeAll(ctx context.Context, on leaving) error {
	secrets := slices.DeleteFunc([]*corev1.Secret{on.registered, on.beside}, func(s *corev1.Secret) bool { return s == nil })
	return h.each(ctx, secrets, h.take)
}

// revokeTimeout bounds the taking away of identities.
const revokeTimeout = 2 * time.Minute

// revokeAll takes away whatever join grants, in every namespace; sizes: also what PodSizes are stored and applied by.
func (c *cluster) revokeAll(ctx context.Context, sizes bool) error {
	ctx, cancel := context.WithTimeout(ctx, revokeTimeout)
	defer cancel()
	objects, err := granted()
	if err != nil {
		return err
	}
	bound, err := c.bound(ctx)
	errs := []error{err}
	for _, o := range append(bound, objects...) {
		if sizes || !ofSizes(o) {
			errs = append(errs, c.remove(ctx, o))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return c.awaitEmpty(ctx)
}

// awaitEmpty returns when the namespace of the identities is gone: before that the cluster could not join again.
func (c *cluster) awaitEmpty(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		_, err := c.typed.CoreV1().Namespaces().Get(ctx, memberNamespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	if err != nil {
		return fmt.Errorf("namespace %s of the cluster of context %q is still being deleted", memberNamespace, c.context)
	}
	return nil
}

// bound are the Roles and RoleBindings of ours in namespaces that somebody named. The hub's own, where it is a member of its own
// fleet, have other names.
func (c *cluster) bound(ctx context.Context) ([]*unstructured.Unstructured, error) {
	ofMembers := map[string]bool{reader: true, writer: true, "fleetscale-sizes": true, creator: true}
	options := metav1.ListOptions{LabelSelector: partOf + "=" + ours}
	roles, err := c.typed.RbacV1().Roles("").List(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("listing Roles in the cluster of context %q: %w", c.context, err)
	}
	bindings, err := c.typed.RbacV1().RoleBindings("").List(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("listing RoleBindings in the cluster of context %q: %w", c.context, err)
	}
	var all []*unstructured.Unstructured
	add := func(kind, namespace, name string) {
		if !ofMembers[name] || namespace == memberNamespace {
			return
		}
		o := &unstructured.Unstructured{}
		o.SetAPIVersion("rbac.authorization.k8s.io/v1")
		o.SetKind(kind)
		o.SetNamespace(namespace)
		o.SetName(name)
		all = append(all, o)
	}
	for i := range bindings.Items {
		add("RoleBinding", bindings.Items[i].Namespace, bindings.Items[i].Name)
	}
	for i := range roles.Items {
		add("Role", roles.Items[i].Namespace, roles.Items[i].Name)
	}
	return all, nil
}
