// SPDX-License-Identifier: Apache-2.0

package connection

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

// Mapper knows a cluster's resources. It outlives connections. They are read when first needed, and again, at most once a
// minute, when one is not found.
type Mapper struct {
	deferred *restmapper.DeferredDiscoveryRESTMapper
	reading  *Reading

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

var _ meta.RESTMapper = (*Mapper)(nil)

// NewMapper asks with what client is at the time.
func NewMapper(client func() rest.Interface, reading *Reading) *Mapper {
	asks := current(client)
	cached := memory.NewMemCacheClient(documents{discovery.NewDiscoveryClient(asks), asks, reading})
	return &Mapper{deferred: restmapper.NewDeferredDiscoveryRESTMapper(cached), reading: reading}
}

func keyOf(gk schema.GroupKind, versions []string) mappingKey {
	return mappingKey{gk, strings.Join(versions, ",")}
}

// due is true when it is time to read the resources again, and it is done by
// who is told so.
func (m *Mapper) due(err error) bool {
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

// lookUp retries a mapping once if the resources should be discovered again.
func lookUp[T any](m *Mapper, mapping func() (T, error)) (found T, err error) {
	guarded := func() error {
		return m.reading.Guard(func() (err error) { found, err = mapping(); return err })
	}
	err = guarded()
	if m.due(err) {
		m.deferred.Reset()
		err = guarded()
	}
	return found, err
}

// KindFor is as meta.RESTMapper has it.
func (m *Mapper) KindFor(r schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return lookUp(m, func() (schema.GroupVersionKind, error) { return m.deferred.KindFor(r) })
}

// KindsFor is as meta.RESTMapper has it.
func (m *Mapper) KindsFor(r schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	return lookUp(m, func() ([]schema.GroupVersionKind, error) { return m.deferred.KindsFor(r) })
}

// ResourceFor is as meta.RESTMapper has it.
func (m *Mapper) ResourceFor(r schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	return lookUp(m, func() (schema.GroupVersionResource, error) { return m.deferred.ResourceFor(r) })
}

// ResourcesFor is as meta.RESTMapper has it.
func (m *Mapper) ResourcesFor(r schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	return lookUp(m, func() ([]schema.GroupVersionResource, error) { return m.deferred.ResourcesFor(r) })
}

// RESTMapping is as meta.RESTMapper has it.
func (m *Mapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	return lookUp(m, func() (*meta.RESTMapping, error) { return m.deferred.RESTMapping(gk, versions...) })
}

// RESTMappings answers what was found before from memory: it is called for each reconcile of each autoscaler, and the library
// goes through all kinds each time. The answer is shared: do not write to it.
func (m *Mapper) RESTMappings(gk schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
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

// Known returns what RESTMappings answered to the same question before; nil if it may have to ask the cluster. The answer is
// shared: do not write to it.
func (m *Mapper) Known(gk schema.GroupKind, versions ...string) []*meta.RESTMapping {
	known, _ := m.known(keyOf(gk, versions))
	return known
}

func (m *Mapper) known(key mappingKey) (found []*meta.RESTMapping, reading int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.found[key], m.readings
}

// keep keeps what was found in a reading, unless there was another one meanwhile.
func (m *Mapper) keep(key mappingKey, found []*meta.RESTMapping, reading int) {
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

// ResourceSingularizer is as meta.RESTMapper has it.
func (m *Mapper) ResourceSingularizer(resource string) (string, error) {
	return m.deferred.ResourceSingularizer(resource)
}

// current is a client that is always the present one.
type current func() rest.Interface

var _ rest.Interface = current(nil)

func (c current) GetRateLimiter() flowcontrol.RateLimiter { return c().GetRateLimiter() }
func (c current) Verb(verb string) *rest.Request          { return c().Verb(verb) }
func (c current) Post() *rest.Request                     { return c().Post() }
func (c current) Put() *rest.Request                      { return c().Put() }
func (c current) Patch(t types.PatchType) *rest.Request   { return c().Patch(t) }
func (c current) Get() *rest.Request                      { return c().Get() }
func (c current) Delete() *rest.Request                   { return c().Delete() }
func (c current) APIVersion() schema.GroupVersion         { return c().APIVersion() }
