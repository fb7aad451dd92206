// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

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
		silence, _ := fleet.Classify(err)
		if silence == nil {
			silence = silencef(fleet.ReasonBadAnswer, "%v", err)
		}
		if h.silence == nil || h.silence.Reason != silence.Reason {
			klog.FromContext(ctx).Info("Hub is not identified, so it would be no special member", "reason", silence.Reason, "message", silence.Detail)
		}
		h = h.after(outcome{silence: silence, fresh: true})
		if !sleep(ctx, h.wait(r.options.ProbePeriod)) {
			return
		}
	}
}

func (r *Registry) askHub(ctx context.Context) (types.UID, error) {
	ctx, cancel := context.WithTimeout(ctx, r.options.Timeout)
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
// anew before it is asked again.
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

// HubMetricsServerConfig is how the hub's own metrics-server is reached, past
// the hub's API server: at its address with its certificate authority (a PEM
// file; none: the system's), and with the credentials that we have for the hub.
// insecure leaves the server unverified and excludes a certificate authority.
func HubMetricsServerConfig(hub *rest.Config, server, caFile string, insecure bool) (*rest.Config, error) {
	u, ok := parseServer(server)
	if !ok || u.Scheme != "https" {
		return nil, errors.New("--hub-metrics-server: must be an https URL such as https://metrics-server.kube-system.svc")
	}
	if insecure && caFile != "" {
		return nil, errors.New("--hub-metrics-server-ca-file and --hub-metrics-server-insecure-skip-tls-verify exclude each other")
	}
	config := rest.CopyConfig(hub)
	config.Host, config.APIPath = u.String(), ""
	config.ServerName = ""
	config.CAFile, config.CAData = "", nil
	config.Insecure = insecure
	if caFile != "" {
		data, err := os.ReadFile(caFile)
		if err != nil {
			return nil, fmt.Errorf("--hub-metrics-server-ca-file: %w", err)
		}
		config.CAData = data
	}
	if faults := certificateFaults(rest.TLSClientConfig{CAData: config.CAData}); len(faults) > 0 {
		return nil, fmt.Errorf("--hub-metrics-server-ca-file: %s", faults[0])
	}
	return config, nil
}
