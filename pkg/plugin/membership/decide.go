// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

// UIDAnnotation of a registration Secret is the uid of the cluster's namespace kube-system, as whoever joined it saw it. It tells
// a later command whether a name and a context mean one cluster; the programs do not read it.
const UIDAnnotation = "fleetscale.io/cluster-uid"

// registered is one cluster that the hub knows of.
type registered struct {
	// by is its registration as the record of identities has it: source and object.
	by, name string
	// uid of its namespace kube-system; empty: not known.
	uid types.UID
	// sameServer is true where the Secret leads to the server that the context leads to, as far as that is known.
	sameServer bool
}

// secretOf is the object of a registration Secret; empty: another source registers it.
func (r registered) secretOf() string {
	object, _ := strings.CutPrefix(r.by, registration.SecretSource+"/")
	if object == r.by {
		return ""
	}
	return object
}

// where says what registers the cluster.
func (r registered) where() string {
	if name := r.secretOf(); name != "" {
		return fmt.Sprintf("Secret %q", name)
	}
	return r.by
}

// sight is what was seen of the hub and of a member before anything is changed.
type sight struct {
	target Target
	// uid is the member's, hub the hub's; empty: it has none, as API servers without Kubernetes' controllers.
	uid, hub types.UID
	// known are the clusters that the hub knows.
	known []registered
	// server is the address that the registration gets; given: the person gave it.
	server string
	given  bool
	// registered is the Secret that registers the cluster, and beside the one with the credential that writes; nil: there is none.
	registered, beside *corev1.Secret
	// foreign is a Secret in the place of one that would register the cluster, and that registers none.
	foreign *corev1.Secret
	// writer is true where the member has the account that writes, which may be in force though it is registered nowhere.
	writer bool
}

// own is what is registered under the name, a Secret before another source; nil: nothing.
func (s sight) own() *registered {
	var own *registered
	for i, r := range s.known {
		if s.bears(r) && (own == nil || own.secretOf() == "") {
			own = &s.known[i]
		}
	}
	return own
}

// bears reports whether something is registered under the name of the target, or by a Secret that is called so.
func (s sight) bears(r registered) bool {
	return r.name == s.target.Name || r.secretOf() == s.target.Name
}

// judgeOne refuses a name of which several Secrets say that it is theirs: who may write a Secret could otherwise have the tokens of
// another cluster written there.
func judgeOne(s sight) error {
	var secrets []string
	for _, r := range s.known {
		if name := r.secretOf(); name != "" && s.bears(r) {
			secrets = append(secrets, name)
		}
	}
	if len(secrets) < 2 {
		return nil
	}
	slices.Sort(secrets)
	return fmt.Errorf("the Secrets %s of the hub all bear the name %q: give each another annotation %s, or delete "+
		"those that are not this cluster's",
		strings.Join(secrets, ", "), s.target.Name, registration.NameAnnotation)
}

// judgeNamed refuses a Secret that is called as the target, and registers its cluster under another name.
func judgeNamed(s sight) error {
	if own := s.own(); own != nil && own.name != s.target.Name {
		return fmt.Errorf("%s registers its cluster under the name %q: give that name", own.where(), own.name)
	}
	return nil
}

// judgeRotation refuses new tokens where it is not sure whose they are.
func judgeRotation(s sight) error {
	own := s.own()
	if own == nil || own.secretOf() == "" {
		return unregistered(s)
	}
	if err := errors.Join(judgeOne(s), judgeNamed(s)); err != nil || s.target.Context == "" {
		return err
	}
	return errors.Join(judgeSame(s, own), judgeUID(s))
}

// object is the name of the Secrets that register the target, which may have been written under another one.
func (s sight) object() string {
	if own := s.own(); own != nil && own.secretOf() != "" {
		return own.secretOf()
	}
	return s.target.Name
}

// tolerated is what a person allows.
type tolerated struct{ allowLocal, hubToo bool }

// judgeJoin returns every reason for which the cluster must not join as it is asked for.
func judgeJoin(s sight, r Rights, t tolerated) error {
	errs := []error{judgeAddress(s.target.Context, s.server, s.given, t.allowLocal)}
	if s.uid == s.hub && s.hub != "" && !t.hubToo {
		errs = append(errs, fmt.Errorf("context %q leads to the hub itself: name the hub's context with --hub-context, or, if the hub is to be "+
			"a member of its own fleet, give --hub-too", s.target.Context))
	}
	errs = append(errs, judgeOne(s), judgeName(s), judgeUID(s), judgeFree(s))
	leaveFirst := fmt.Sprintf("`kubectl fleetscale leave %s --context %s` first, then join it with --read-only", s.target.Name,
		s.target.Context)
	switch {
	case !r.ReadOnly:
	case s.beside != nil:
		errs = append(errs, fmt.Errorf("%s is registered with a credential that writes: %s", s.target.Name, leaveFirst))
	case s.writer:
		errs = append(errs, fmt.Errorf("the cluster of context %q has the ServiceAccount %s/%s, whose tokens may still be in force: %s",
			s.target.Context, memberNamespace, writer, leaveFirst))
	}
	return errors.Join(errs...)
}

// judgeName refuses a name that is another cluster's.
func judgeName(s sight) error {
	for _, r := range s.known {
		switch {
		case r.secretOf() != "" || !s.bears(r):
		case r.uid == s.uid:
			return fmt.Errorf("%s is a member already, by %s", s.target.Name, r.by)
		default:
			return fmt.Errorf("the name %q is taken by another cluster, which %s registers: choose another", s.target.Name, r.by)
		}
	}
	own := s.own()
	if own == nil {
		return nil
	}
	if err := judgeSame(s, own); err != nil {
		return fmt.Errorf("the name %q is taken: %w; choose another name, or have that one leave first", s.target.Name, err)
	}
	return nil
}

// judgeForm refuses registrations that do not keep the credential that reads and the one that writes in a Secret each.
func judgeForm(p Places, registered *corev1.Secret) error {
	if p.Writers == p.Registrations {
		return fmt.Errorf("--write-namespace and --cluster-namespace are both %q, where one credential does everything: join and rotate keep "+
			"the one that writes apart; give the hub a namespace for it", p.Writers)
	}
	if registered == nil {
		return nil
	}
	for key := range registered.Data {
		if both, older := strings.CutSuffix(key, "-read"); older && registered.Data[both] != nil {
			return fmt.Errorf("the Secret %s/%s of the hub is of the older form with two credentials, under %q and %q: put the former into a "+
				"Secret of this name in namespace %s, and the latter in its place", registered.Namespace, registered.Name, both, key, p.Writers)
		}
	}
	return nil
}

// judgeFree refuses to write into Secrets that are not those of a registration.
func judgeFree(s sight) error {
	switch {
	case s.registered != nil:
		return nil
	case s.foreign != nil:
		return fmt.Errorf("the Secret %s/%s of the hub is there, and is no registration: it lacks the label %s=true; delete it, or "+
			"choose another name",
			s.foreign.Namespace, s.foreign.Name, registration.MemberLabel)
	case s.beside != nil:
		return fmt.Errorf(
			"the Secret %s/%s of the hub is there without a registration: somebody else joins a cluster as %s now, or was cut off; in "+
				"that case `kubectl fleetscale leave %[3]s` first", s.beside.Namespace, s.beside.Name, s.target.Name)
	}
	return nil
}

// judgeSame is nil if the context leads to the cluster that is registered.
func judgeSame(s sight, own *registered) error {
	switch {
	case own.uid == s.uid, own.uid == "" && own.sameServer:
		return nil
	case own.uid == "":
		return fmt.Errorf("%s does not say which cluster it registers, and its server is not that of context %q", own.where(), s.target.Context)
	}
	return fmt.Errorf("%s registers another cluster than that of context %q: the uids of kube-system are %s and %s", own.where(),
		s.target.Context, own.uid, s.uid)
}

// judgeUID refuses a cluster that is a member under another name.
func judgeUID(s sight) error {
	own := s.own()
	for i, r := range s.known {
		if r.uid == s.uid && &s.known[i] != own {
			return fmt.Errorf("the cluster of context %q is a member already, as %q (%s): a cluster has one name", s.target.Context,
				cmp.Or(r.name, r.secretOf()), r.where())
		}
	}
	return nil
}

// judgeLeaving refuses to take away the identities of another cluster, or of one that stays a member.
func judgeLeaving(s sight) error {
	own := s.own()
	switch {
	case own == nil && s.target.Context == "":
		return nil
	case own == nil:
		return judgeUID(s)
	case own.secretOf() == "":
		return unregistered(s)
	}
	if err := errors.Join(judgeOne(s), judgeNamed(s)); err != nil || s.target.Context == "" {
		return err
	}
	if err := judgeSame(s, own); err != nil {
		return fmt.Errorf("%w; nothing was changed: give the context that leads to %s, or leave --context away", err, s.target.Name)
	}
	return judgeUID(s)
}
