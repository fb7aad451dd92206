// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetscale/fleetscale/pkg/sizes"
)

// VPACheckpoint is what a VerticalPodAutoscaler has collected of one container.
type VPACheckpoint struct {
	VPA, Container string
	Use            *sizes.Use
}

// FromVPA reads a VerticalPodAutoscalerCheckpoint of version v3. It weighs no more than what is measured here.
func FromVPA(object *unstructured.Unstructured, now time.Time) (VPACheckpoint, error) {
	var c VPACheckpoint
	text, err := json.Marshal(object.Object)
	if err != nil {
		return c, fmt.Errorf("VerticalPodAutoscalerCheckpoint %s/%s: %w", object.GetNamespace(), object.GetName(), err)
	}
	var stored struct {
		Spec   struct{ VPAObjectName, ContainerName string }
		Status sizes.Checkpoint
	}
	if err = json.Unmarshal(text, &stored); err == nil {
		c.VPA, c.Container = stored.Spec.VPAObjectName, stored.Spec.ContainerName
		c.Use, err = sizes.Load(stored.Status, now)
	}
	if err == nil {
		c.Use.Normalize()
	}
	if err != nil {
		return VPACheckpoint{}, fmt.Errorf("VerticalPodAutoscalerCheckpoint %s/%s of container %q: %w",
			object.GetNamespace(), object.GetName(), stored.Spec.ContainerName, err)
	}
	return c, nil
}

// Import takes over what a VerticalPodAutoscaler has collected in a cluster, if nothing is known of that container there. It
// reports whether it did.
func (s *Store) Import(owner Owner, cluster string, c VPACheckpoint) (bool, error) {
	m, err := s.locked(owner)
	if err != nil {
		return false, fmt.Errorf("importing container %s in cluster %s for %v: %w", c.Container, cluster, owner, err)
	}
	defer m.mu.Unlock()
	if m.room().uses <= 0 {
		return false, fmt.Errorf("importing container %s in cluster %s for %v: %d containers are kept already, and no more",
			c.Container, cluster, owner, mostUses)
	}
	share := m.shareOf(cluster)
	place, found := share.find(c.Container)
	if found {
		return false, nil
	}
	share.containers = slices.Insert(share.containers, place, &container{name: c.Container, use: *c.Use})
	m.dirty = true
	return true, nil
}
