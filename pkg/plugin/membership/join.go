// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// Connect returns how the cluster of a context is reached.
type Connect func(context string) (*rest.Config, error)

// Modes of --dry-run.
const (
	DryRunNone   = "none"
	DryRunClient = "client"
	DryRunServer = "server"
)

// Join has clusters join.
type Join struct {
	Rights

	Targets []Target
	// Server is the address at which the hub reaches the only target; empty: that of its context.
	Server string
	// AllowLocal and HubToo allow addresses of the machine itself, and the hub as a member.
	AllowLocal, HubToo bool
	// TokenExpiry is how long tokens are to last.
	TokenExpiry time.Duration
	// Timeout is how long the hub may take to reach a cluster that was registered.
	Timeout time.Duration
	// Force has objects that somebody else changed be as deploy/ says.
	Force  bool
	DryRun string
}

// leastTokenExpiry is what API servers accept.
const leastTokenExpiry = 10 * time.Minute

// Validate returns every fault at once.
func (j Join) Validate() error {
	errs := []error{j.Rights.Validate()}
	if j.TokenExpiry < leastTokenExpiry {
		errs = append(errs, fmt.Errorf("--token-expiry: must be at least %v, got %v", leastTokenExpiry, j.TokenExpiry))
	}
	if j.Timeout <= 0 {
		errs = append(errs, fmt.Errorf("--timeout: must be above 0, got %v", j.Timeout))
	}
	if j.DryRun != DryRunNone && j.DryRun != DryRunClient && j.DryRun != DryRunServer {
		errs = append(errs, fmt.Errorf("--dry-run: must be none, client or server, got %q", j.DryRun))
	}
	if j.Server != "" && len(j.Targets) > 1 {
		errs = append(errs, errors.New("--server: is the address of one cluster; join one at a time with it"))
	}
	for _, t := range j.Targets {
		if t.Context == "" {
			errs = append(errs, fmt.Errorf("%s: give --context, or %[1]s=CONTEXT: which context of your kubeconfig leads to the cluster", t.Name))
		}
	}
	return errors.Join(errs...)
}

// Print writes what would be applied, and asks nobody.
func (j Join) Print(out io.Writer, members Connect, p Places) error {
	manifests, err := j.Manifests()
	if err != nil {
		return err
	}
	for _, t := range j.Targets {
		config, err := members(t.Context)
		if err != nil {
			return err
		}
		c, err := connect(t.Context, config)
		if err != nil {
			return err
		}
		w, _, err := c.way(j.Server)
		if err == nil {
			err = judgeAddress(t.Context, w.server, j.Server != "", j.AllowLocal)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		secrets, err := j.secrets(p, t.Name, "", w, redactedTokens())
		if err != nil {
			return err
		}
		if err := printAll(out, t, manifests, secrets); err != nil {
			return err
		}
	}
	return nil
}

func redactedTokens() map[string]string { return map[string]string{reader: redacted, writer: redacted} }

// secrets of this name register a cluster by these tokens.
func (j Join) secrets(p Places, name string, uid types.UID, w way, tokens map[string]string) ([]*corev1.Secret, error) {
	kubeconfigs := map[string][]byte{}
	for account, token := range tokens {
		kubeconfig, err := w.kubeconfig(account, token)
		if err != nil {
			return nil, err
		}
		kubeconfigs[account] = kubeconfig
	}
	return registrations(p, name, uid, j.Rights, kubeconfigs), nil
}

// printAll writes manifests, those of the hub with their data as text.
func printAll(out io.Writer, t Target, manifests []*unstructured.Unstructured, secrets []*corev1.Secret) error {
	var text strings.Builder
	fmt.Fprintf(&text, "# %s: in the cluster of context %q\n", t.Name, t.Context)
	for _, o := range manifests {
		data, err := yaml.Marshal(o)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "---\n%s", data)
	}
	fmt.Fprintf(&text, "---\n# %s: on the hub, with tokens in place of %s\n", t.Name, redacted)
	for i, s := range secrets {
		shown := s.DeepCopy()
		shown.StringData, shown.Data = map[string]string{kubeconfigKey: string(s.Data[kubeconfigKey])}, nil
		if shown.Annotations[UIDAnnotation] == "" {
			delete(shown.Annotations, UIDAnnotation) // not known without asking the member
		}
		data, err := yaml.Marshal(shown)
		if err != nil {
			return err
		}
		if i > 0 {
			text.WriteString("---\n")
		}
		text.Write(data)
	}
	text.WriteString("---\n")
	_, err := io.WriteString(out, text.String())
	return err
}

// Run has the clusters join, and returns when the hub's programs reach all of them, or why they do not.
func (j Join) Run(ctx context.Context, streams genericiooptions.IOStreams, h *Hub, members Connect) error {
	manifests, err := j.Manifests()
	if err != nil {
		return err
	}
	tell := newTeller(streams)
	return forEach(ctx, j.Targets, func(ctx context.Context, t Target) (func(context.Context) error, error) {
		config, err := members(t.Context)
		if err != nil {
			return nil, err
		}
		member, err := connect(t.Context, config)
		if err != nil {
			return nil, err
		}
		one := joining{Join: j, target: t, manifests: manifests, tell: tell, hub: h, member: member}
		return one.run(ctx)
	})
}

// joining is one cluster that joins.
type joining struct {
	Join

	target    Target
	manifests []*unstructured.Unstructured
	tell      *teller
	hub       *Hub
	member    *cluster
	// seen is what was seen before.
	seen sight
}

func (j joining) run(ctx context.Context) (await func(context.Context) error, err error) {
	if j.seen, err = j.hub.sees(ctx, j.target, j.member, j.Server); err != nil {
		return nil, err
	}
	if err := judgeForm(j.hub.places, j.seen.registered); err != nil {
		return nil, err
	}
	if j.seen.writer, err = j.member.hasWriter(ctx); err != nil {
		return nil, err
	}
	if err := judgeJoin(j.seen, j.Rights, tolerated{allowLocal: j.AllowLocal, hubToo: j.HubToo}); err != nil {
		return nil, err
	}
	if err := j.hub.claim(j.seen.uid, j.target.Name); err != nil {
		return nil, err
	}
	if j.DryRun == DryRunServer {
		return nil, j.rehearse(ctx)
	}
	j.tell.say("%s: granting rights in the cluster of context %q", j.target.Name, j.target.Context)
	for _, o := range j.manifests {
		if err := j.member.apply(ctx, o, false, j.Force); err != nil {
			return nil, err
		}
	}
	secrets, expires, err := j.registered(ctx)
	if err != nil {
		return nil, err
	}
	j.tell.say("%s: registering it on the hub", j.target.Name)
	if err := j.hub.register(ctx, secrets); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return j.await(ctx, expires) }, nil
}

// await returns when the hub's programs reach the cluster.
func (j joining) await(ctx context.Context, expires time.Time) error {
	name := j.target.Name
	err := j.hub.awaitReady(ctx, awaited{
		name: name, again: j.seen.own() != nil, writes: !j.ReadOnly, timeout: j.Timeout,
		tell: func(said Said) { j.tell.say("%s: %s", name, said) },
	})
	if err != nil {
		return fmt.Errorf("it is registered, but the hub does not reach it (%w); remove the cause, which docs/members.md#states describes, "+
			"and join it again, or have it leave", err)
	}
	j.tell.result("%s joined", name)
	j.warn(expires)
	return nil
}

// warn says what the person has to see to.
func (j joining) warn(expires time.Time) {
	until := expires.UTC().Format(time.RFC3339)
	switch life := time.Until(expires); {
	case j.ReadOnly:
		j.tell.say("%s: its token expires at %s, and nobody renews it without the identity that writes: `kubectl fleetscale rotate %[1]s "+
			"--context %[3]s` before that", j.target.Name, until, j.target.Context)
	case life < j.TokenExpiry*9/10:
		j.tell.say("%s: the cluster allows tokens of %v only; they are renewed at two thirds of that", j.target.Name, life.Round(time.Minute))
	}
}

// registered are the Secrets that register the cluster, with tokens that it accepts, and when the first of these expires.
func (j joining) registered(ctx context.Context) ([]*corev1.Secret, time.Time, error) {
	w, err := j.member.wayToBe(ctx, j.Server)
	if err != nil {
		return nil, time.Time{}, err
	}
	lives := map[string]time.Duration{reader: j.TokenExpiry}
	if !j.ReadOnly {
		lives[writer] = j.TokenExpiry
	}
	tokens, expires, err := j.member.tokens(ctx, lives)
	if err != nil {
		return nil, time.Time{}, err
	}
	secrets, err := j.toWrite(w, tokens)
	return secrets, expires, err
}

// toWrite are the Secrets by these tokens, each as the one that it replaces.
func (j joining) toWrite(w way, tokens map[string]string) ([]*corev1.Secret, error) {
	secrets, err := j.secrets(j.hub.places, j.seen.object(), j.seen.uid, w, tokens)
	for _, s := range secrets {
		for _, before := range []*corev1.Secret{j.seen.registered, j.seen.beside} {
			if before != nil && before.Namespace == s.Namespace {
				s.UID, s.ResourceVersion = before.UID, before.ResourceVersion
			}
		}
	}
	return secrets, err
}

// tokens are new ones of accounts, with these lives, which the cluster accepts, and when the first of them expires.
func (c *cluster) tokens(ctx context.Context, lives map[string]time.Duration) (map[string]string, time.Time, error) {
	tokens := map[string]string{}
	var first time.Time
	for _, account := range slices.Sorted(maps.Keys(lives)) {
		token, expires, err := c.token(ctx, account, lives[account])
		if err != nil {
			return nil, first, err
		}
		if err := c.admits(ctx, token); err != nil {
			return nil, first, err
		}
		if tokens[account] = token; first.IsZero() || expires.Before(first) {
			first = expires
		}
	}
	return tokens, first, nil
}

// wayToBe is how the hub is to reach the cluster, with the authority that verifies it there.
func (c *cluster) wayToBe(ctx context.Context, server string) (way, error) {
	w, complete, err := c.way(server)
	if err != nil || complete {
		return w, err
	}
	w.authority, err = c.authority(ctx)
	return w, err
}

// hubWrites bounds the writing of one registration, which is not cut off by a person who stops waiting.
const hubWrites = 30 * time.Second

// each writes the Secrets of one cluster: all of them, or, if the person has stopped waiting before, none.
func (h *Hub) each(ctx context.Context, secrets []*corev1.Secret, write func(context.Context, *corev1.Secret) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hubWrites)
	defer cancel()
	for _, s := range secrets {
		if err := write(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// rehearse has both servers judge what would be written, and prints that.
func (j joining) rehearse(ctx context.Context) error {
	for _, o := range j.manifests {
		err := j.member.apply(ctx, o, true, j.Force)
		if apierrors.IsNotFound(err) && o.GetNamespace() == memberNamespace {
			continue // nor is its namespace there yet
		}
		if err != nil {
			return err
		}
	}
	w, _, err := j.member.way(j.Server)
	if err != nil {
		return err
	}
	secrets, err := j.toWrite(w, redactedTokens())
	if err != nil {
		return err
	}
	for _, s := range secrets {
		if _, err := j.hub.put(ctx, s, true); err != nil {
			return err
		}
		s.UID, s.ResourceVersion = "", "" // which are not for people to apply
	}
	j.tell.mu.Lock()
	defer j.tell.mu.Unlock()
	return printAll(j.tell.out, j.target, j.manifests, secrets)
}
