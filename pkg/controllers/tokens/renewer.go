// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// RenewAnnotation is that of registrations.
const RenewAnnotation = registration.RenewAnnotation

const (
	// period is how soon what changed is seen.
	period = 30 * time.Second
	// mostAtOnce bounds the registrations that are dealt with at one time.
	mostAtOnce = 8
)

// Options configure a [Renewer].
type Options struct {
	Hub Hub
	// Registrations are those of the program; their Access does not matter.
	Registrations registration.Options
	// Listed is the cluster that a registration Secret is listed as, and why that must not be asked now; empty: it is not listed.
	Listed func(secret string) (cluster string, silence error)
	// Connections say how members are asked.
	Connections connection.Options
	Clock       clock.PassiveClock
	Events      record.EventRecorder
	Metrics     *Metrics
}

// Renewer renews the tokens of all registration Secrets.
type Renewer struct {
	Options
	known    map[string]*known // by registration
	expiries expiries
}

// known is what is kept of a registration between two passes. Credentials are not.
type known struct {
	cluster string
	// versions are those of the Secret and of the one beside it that were judged.
	versions [2]string
	// again is when to judge them again though they stay; zero: never.
	again time.Time
	slots map[credential]*slot
}

// slot is what is kept of a credential.
type slot struct {
	told     fault
	failures int
	// notBefore is when to try again after a failure.
	notBefore time.Time
}

// New returns a renewer, of which one may work at a time.
func New(o Options) *Renewer {
	o.Connections.MaxAnswer = mostAnswer
	o.Connections = o.Connections.WithDefaults()
	return &Renewer{Options: o, known: map[string]*known{}}
}

// Run renews until ctx ends.
func (r *Renewer) Run(ctx context.Context) error {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		if err := r.pass(ctx); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Info("Could not list the Secrets whose tokens may have to be renewed", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// pass deals with the registrations that changed, or whose time has come.
func (r *Renewer) pass(ctx context.Context) error {
	registered, err := r.Hub.Versions(ctx, r.Registrations.Namespace, registration.MemberLabel+"=true")
	if err != nil {
		return err
	}
	var beside map[string]string
	if r.apart() {
		if beside, err = r.Hub.Versions(ctx, r.Registrations.WriteNamespace, ""); err != nil {
			return err
		}
	}
	r.forget(registered)
	silences := r.list(registered)
	var group errgroup.Group
	group.SetLimit(mostAtOnce)
	for name, version := range registered {
		k := r.known[name] // nil: it is not listed
		versions := [2]string{version, beside[name]}
		if k == nil || versions == k.versions && (k.again.IsZero() || r.Clock.Now().Before(k.again)) {
			continue
		}
		if versions != k.versions {
			k.slots = map[credential]*slot{reads: {told: k.said(reads)}, writes: {told: k.said(writes)}}
		}
		group.Go(func() error {
			if err := r.visit(ctx, name, k, silences[name]); err != nil {
				k.versions = [2]string{} // to be visited again
				klog.FromContext(ctx).Info("Could not see to the tokens of the registration", "cluster", k.cluster, "err", err)
			}
			return nil
		})
	}
	err = group.Wait()
	r.expiries.pass()
	return err
}

// apart is true where the credentials that write have a namespace of their own.
func (r *Renewer) apart() bool {
	return r.Registrations.WriteNamespace != "" && r.Registrations.WriteNamespace != r.Registrations.Namespace
}

// list knows the registrations that are listed, each under the name of its cluster, and returns why these must not be asked. All that
// have lost a name are dropped before anything is shown of who has it now.
func (r *Renewer) list(registered map[string]string) (silences map[string]error) {
	silences = make(map[string]error, len(registered))
	for name := range registered {
		cluster, silence := r.Listed(name)
		silences[name] = silence
		if k := r.known[name]; k != nil && k.cluster != cluster {
			r.drop(name, k)
		}
		if r.known[name] == nil && cluster != "" {
			r.known[name] = &known{cluster: cluster}
		}
	}
	return silences
}

// forget drops what is known of registrations that are gone.
func (r *Renewer) forget(registered map[string]string) {
	for name, k := range r.known {
		if _, stays := registered[name]; !stays {
			r.drop(name, k)
		}
	}
}

func (r *Renewer) drop(name string, k *known) {
	r.Metrics.forget(k.cluster)
	r.expiries.forget(k.cluster)
	delete(r.known, name)
}

// said is what was last told of a credential.
func (k *known) said(c credential) fault {
	if s := k.slots[c]; s != nil {
		return s.told
	}
	return fault{}
}

// visit judges the credentials of a registration, and renews what is due.
func (r *Renewer) visit(ctx context.Context, name string, k *known, silence error) error {
	registered, err := r.Hub.Get(ctx, r.Registrations.Namespace, name)
	if err != nil || registered == nil {
		return err
	}
	var beside *corev1.Secret
	if r.apart() {
		if beside, err = r.Hub.Get(ctx, r.Registrations.WriteNamespace, name); err != nil {
			return err
		}
	}
	k.versions, k.again = [2]string{registered.ResourceVersion, ""}, time.Time{}
	if beside != nil {
		k.versions[1] = beside.ResourceVersion
	}
	for _, t := range r.tokensOf(registered, beside) {
		v := &visit{tokenOf: t, known: k, slot: k.slots[t.credential], registered: registered, beside: beside, silence: silence}
		again, changed := r.judge(ctx, v)
		if changed { // what was read is of the past
			k.versions = [2]string{}
			return nil
		}
		if k.again.IsZero() || !again.IsZero() && again.Before(k.again) {
			k.again = again
		}
	}
	return nil
}

// tokenOf is a credential of a registration, and what is in the way of renewing it.
type tokenOf struct {
	credential credential
	held       registration.Held
	present    claims
	isToken    bool
	writer     registration.Endpoint // with what it is renewed
	unaided    string                // why not
}

// visit is the judging of one credential.
type visit struct {
	tokenOf
	*known
	*slot
	registered, beside *corev1.Secret
	silence            error
}

// tokensOf returns the credentials of a registration, without those that cannot be used: these the members' states report.
func (r *Renewer) tokensOf(registered, beside *corev1.Secret) []tokenOf {
	o := r.Registrations
	o.Access = registration.Write
	written, noWriter := registration.HeldIn(o, registered, beside)
	o.Access = registration.Read
	read, noReader := registration.HeldIn(o, registered, beside)
	var all []tokenOf
	if len(noWriter) == 0 {
		all = append(all, tokenOf{credential: writes, held: written, writer: written.Endpoint})
	}
	if one := read.Namespace == written.Namespace && read.Key == written.Key; len(noReader) == 0 && !one {
		t := tokenOf{credential: reads, held: read, writer: written.Endpoint}
		switch {
		case len(noWriter) > 0:
			t.unaided = "the registration has no credential of deploy/member-write, by which that is done: " + noWriter[0].Message +
				"; or renew it yourself and set the annotation " + RenewAnnotation + "=false"
		case !read.Endpoint.SameServer(written.Endpoint):
			t.unaided = "the credential that writes leads to another server, or verifies it by another authority; give both the same"
		}
		all = append(all, t)
	}
	for i := range all {
		all[i].present, all[i].isToken = claimsOf(all[i].held.Endpoint.Token())
	}
	return all
}

// judge returns when to judge the credential again, zero: when it has changed; and whether it did just now.
func (r *Renewer) judge(ctx context.Context, v *visit) (again time.Time, changed bool) {
	if !v.isToken {
		r.Metrics.none(v.cluster, v.credential)
		r.expiries.unset(v.cluster, v.credential)
		return time.Time{}, false
	}
	r.Metrics.expires(v.cluster, v.credential, v.present.expires)
	r.expiries.set(v.cluster, v.credential, v.present.expires)
	now := r.Clock.Now()
	asked := v.registered.Annotations[RenewAnnotation]
	due, f := decide(situation{
		credential: v.credential, token: v.present, unaided: v.unaided, optedOut: asked == "false", unwanted: timeOf(asked),
	}, now)
	r.tell(ctx, v, f)
	switch {
	case due.IsZero() || now.Before(due):
		return due, false
	case v.silence != nil:
		return now.Add(period), false
	case now.Before(v.notBefore):
		return v.notBefore, false
	}
	return r.attempt(ctx, v)
}

// tell reports a fault once.
func (r *Renewer) tell(ctx context.Context, v *visit, f fault) {
	if f == v.told {
		return
	}
	if v.told = f; f != (fault{}) {
		r.report(ctx, v, f)
	}
}

// mostEventMessage is what the Events API allows.
const mostEventMessage = 1024

func (r *Renewer) report(ctx context.Context, v *visit, f fault) {
	klog.FromContext(ctx).Info("Token is not renewed", "cluster", v.cluster, "credential", v.credential, "reason", f.reason,
		"message", f.message)
	if len(f.message) > mostEventMessage {
		f.message = f.message[:mostEventMessage]
	}
	r.Events.Event(&corev1.ObjectReference{
		APIVersion: "v1", Kind: "Secret", Namespace: v.registered.Namespace, Name: v.registered.Name, UID: v.registered.UID,
	}, corev1.EventTypeWarning, f.reason, f.message)
}

// attempt renews the token. It returns what judge does.
func (r *Renewer) attempt(ctx context.Context, v *visit) (again time.Time, changed bool) {
	expires, err := r.renew(ctx, v)
	now, result := r.Clock.Now(), resultFailed
	var no refused
	switch {
	case err == nil:
		r.Metrics.attempted(v.cluster, v.credential, resultRenewed)
		klog.FromContext(ctx).Info("Renewed a token", "cluster", v.cluster, "credential", v.credential, "expires", expires)
		return now, true
	case ctx.Err() != nil || errors.Is(err, errChanged):
		return now, true
	case errors.As(err, &no):
		result = resultRefused
	}
	r.Metrics.attempted(v.cluster, v.credential, result)
	v.failures++
	v.notBefore = retry(v.failures, now, v.present.expires)
	r.report(ctx, v, fault{reasonFailed, failure(v.tokenOf, err)})
	return v.notBefore, false
}
