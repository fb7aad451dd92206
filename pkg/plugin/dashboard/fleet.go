// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	membersv1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
)

// snapshot is what the page knows before it asks for one autoscaler. Times are in milliseconds since 1970.
type snapshot struct {
	Now int64 `json:"now"`
	// Since is when this began to be watched.
	Since int64 `json:"since"`
	// Hub is the address of the API server.
	Hub string `json:"hub"`
	// Reader is who reads a page that many read; nil: it is the reader's own.
	Reader *reader `json:"reader,omitempty"`
	// Loading are the plurals of kinds that were not listed yet.
	Loading []string `json:"loading"`
	// Notices say what is not shown, and why.
	Notices     []notice `json:"notices"`
	Members     []member `json:"members"`
	Autoscalers []row    `json:"autoscalers"`
}

// reader is one of many.
type reader struct {
	Name string `json:"name"`
	// Login: there is one, which can be ended.
	Login bool `json:"login"`
}

// notice is about a kind that is not shown, or only in part.
type notice struct {
	About string `json:"about"`
	Text  string `json:"text"`
}

// member is one registered cluster.
type member struct {
	Name     string `json:"name"`
	State    string `json:"state"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"message,omitempty"`
	Standing string `json:"standing,omitempty"`
	Pods     int32  `json:"pods"`
	// Answered is when it answered last; 0: never.
	Answered int64    `json:"answered,omitempty"`
	Since    int64    `json:"since,omitempty"`
	Version  string   `json:"version,omitempty"`
	Address  string   `json:"address,omitempty"`
	Source   string   `json:"source,omitempty"`
	APIs     []string `json:"apis,omitempty"`
	Hub      bool     `json:"hub,omitempty"`
	// Offset is its clock less the adapter's, in milliseconds.
	Offset *int64 `json:"offset,omitempty"`
	// Troubles are what is wrong with a member beside its state.
	Troubles []string `json:"troubles,omitempty"`
}

func memberOf(m *membersv1alpha1.Member) member {
	s := &m.Status
	return member{
		Name: m.Name, State: string(s.State), Reason: s.Reason, Message: s.Message, Standing: s.Standing, Pods: s.MeasuredPods,
		Answered: millis(s.LastAnswerTime), Since: millis(s.Since), Version: s.KubernetesVersion, Address: s.Address,
		Source: sourceOf(&s.Source), APIs: s.MetricsAPIs, Hub: s.Hub, Offset: s.ClockOffsetMilliseconds, Troubles: troublesOf(s),
	}
}

func sourceOf(s *membersv1alpha1.MemberSource) string {
	name := s.ObjectName
	if s.Namespace != "" {
		name = s.Namespace + "/" + name
	}
	return strings.TrimSpace(s.Kind + " " + name)
}

func troublesOf(s *membersv1alpha1.MemberStatus) (all []string) {
	if len(s.MissingRights) > 0 {
		all = append(all, "The credential that reads lacks rights: "+strings.Join(s.MissingRights, ", ")+".")
	}
	v := s.ControllerManager
	switch {
	case v == nil:
	case v.Stale:
		all = append(all, "No controller-manager is at work, so whether it is reached by the credential that writes is not known.")
	case len(v.MissingRights) > 0:
		all = append(all, "The credential that writes lacks rights: "+strings.Join(v.MissingRights, ", ")+".")
	case v.State != membersv1alpha1.MemberReady && s.State == membersv1alpha1.MemberReady:
		all = append(all, "To the controller-manager it is "+string(v.State)+", "+v.Reason+": "+v.Message)
	}
	if s.State == membersv1alpha1.MemberReady && v != nil && !slices.Contains(s.Rights, "write") && len(all) == 0 {
		all = append(all, "Nothing is written there: no credential that writes works.")
	}
	return all
}

// millis is 0 for a time that there is not.
func millis(t *metav1.Time) int64 {
	if t == nil || t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
