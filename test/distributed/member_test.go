// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"
	"maps"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

const (
	namespace = "shop"
	name      = "web"
	fleetUID  = types.UID("3f2b")
)

// target is the workload.
var target = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name}

// trouble is what is wrong with a member, as the hub sees it.
type trouble int

const (
	well     trouble = iota
	away             // known to be silent: nothing can be asked
	hanging          // nothing is answered, which nobody knows before asking
	podsLost         // its Pods cannot be listed
	hpasLost         // its autoscalers cannot be listed
)

// member is one cluster: what its API server stores, and what its nodes do.
type member struct {
	fleet  *fleet
	name   string
	labels map[string]string
	// provider and region are what its registration says.
	provider, region string
	taint            corev1.TaintEffect // empty: none

	hpas     cache.Indexer
	old      []*autoscalingv2.HorizontalPodAutoscaler // as they were listed before the last write; nil: the listing keeps up
	version  string                                   // in which they are written
	workload *deployment
	pods     []*pod
	made     int // objects so far

	room       int // Pods that its nodes take
	roomKnown  bool
	startup    time.Duration
	load       int64 // of its own, if the load is not shared
	trouble    trouble
	refuses    bool // writes
	balks      bool // writes of the workload's scale
	lags       bool // its listing will not show yet what the next reconcile writes
	registered bool
	selected   bool // by the affinity

	autoscaler *autoscaler
	applied    map[string]metav1.ObjectMeta // by name: the metadata of our last apply
	touched    bool                         // an autoscaler was written since the controller reconciled
	gone       []*autoscalingv2.HorizontalPodAutoscaler
}

// deployment is the workload in a member.
type deployment struct {
	uid      types.UID
	version  int
	replicas int32
	labels   map[string]string
}

func (m *member) nextUID() types.UID {
	m.made++
	return types.UID(fmt.Sprintf("%s-%d", m.name, m.made))
}

// deploy makes the workload, as a person does.
func (m *member) deploy(n int32) {
	m.workload = &deployment{uid: m.nextUID(), version: 1, replicas: n}
}

// stored are all autoscalers, by name.
func (m *member) stored() map[string]*autoscalingv2.HorizontalPodAutoscaler {
	all := map[string]*autoscalingv2.HorizontalPodAutoscaler{}
	for _, item := range m.hpas.List() {
		hpa := item.(*autoscalingv2.HorizontalPodAutoscaler)
		all[hpa.Name] = hpa
	}
	return all
}

// ours is the autoscaler that the hub governs; nil: there is none.
func (m *member) ours() *autoscalingv2.HorizontalPodAutoscaler {
	var found *autoscalingv2.HorizontalPodAutoscaler
	for _, hpa := range m.stored() {
		if isOurs(hpa) {
			if found != nil {
				m.fleet.judge.fail("%s has two autoscalers of ours", m.name)
			}
			found = hpa
		}
	}
	return found
}

func isOurs(hpa *autoscalingv2.HorizontalPodAutoscaler) bool {
	return hpa.Labels[v1alpha1.ManagedByLabel] == string(fleetUID)
}

// rival is an autoscaler of the workload that is not ours; nil: there is none.
func (m *member) rival() *autoscalingv2.HorizontalPodAutoscaler {
	for _, hpa := range m.stored() {
		if !isOurs(hpa) && hpa.Spec.ScaleTargetRef == target {
			return hpa
		}
	}
	return nil
}

// bounds of our autoscaler; both 0: there is none.
func (m *member) bounds() (lower, upper int32) {
	if hpa := m.ours(); hpa != nil {
		return *hpa.Spec.MinReplicas, hpa.Spec.MaxReplicas
	}
	return 0, 0
}

// held: it may not scale down.
func (m *member) held() bool {
	hpa := m.ours()
	if hpa == nil || hpa.Spec.Behavior == nil || hpa.Spec.Behavior.ScaleDown == nil || hpa.Spec.Behavior.ScaleDown.SelectPolicy == nil {
		return false
	}
	return *hpa.Spec.Behavior.ScaleDown.SelectPolicy == autoscalingv2.DisabledPolicySelect
}

func (m *member) replicas() int32 {
	if m.workload == nil {
		return 0
	}
	return m.workload.replicas
}

func (m *member) pending() (n int32) {
	for _, p := range m.pods {
		if !p.isBound() {
			n++
		}
	}
	return n
}

// inSight: the hub can read all that it asks for. Where the workload is missing, it asks for no Pods.
func (m *member) inSight() bool {
	return m.registered && (m.trouble == well || m.trouble == podsLost && m.workload == nil)
}

// put stores an autoscaler.
func (m *member) put(hpa *autoscalingv2.HorizontalPodAutoscaler) {
	must(m.hpas.Add(hpa))
}

func (m *member) drop(hpa *autoscalingv2.HorizontalPodAutoscaler) {
	must(m.hpas.Delete(hpa))
	delete(m.applied, hpa.Name)
	m.gone = append(m.gone, hpa)
	m.touched = true
}

// laidOver returns what is stored after a server-side apply: what was applied before, and no longer is, goes.
func laidOver(stored, former, wanted map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, stored)
	for key := range former {
		delete(all, key)
	}
	maps.Copy(all, wanted)
	return all
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
