// SPDX-License-Identifier: Apache-2.0

package member

import (
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/util/flowcontrol"
)

// A resource that is not found may have come since the resources were read:
// they are read again unless that was done so lately.
const mapperReset = time.Minute

// mapper knows a member's resources. It outlives connections.
type mapper struct {
	deferred *restmapper.DeferredDiscoveryRESTMapper

	mu       sync.Mutex
	reset    time.Time
	readings int                                // of the resources
	found    map[mappingKey][]*meta.RESTMapping // in the last one
}

// mappingKey is a question for mappings.
type mappingKey struct {
	kind     schema.GroupKind
	versions string
}

var _ meta.RESTMapper = (*mapper)(nil)

func (m *mapper) ask(client rest.Interface) {
	cached := memory.NewMemCacheClient(discovery.NewDiscoveryClient(client))
	m.deferred = restmapper.NewDeferredDiscoveryRESTMapper(cached)
}

func keyOf(gk schema.GroupKind, versions []string) mappingKey {
	return mappingKey{gk, strings.Join(versions, ",")}
}

// due is true when it is time to read the resources again, and it is done by
// who is told so.
func (m *mapper) due(err error) bool {
	if !meta.IsNoMatchError(err) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.reset) < mapperReset {
		return false
	}
	m.reset = time.Now()
	m.readings++
	clear(m.found)
	return true
}

// lookUp looks twice where the resources had better be read again.
func lookUp[T any](m *mapper, look func() (T, error)) (T, error) {
	found, err := look()
	if m.due(err) {
		m.deferred.Reset()
		found, err = look()
	}
	return found, err
}

// KindFor is as meta.RESTMapper has it, and so are the others.
func (m *mapper) KindFor(r schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return lookUp(m, func() (schema.GroupVersionKind, error) { return m.deferred.KindFor(r) })
}

func (m *mapper) KindsFor(r schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	return lookUp(m, func() ([]schema.GroupVersionKind, error) { return m.deferred.KindsFor(r) })
}

func (m *mapper) ResourceFor(r schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	return lookUp(m, func() (schema.GroupVersionResource, error) { return m.deferred.ResourceFor(r) })
}

func (m *mapper) ResourcesFor(r schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	return lookUp(m, func() ([]schema.GroupVersionResource, error) { return m.deferred.ResourcesFor(r) })
}

func (m *mapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	return lookUp(m, func() (*meta.RESTMapping, error) { return m.deferred.RESTMapping(gk, versions...) })
}

// RESTMappings answers what was found before from memory: it is asked for each look at each autoscaler, and the library
// goes through all kinds each time. The answer is shared: do not write to it.
func (m *mapper) RESTMappings(gk schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	key := keyOf(gk, versions)
	known, reading := m.known(key)
	if known != nil {
		return known, nil
	}
	found, err := lookUp(m, func() ([]*meta.RESTMapping, error) { return m.deferred.RESTMappings(gk, versions...) })
	if err == nil {
		m.keep(key, found, reading)
	}
	return found, err
}

func (m *mapper) known(key mappingKey) (found []*meta.RESTMapping, reading int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.found[key], m.readings
}

// keep keeps what was found in a reading, unless there was another one meanwhile.
func (m *mapper) keep(key mappingKey, found []*meta.RESTMapping, reading int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if reading != m.readings {
		return
	}
	if m.found == nil {
		m.found = map[mappingKey][]*meta.RESTMapping{}
	}
	m.found[key] = found
}

func (m *mapper) ResourceSingularizer(resource string) (string, error) {
	return m.deferred.ResourceSingularizer(resource)
}

// current is a client that is always the member's present one.
type current struct{ member *Member }

var _ rest.Interface = current{}

func (c current) GetRateLimiter() flowcontrol.RateLimiter { return c.member.Client().GetRateLimiter() }
func (c current) Verb(verb string) *rest.Request          { return c.member.Client().Verb(verb) }
func (c current) Post() *rest.Request                     { return c.member.Client().Post() }
func (c current) Put() *rest.Request                      { return c.member.Client().Put() }
func (c current) Patch(t types.PatchType) *rest.Request   { return c.member.Client().Patch(t) }
func (c current) Get() *rest.Request                      { return c.member.Client().Get() }
func (c current) Delete() *rest.Request                   { return c.member.Client().Delete() }
func (c current) APIVersion() schema.GroupVersion         { return c.member.Client().APIVersion() }
