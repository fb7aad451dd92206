// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/members/connection"
)

// Source is what registers a cluster.
type Source struct {
	// Name of the source, and Object in it: the object's name, with its namespace and a slash before it where that is not the same for all.
	Name, Object string
	// Ref is the object.
	Ref corev1.ObjectReference
	// Address is the host and port of the API server, without path and credentials; empty: the registration has none that can be used.
	Address string
}

// Traits are what a cluster tells of itself, apart from whether it answers. They are shown to people, and nothing is decided by them.
type Traits struct {
	// Version is that of Kubernetes: at most 64 printable characters; empty: not known.
	Version string
	// MetricsAPIs are those of metrics.k8s.io, custom.metrics.k8s.io and external.metrics.k8s.io that it serves. They are shared: do not
	// write to them.
	MetricsAPIs []string
	// MissingRights are those of [Options.Needs] that the member denies, as texts for people, cut as by [grants.Few]; empty: none that is
	// known. They are shared: do not write to them.
	MissingRights []string
	// AskedRights is true once the member was asked for them, whatever it said.
	AskedRights bool
}

// equal tells whether people are shown the same.
func (t Traits) equal(other Traits) bool {
	return t.Version == other.Version && slices.Equal(t.MetricsAPIs, other.MetricsAPIs) &&
		slices.Equal(t.MissingRights, other.MissingRights)
}

const (
	versionPath = "/version"
	groupsPath  = "/apis"
	// inspectPeriod is the interval at which a member is asked for its traits.
	inspectPeriod = 5 * time.Minute
	// deniedPeriod is that of a member that denies rights, so that people soon see what they have granted.
	deniedPeriod = time.Minute
	// mostVersion bounds what is kept of a version.
	mostVersion = 64
)

// metricsAPIs are the groups that count among [Traits].
var metricsAPIs = []string{"metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io"}

// last is how long they are taken to be true.
func (t Traits) last() time.Duration {
	if len(t.MissingRights) > 0 {
		return deniedPeriod
	}
	return inspectPeriod
}

// inspection is when a member was last asked for its traits, and over which connection.
type inspection struct {
	at   time.Time
	conn *connection.Connection
}

// inspect asks a member that is ready for its traits if that is due. Those that it does not tell stay as they were.
func (r *Registry) inspect(ctx context.Context, e *entry) {
	if !r.options.Inspect && len(r.options.Needs) == 0 {
		return
	}
	r.mu.Lock()
	conn, ready := e.conn, e.health.ready
	r.mu.Unlock()
	now := time.Now()
	if !ready || conn == nil || e.inspected.conn == conn && now.Sub(e.inspected.at) < e.member.Traits().last() {
		return
	}
	if e.inspected.conn != conn { // what another credential may do says nothing of this one
		e.reviews = reviews{}
	}
	e.inspected = inspection{now, conn}
	traits := e.member.Traits()
	before := traits
	if r.options.Inspect {
		r.askTraits(ctx, conn, e.member.Reading(), &traits)
	}
	if len(r.options.Needs) > 0 {
		e.reviews.ask(ctx, conn, r.options.Needs, r.options.Connections.Timeout)
		traits.MissingRights, traits.AskedRights = e.reviews.missing(r.options.Needs), true
		if !slices.Equal(traits.MissingRights, before.MissingRights) {
			klog.FromContext(ctx).Info("Rights that the cluster denies are others now", "cluster", e.member.name, "missing", traits.MissingRights)
		}
	}
	e.member.traits.Store(&traits)
	if !traits.equal(before) {
		poke(r.changed)
	}
}

func (r *Registry) askTraits(ctx context.Context, conn *connection.Connection, reading *connection.Reading, traits *Traits) {
	ctx, cancel := context.WithTimeout(ctx, r.options.Connections.Timeout)
	defer cancel()
	if version, err := askVersion(ctx, conn, reading); err == nil {
		traits.Version = version
	}
	if groups, err := askGroups(ctx, conn, reading); err == nil {
		traits.MetricsAPIs = groups
	}
}

// versionAnswer and groupsAnswer are what is read of a member's answers.
type versionAnswer struct {
	GitVersion string `json:"gitVersion"`
}

type groupsAnswer struct {
	Groups []struct {
		Name string `json:"name"`
	} `json:"groups"`
}

func askVersion(ctx context.Context, c *connection.Connection, reading *connection.Reading) (string, error) {
	told, err := askFor[versionAnswer](ctx, c, reading, versionPath)
	return fleet.Printable(told.GitVersion, mostVersion), err
}

// askGroups returns which metrics APIs the cluster serves.
func askGroups(ctx context.Context, c *connection.Connection, reading *connection.Reading) ([]string, error) {
	told, err := askFor[groupsAnswer](ctx, c, reading, groupsPath)
	if err != nil {
		return nil, err
	}
	var served []string
	for _, known := range metricsAPIs {
		for _, group := range told.Groups {
			if group.Name == known && !slices.Contains(served, known) {
				served = append(served, known)
			}
		}
	}
	return served, nil
}

func askFor[T any](ctx context.Context, c *connection.Connection, reading *connection.Reading, path string) (told T, err error) {
	body, code, err := c.Get(ctx, path)
	switch {
	case err != nil:
		return told, err
	case code != http.StatusOK:
		return told, fmt.Errorf("%d to GET %s", code, path)
	}
	read, err := connection.DecodeJSON(ctx, reading, body, new(T))
	if err != nil {
		return told, err
	}
	return *read, nil
}
