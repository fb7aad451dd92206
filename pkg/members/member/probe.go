// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

const (
	// identityPath is what a probe asks for: it needs authentication and one
	// right, and its uid is the cluster's identity.
	identityPath = connection.IdentityPath
	// nestedPath is answered by fleetscale itself where it serves metrics.
	nestedPath = "/apis/metrics.k8s.io/v1beta1"
)

// identify asks the cluster who it is.
func identify(ctx context.Context, c *connection.Connection, reading *connection.Reading) (types.UID, *fleet.Silence) {
	body, code, err := c.Get(ctx, identityPath)
	if err != nil {
		silence, _ := fleet.Classify(err)
		return "", brief(silence)
	}
	if code != http.StatusOK {
		return "", silenceOfCode(code)
	}
	var namespace struct {
		Metadata struct {
			UID types.UID `json:"uid"`
		} `json:"metadata"`
	}
	if reading.Guard(func() error { return json.Unmarshal(body, &namespace) }) != nil || !isUID(namespace.Metadata.UID) {
		return "", fleet.Silencef(fleet.ReasonBadAnswer,
			"the answer to GET %s is no namespace with a uid: is the address that of a Kubernetes API server?", identityPath)
	}
	return namespace.Metadata.UID, nil
}

// silenceOfCode has words of our own: what the server says may be long, may
// change each time, and may repeat what it was sent.
func silenceOfCode(code int) *fleet.Silence {
	switch code {
	case http.StatusUnauthorized:
		return fleet.Silencef(fleet.ReasonForbidden,
			"401 to GET %s: the cluster does not accept the registration's token or certificate; it may have expired", identityPath)
	case http.StatusForbidden:
		return fleet.Silencef(fleet.ReasonForbidden,
			"403 to GET %s: the registration's identity lacks rights in the cluster; grant those of deploy/member", identityPath)
	case http.StatusTooManyRequests:
		return fleet.Silencef(fleet.ReasonRateLimited, "429 to GET %s: the API server has too many requests", identityPath)
	}
	reason := fleet.ReasonBadAnswer
	if code >= http.StatusInternalServerError {
		reason = fleet.ReasonServerError
	}
	return fleet.Silencef(reason, "%d to GET %s", code, identityPath)
}

// mostDetail bounds the words of others that we repeat.
const mostDetail = 300

func brief(s *fleet.Silence) *fleet.Silence {
	if runes := []rune(s.Detail); len(runes) > mostDetail {
		return &fleet.Silence{Reason: s.Reason, Detail: string(runes[:mostDetail]) + "…"}
	}
	return s
}

// hubIdentity is what is known of the hub itself.
type hubIdentity struct {
	uid   types.UID // empty: not known
	tried bool      // asked at least once
}

func (h hubIdentity) is(uid types.UID) bool { return h.uid != "" && h.uid == uid }

// identifyHub asks the hub who it is until it says so. Before that, a hub among
// the members is taken for any cluster, or for a nested hub if we serve it.
func (r *Registry) identifyHub(ctx context.Context) {
	var h health
	for {
		uid, err := r.askHub(ctx)
		if ctx.Err() != nil {
			return
		}
		r.learnHub(ctx, uid)
		if err == nil {
			return
		}
		silence := fleet.Unanswered(err)
		if h.silence == nil || h.silence.Reason != silence.Reason {
			klog.FromContext(ctx).Info("Could not determine the hub's uid, so it is treated as an ordinary member", "reason", silence.Reason,
				"message", silence.Detail)
		}
		h = h.after(outcome{silence: silence, fresh: true})
		if !sleep(ctx, h.wait(r.options.ProbePeriod)) {
			return
		}
	}
}

func (r *Registry) askHub(ctx context.Context) (types.UID, error) {
	ctx, cancel := context.WithTimeout(ctx, r.options.Connections.Timeout)
	defer cancel()
	ns, err := r.options.Hub.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("getting the hub's namespace kube-system: %w", err)
	}
	if ns.UID == "" {
		return "", errors.New("the hub's namespace kube-system has no uid")
	}
	return ns.UID, nil
}

// learnHub files the hub's uid. A member that turns out to be the hub is probed
// again before it is asked again.
func (r *Registry) learnHub(ctx context.Context, uid types.UID) {
	r.mu.Lock()
	r.hub = hubIdentity{uid: uid, tried: true}
	for _, e := range r.entries {
		if r.hub.is(e.uid) {
			e.health = health{}
		}
		if uid != "" {
			poke(e.wake)
		}
	}
	fx := r.publish()
	r.mu.Unlock()
	r.carryOut(ctx, fx)
}

// sleep is false if ctx ended before d had passed.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
