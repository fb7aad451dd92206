// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/fleetscale/fleetscale/pkg/registration"
)

// Rotate gives clusters new tokens: by the person's rights where a context leads there, else by asking the leader of the
// controller-manager, which renews them anyway.
type Rotate struct {
	Targets []Target
	// Revoke ends all former tokens, by replacing the accounts. It needs contexts.
	Revoke bool
	// TokenExpiry is how long tokens of targets with contexts are to last; 0: as long as the present ones.
	TokenExpiry time.Duration
	// Server is the address at which the hub reaches the only target; empty: that of its context.
	Server string
	// Timeout is how long the hub may take.
	Timeout time.Duration
}

// Validate returns every fault at once.
func (r Rotate) Validate() error {
	var errs []error
	if r.TokenExpiry != 0 && r.TokenExpiry < leastTokenExpiry {
		errs = append(errs, fmt.Errorf("--token-expiry: must be at least %v, got %v", leastTokenExpiry, r.TokenExpiry))
	}
	if r.Timeout <= 0 {
		errs = append(errs, fmt.Errorf("--timeout: must be above 0, got %v", r.Timeout))
	}
	if r.Server != "" && len(r.Targets) > 1 {
		errs = append(errs, errors.New("--server: is the address of one cluster; rotate one at a time with it"))
	}
	for _, t := range r.Targets {
		if r.Server != "" && t.Context == "" {
			errs = append(errs, fmt.Errorf("--server: %s needs a context too", t.Name))
		}
		if r.TokenExpiry != 0 && t.Context == "" {
			errs = append(errs, fmt.Errorf("--token-expiry: %s needs a context: the controller-manager gives tokens the life that they had", t.Name))
		}
		if r.Revoke && t.Context == "" {
			errs = append(errs, fmt.Errorf("--revoke: %s needs a context, since the accounts are replaced in the cluster", t.Name))
		}
	}
	return errors.Join(errs...)
}

// Run returns when the tokens are new, and the hub's programs reach the clusters by them.
func (r Rotate) Run(ctx context.Context, streams genericiooptions.IOStreams, h *Hub, members Connect) error {
	tell := newTeller(streams)
	return forEach(ctx, r.Targets, func(ctx context.Context, t Target) (func(context.Context) error, error) {
		if err := judgeNames([]Target{t}); err != nil {
			return nil, err
		}
		member, seen, err := h.seesBy(ctx, t, members, r.Server)
		if err != nil {
			return nil, err
		}
		if err := judgeRotation(seen); err != nil {
			return nil, err
		}
		if err := judgeForm(h.places, seen.registered); err != nil {
			return nil, err
		}
		if member == nil {
			return r.ask(ctx, t, h, seen.registered, seen.beside, tell)
		}
		return r.replace(ctx, h, member, seen, tell)
	})
}

// replace writes tokens that the person gets.
func (r Rotate) replace(ctx context.Context, h *Hub, member *cluster, seen sight, tell *teller) (func(context.Context) error, error) {
	t := seen.target
	held, err := h.held(seen)
	if err != nil {
		return nil, err
	}
	if err := member.leadsTo(ctx, r.Server, held); err != nil {
		return nil, err
	}
	if r.Revoke {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		// A person who stops waiting now must not leave a cluster whose accounts have no tokens on the hub.
		whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTimeout)
		defer cancel()
		tell.say("%s: replacing the accounts, which ends all of their tokens, also those that another hub has", t.Name)
		if err := member.renewAccounts(whole, seen.beside == nil); err != nil {
			return nil, err
		}
		ctx = whole
	}
	tell.say("%s: asking for new tokens in the cluster of context %q", t.Name, t.Context)
	if err := r.write(ctx, h, member, held); err != nil {
		return nil, err
	}
	return r.reached(t, h, tell, r.until(seen.registered)), nil
}

// write has the hub hold new tokens in place of these.
func (r Rotate) write(ctx context.Context, h *Hub, member *cluster, held map[string]held) error {
	tokens, _, err := member.tokens(ctx, r.lives(held))
	if err != nil {
		return err
	}
	var changed []*corev1.Secret
	for _, account := range slices.Sorted(maps.Keys(held)) {
		next, err := held[account].withToken(tokens[account])
		if err != nil {
			return err
		}
		changed = append(changed, next)
	}
	return h.each(ctx, changed, func(ctx context.Context, s *corev1.Secret) error { return unwritten(s, h.change(ctx, s, nil)) })
}

// presumedExpiry is for tokens in place of those that do not say how long they last.
const presumedExpiry = 720 * time.Hour

// lives are how long the new tokens of the accounts are to last.
func (r Rotate) lives(all map[string]held) map[string]time.Duration {
	lives := map[string]time.Duration{}
	for account, one := range all {
		lives[account] = cmp.Or(r.TokenExpiry, presumedExpiry)
		if now, ok := timesOfToken(one.Endpoint.Token()); ok && r.TokenExpiry == 0 {
			lives[account] = max(now.expires.Sub(now.issued), leastTokenExpiry)
		}
	}
	return lives
}

// until says what has become of the former tokens.
func (r Rotate) until(s *corev1.Secret) string {
	if r.Revoke {
		return "the former ones are revoked, within ten seconds"
	}
	expires := "they expire"
	if c, ok := timesOf(s); ok {
		expires = "they expire, at " + c.expires.UTC().Format(time.RFC3339)
	}
	return "the former ones are accepted until " + expires + "; to end them sooner: rotate --revoke --context CONTEXT"
}

// reached waits until the hub's programs reach the member by its new tokens.
func (r Rotate) reached(t Target, h *Hub, tell *teller, former string) func(context.Context) error {
	return func(ctx context.Context) error {
		err := h.awaitReady(ctx, awaited{
			name: t.Name, again: true, timeout: r.Timeout, tell: func(said Said) { tell.say("%s: %s", t.Name, said) },
		})
		if err != nil {
			return fmt.Errorf("it has new tokens, but the hub does not reach it: %w", err)
		}
		tell.result("%s rotated; %s", t.Name, former)
		return nil
	}
}

// renewAccounts deletes the accounts and makes them again, also one that writes and is registered nowhere: it may be in force.
func (c *cluster) renewAccounts(ctx context.Context, readOnly bool) error {
	if readOnly {
		writes, err := c.hasWriter(ctx)
		if err != nil {
			return err
		}
		readOnly = !writes
	}
	objects, err := (Rights{ReadOnly: readOnly}).Manifests()
	if err != nil {
		return err
	}
	for _, o := range objects {
		if o.GetKind() != "ServiceAccount" {
			continue
		}
		if err := c.remove(ctx, o); err != nil {
			return err
		}
		if err := c.apply(ctx, o, false, true); err != nil {
			return err
		}
	}
	return nil
}

// ask has the leader of the controller-manager renew the tokens that there are.
func (r Rotate) ask(ctx context.Context, t Target, h *Hub, s, beside *corev1.Secret, tell *teller) (func(context.Context) error, error) {
	withContext := fmt.Sprintf("`kubectl fleetscale rotate %s --context CONTEXT`", t.Name)
	if s.Annotations[registration.RenewAnnotation] == "false" {
		return nil, fmt.Errorf("somebody else renews its tokens, as the annotation %s=false says: have that done, or %s",
			registration.RenewAnnotation, withContext)
	}
	if beside == nil {
		return nil, fmt.Errorf("it is registered without the identity that writes, by which tokens are renewed: %s", withContext)
	}
	last, err := lastIssued(s, beside)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, withContext)
	}
	value := last.UTC().Format(time.RFC3339)
	tell.say("%s: asking the controller-manager for new tokens", t.Name)
	if err := h.annotate(ctx, s, registration.RenewAnnotation, &value); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		err := h.awaitChanged(ctx, r.Timeout, s, beside)
		clear, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
		defer cancel()
		err = errors.Join(err, h.annotate(clear, s, registration.RenewAnnotation, nil))
		if err != nil {
			said := h.asWarned(clear, s.Name, Said{})
			if said.Message != "" {
				err = fmt.Errorf("%w; the last Event: %s: %s", err, said.Reason, said.Message)
			}
			return fmt.Errorf("%w; or %s", err, withContext)
		}
		return r.reached(t, h, tell, r.until(s))(ctx)
	}, nil
}

// awaitChanged returns when the Secrets hold other credentials than before.
func (h *Hub) awaitChanged(ctx context.Context, timeout time.Duration, before ...*corev1.Secret) error {
	err := wait.PollUntilContextTimeout(ctx, h.askAgain, timeout, true, func(ctx context.Context) (bool, error) {
		for _, s := range before {
			if s == nil {
				continue
			}
			now, err := h.typed.CoreV1().Secrets(s.Namespace).Get(ctx, s.Name, metav1.GetOptions{})
			if err != nil || bytes.Equal(now.Data[kubeconfigKey], s.Data[kubeconfigKey]) {
				return false, nil // asked again
			}
		}
		return true, nil
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the controller-manager has not renewed the tokens within %v: is it running?", timeout)
	}
	return err
}

// lastIssued is when the last of the present tokens was issued: those that are renewed are not older.
func lastIssued(secrets ...*corev1.Secret) (last time.Time, err error) {
	for _, s := range secrets {
		if s == nil {
			continue
		}
		times, ok := timesOf(s)
		if !ok {
			return last, fmt.Errorf("the hub's Secret %s/%s holds no token of a ServiceAccount that says when it was issued", s.Namespace,
				s.Name)
		}
		if times.issued.After(last) {
			last = times.issued
		}
	}
	return last, nil
}

// times are what a token says of itself.
type times struct{ issued, expires time.Time }

// timesOf are those of the token that a Secret holds.
func timesOf(s *corev1.Secret) (times, bool) {
	config, err := clientcmd.RESTConfigFromKubeConfig(s.Data[kubeconfigKey])
	if err != nil {
		return times{}, false
	}
	return timesOfToken(config.BearerToken)
}

// timesOfToken are those of a token of a ServiceAccount; false: it says none.
func timesOfToken(token string) (times, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return times{}, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	var said struct {
		Issued  int64 `json:"iat"`
		Expires int64 `json:"exp"`
	}
	if err != nil || json.Unmarshal(payload, &said) != nil || said.Issued == 0 || said.Expires == 0 {
		return times{}, false
	}
	return times{time.Unix(said.Issued, 0), time.Unix(said.Expires, 0)}, true
}
