// SPDX-License-Identifier: Apache-2.0

package memberapi

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/grants"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/memberview"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// Known is what is known of a registered cluster at a moment.
type Known struct {
	Name   string
	Labels map[string]string // shared, and never written to
	Source member.Source
	State  member.State
	// Standing is how it takes part for those who tolerate no taint.
	Standing taints.Standing
	IsHub    bool
	Traits   member.Traits
	// ClockOffset is its time minus ours; nil: not known.
	ClockOffset *time.Duration
	// MeasuredPods are those whose usage is in memory.
	MeasuredPods int
	// Manager is what the controller-manager has published; nil: nothing. Stale: nobody has renewed it lately.
	Manager      *memberview.View
	ManagerStale bool
}

// What a Member holds at most, in characters.
const (
	mostMessage = 300
	mostAddress = 270
)

// Rights.
const (
	rightRead  = "read"
	rightWrite = "write"
)

// memberOf is the object without its resource version.
func memberOf(k Known) *v1alpha1.Member {
	m := &v1alpha1.Member{
		ObjectMeta: metav1.ObjectMeta{Name: k.Name, UID: k.Source.Ref.UID, Labels: k.Labels},
		Status: v1alpha1.MemberStatus{
			State:   memberview.StateOf(k.State),
			Reason:  string(k.State.Reason),
			Message: fleet.Printable(k.State.Message, mostMessage),
			Since:   moment(k.State.Since),
			Source: v1alpha1.MemberSource{
				Name: k.Source.Name, APIVersion: k.Source.Ref.APIVersion, Kind: k.Source.Ref.Kind,
				Namespace: k.Source.Ref.Namespace, ObjectName: k.Source.Ref.Name,
			},
			Address:           fleet.Printable(k.Source.Address, mostAddress),
			Hub:               k.IsHub,
			KubernetesVersion: k.Traits.Version,
			MetricsAPIs:       k.Traits.MetricsAPIs,
			MeasuredPods:      int32(k.MeasuredPods),
			LastAnswerTime:    moment(k.State.LastSuccess),
			Rights:            rightsOf(k),
			MissingRights:     missing(k.State.Accepted(), k.Traits.MissingRights),
			ControllerManager: managerView(k.Manager, k.ManagerStale),
		},
	}
	if k.Standing != taints.Free {
		m.Status.Standing = k.Standing.String()
	}
	if k.ClockOffset != nil {
		m.Status.ClockOffsetMilliseconds = new(k.ClockOffset.Milliseconds())
	}
	return m
}

func rightsOf(k Known) (rights []string) {
	if k.State.Accepted() && len(k.Traits.MissingRights) == 0 {
		rights = append(rights, rightRead)
	}
	if k.Manager != nil && k.Manager.Accepted && !k.ManagerStale && len(k.Manager.MissingRights) == 0 {
		rights = append(rights, rightWrite)
	}
	return rights
}

// missing are the rights that a credential lacks: of one that is refused that is not known.
func missing(accepted bool, rights []string) []string {
	if !accepted {
		return nil
	}
	return grants.Few(rights, grants.MostTexts)
}

func managerView(v *memberview.View, stale bool) *v1alpha1.ControllerManagerView {
	if v == nil {
		return nil
	}
	return &v1alpha1.ControllerManagerView{
		State: v.State, Reason: v.Reason, Message: v.Message, Since: moment(v.Since), TokenExpiry: moment(v.TokenExpiry),
		MissingRights: missing(v.Accepted, v.MissingRights), Stale: stale,
	}
}

// moment is nil for no time.
func moment(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t.Truncate(time.Second)}
}

// lasting is the member without what changes all the time: a change of that alone is told by lists only.
func lasting(m *v1alpha1.Member) *v1alpha1.Member {
	kept := *m
	kept.ResourceVersion = ""
	kept.Status.MeasuredPods, kept.Status.LastAnswerTime, kept.Status.ClockOffsetMilliseconds = 0, nil, nil
	return &kept
}
