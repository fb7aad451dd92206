// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// Delegate has another server answer for an API group from now on, as the aggregation layer of a hub does. It is
// asked with the credentials of who asks. Discovery continues telling what the member itself has; of a group that it
// has not, the other server tells.
func (m *Member) Delegate(group string, to http.Handler) { m.delegates.set(group, to) }

// delegates are servers by API group.
type delegates struct {
	mu      sync.RWMutex
	servers map[string]http.Handler
}

func newDelegates() *delegates { return &delegates{servers: map[string]http.Handler{}} }

func (d *delegates) set(group string, to http.Handler) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.servers[group] = to
}

func (d *delegates) of(group string) http.Handler {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.servers[group]
}

// Put stores an object of a kind that can be written, as it is, or in place of the one of its name.
func (m *Member) Put(o Object) error {
	kinds, _, err := m.scheme.ObjectKinds(o)
	if err != nil {
		return fmt.Errorf("storing %s/%s in %s: %w", o.GetNamespace(), o.GetName(), m.name, err)
	}
	all := servedResources()
	i := slices.IndexFunc(all, func(s served) bool { return s.gvk() == kinds[0] && s.writable })
	if i < 0 {
		return fmt.Errorf("storing %s/%s in %s: a %s cannot be written", o.GetNamespace(), o.GetName(), m.name, kinds[0].Kind)
	}
	m.world.mu.Lock()
	defer m.world.mu.Unlock()
	m.world.ensureNamespace(o.GetNamespace())
	m.world.keep(all[i].plural, o.DeepCopyObject().(object))
	return nil
}

// schemas tells, as OpenAPI v3 does, that our own kinds are kept with every field they have.
func schemas(path string) (document any, ok bool) {
	ours := "apis/" + v1alpha1.SchemeGroupVersion.String()
	switch path {
	case "v3":
		return map[string]any{"paths": map[string]any{ours: map[string]string{"serverRelativeURL": "/openapi/v3/" + ours + "?hash=1"}}}, true
	case "v3/" + ours:
		return map[string]any{"openapi": "3.0.0", "info": map[string]string{"title": "simulated", "version": "1"}, "paths": map[string]any{},
			"components": map[string]any{"schemas": keptWhole()}}, true
	}
	return nil, false
}

func keptWhole() map[string]any {
	all := map[string]any{}
	for _, s := range servedResources() {
		if s.GroupVersion == v1alpha1.SchemeGroupVersion {
			all[strings.ToLower(s.kind)] = map[string]any{
				"type": "object", "x-kubernetes-preserve-unknown-fields": true,
				"x-kubernetes-group-version-kind": []map[string]string{{"group": s.Group, "version": s.Version, "kind": s.kind}},
			}
		}
	}
	return all
}
