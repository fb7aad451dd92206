// SPDX-License-Identifier: Apache-2.0

package memberapi

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/members/member"
	"github.com/fleetscale/fleetscale/pkg/members/memberview"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

var began = time.Date(2026, 1, 2, 3, 4, 5, 600e6, time.UTC)

// east is a member that is ready.
func east() Known {
	return Known{
		Name: "east", Labels: map[string]string{"env": "prod"},
		Source: member.Source{
			Name: "secret", Object: "east", Address: "10.0.0.1:6443",
			Ref: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "fleetscale-clusters", Name: "east", UID: "u1"},
		},
		State:       member.State{Ready: true, Reason: "Ready", Since: began, LastSuccess: began.Add(time.Minute), Contacted: true},
		Traits:      member.Traits{Version: "v1.36.2", MetricsAPIs: []string{"metrics.k8s.io", "custom.metrics.k8s.io"}},
		ClockOffset: new(130 * time.Millisecond), MeasuredPods: 1204,
		Manager: &memberview.View{State: v1alpha1.MemberReady, Reason: "Ready", Accepted: true, Since: began,
			TokenExpiry: began.Add(720 * time.Hour)},
	}
}

// silent is a member that has stopped answering.
func silent(name string, reason fleet.Reason, message string) Known {
	k := east()
	k.Name, k.Source.Object, k.Source.Ref.Name = name, name, name
	k.State = member.State{Reason: reason, Message: message, Since: began, LastSuccess: began, Contacted: true}
	return k
}

func TestMemberOf(t *testing.T) {
	second := metav1.NewTime(began.Truncate(time.Second))
	minute, month := metav1.NewTime(second.Add(time.Minute)), metav1.NewTime(second.Add(720*time.Hour))
	want := &v1alpha1.Member{
		ObjectMeta: metav1.ObjectMeta{Name: "east", UID: "u1", Labels: map[string]string{"env": "prod"}},
		Status: v1alpha1.MemberStatus{
			State: "Ready", Reason: "Ready", Since: &second,
			Source:  v1alpha1.MemberSource{Name: "secret", APIVersion: "v1", Kind: "Secret", Namespace: "fleetscale-clusters", ObjectName: "east"},
			Address: "10.0.0.1:6443", KubernetesVersion: "v1.36.2", MetricsAPIs: []string{"metrics.k8s.io", "custom.metrics.k8s.io"},
			MeasuredPods: 1204, LastAnswerTime: &minute, ClockOffsetMilliseconds: new(int64(130)), Rights: []string{"read", "write"},
			ControllerManager: &v1alpha1.ControllerManagerView{State: "Ready", Reason: "Ready", Since: &second, TokenExpiry: &month},
		},
	}
	fleettest.Same(t, "", want, memberOf(east()))
}

func TestStatesAndRights(t *testing.T) {
	for name, tc := range map[string]struct {
		state  member.State
		writes *memberview.View
		want   v1alpha1.MemberState
		rights string
	}{
		"ready, and nobody writes":       {member.State{Ready: true, Reason: "Ready"}, nil, "Ready", "read"},
		"ready, and the writer is known": {member.State{Ready: true, Reason: "Ready"}, &memberview.View{Accepted: true}, "Ready", "read,write"},
		"ready, and the writer is not":   {member.State{Ready: true, Reason: "Ready"}, &memberview.View{}, "Ready", "read"},
		"silent by time":                 {member.State{Reason: "Timeout"}, &memberview.View{Accepted: true}, "Silent", "read,write"},
		"silent by refusal":              {member.State{Reason: "Forbidden"}, nil, "Silent", ""},
		"quarantined":                    {member.State{Reason: "Quarantined"}, nil, "Silent", "read"},
		"joining":                        {member.State{Reason: "Timeout", Joining: true}, nil, "Joining", ""},
		"a second registration":          {member.State{Reason: "Duplicate"}, nil, "Spare", ""},
		"a second one that is joining":   {member.State{Reason: "Duplicate", Joining: true}, nil, "Spare", ""},
		"a registration without a token": {member.State{Reason: "MissingCredentials"}, nil, "Silent", ""},
	} {
		t.Run(name, func(t *testing.T) {
			k := east()
			k.State, k.Manager = tc.state, tc.writes
			got := memberOf(k).Status
			if rights := strings.Join(got.Rights, ","); got.State != tc.want || rights != tc.rights {
				t.Errorf("%s with %q, want %s with %q", got.State, rights, tc.want, tc.rights)
			}
		})
	}
}

// A credential that is accepted and lacks rights does not work; what one lacks that is refused is not known.
func TestMissingRights(t *testing.T) {
	lacks, ready := []string{"list pods", "get nodes", "and 3 more"}, member.State{Ready: true, Reason: "Ready"}
	for name, tc := range map[string]struct {
		state  member.State
		reader []string
		writes *memberview.View
		stale  bool
		rights string
		// missing are of the reader and the writer.
		missing       [2][]string
		cell, message string
	}{
		"of the reader": {ready, lacks, &memberview.View{Accepted: true}, false, "write", [2][]string{lacks, nil},
			"read (5 missing),write", "reading: the cluster denies list pods, get nodes, and 3 more"},
		"of the writer": {ready, nil, &memberview.View{Accepted: true, MissingRights: lacks[:1]}, false, "read",
			[2][]string{nil, lacks[:1]}, "read,write (1 missing)", "writing: the cluster denies list pods"},
		"of both": {ready, lacks[:2], &memberview.View{Accepted: true, MissingRights: lacks[:1]}, false, "", [2][]string{lacks[:2], lacks[:1]},
			"read (2 missing),write (1 missing)", "reading: the cluster denies list pods, get nodes"},
		"of a writer of which nobody tells": {ready, nil, &memberview.View{Accepted: true, MissingRights: lacks[:1]}, true, "read",
			[2][]string{nil, lacks[:1]}, "read,<unknown>", "writing: no controller-manager has told of it for minutes: is one running?"},
		"of a writer that does not answer": {ready, nil,
			&memberview.View{Accepted: true, Message: "no answer", MissingRights: lacks[:1]}, false, "read",
			[2][]string{nil, lacks[:1]}, "read,write (1 missing)", "writing: no answer"},
		"of a writer that is refused": {ready, nil, &memberview.View{MissingRights: lacks[:1]}, false, "read", [2][]string{}, "read", ""},
		"of a reader that is refused": {member.State{Reason: "Forbidden", Message: "401"}, lacks, nil, false, "", [2][]string{}, "", "401"},
		"of one that is silent": {member.State{Reason: "Timeout", Message: "late"}, lacks, nil, false, "", [2][]string{lacks, nil},
			"read (5 missing)", "late"},
	} {
		t.Run(name, func(t *testing.T) {
			k := east()
			k.State, k.Traits.MissingRights, k.Manager, k.ManagerStale = tc.state, tc.reader, tc.writes, tc.stale
			got := memberOf(k).Status
			missing := [2][]string{got.MissingRights, nil}
			if v := got.ControllerManager; v != nil {
				missing[1] = v.MissingRights
			}
			fleettest.Same(t, "missing", tc.missing, missing)
			if rights := strings.Join(got.Rights, ","); rights != tc.rights || rightsCell(&got) != tc.cell || messageCell(&got) != tc.message {
				t.Errorf("rights %q, shown as %q with %q, want %q, %q, %q", rights, rightsCell(&got), messageCell(&got), tc.rights, tc.cell,
					tc.message)
			}
		})
	}
}

// What a member says may be shown on any terminal, and is short.
func TestMessagesOfMembersArePrintable(t *testing.T) {
	got := memberOf(silent("east", "BadAnswer", "\x1b[2Jboom\n"+strings.Repeat("ä", 1000))).Status.Message
	if n := utf8.RuneCountInString(got); n != 300 || !strings.HasPrefix(got, "\ufffd[2Jboom\ufffdää") || !strings.HasSuffix(got, "ä…") {
		t.Errorf("%d characters: %q", n, got)
	}
}

func TestStanding(t *testing.T) {
	for standing, want := range map[taints.Standing]string{taints.Free: "", taints.Cordoned: "Cordoned", taints.Drained: "Drained"} {
		k := east()
		k.Standing = standing
		if got := memberOf(k).Status.Standing; got != want {
			t.Errorf("%v is shown as %q, want %q", standing, got, want)
		}
	}
}

func TestCells(t *testing.T) {
	now := began.Add(69 * time.Second)
	west := silent("west", "Timeout", "no answer within 5s")
	west.Standing, west.State.LastSuccess, west.Manager = taints.Drained, now.Add(-4*time.Minute), nil
	fresh := Known{Name: "new", Source: member.Source{Name: "capi", Ref: corev1.ObjectReference{Name: "new"}},
		State: member.State{Joining: true, Reason: "NotContacted"}}
	unwritten := east()
	unwritten.Manager = &memberview.View{State: "Silent", Reason: "MissingCredentials", Message: "no key kubeconfig", TokenExpiry: began}
	unrenewed := east()
	unrenewed.ManagerStale = true
	for name, tc := range map[string]struct {
		known Known
		want  []any
	}{
		"ready": {east(), []any{"east", "Ready", "", "secret/east", "v1.36.2", "metrics,custom", int64(1204), "9s", "+0.1s", "read,write",
			"29d", ""}},
		"silent": {west, []any{"west", "Silent,Drained", "Timeout", "secret/west", "v1.36.2", "metrics,custom", int64(1204), "4m", "+0.1s",
			"read", "<unknown>", "no answer within 5s"}},
		"joining": {fresh, []any{"new", "Joining", "NotContacted", "capi/new", "<unknown>", "<unknown>", int64(0), "<never>", "<unknown>", "",
			"<unknown>", ""}},
		"nobody can write": {unwritten, []any{"east", "Ready", "", "secret/east", "v1.36.2", "metrics,custom", int64(1204), "9s", "+0.1s", "read",
			"expired", "writing: no key kubeconfig"}},
		"nobody says who can write": {unrenewed, []any{"east", "Ready", "", "secret/east", "v1.36.2", "metrics,custom", int64(1204), "9s",
			"+0.1s", "read,<unknown>", "<unknown>", "writing: no controller-manager has told of it for minutes: is one running?"}},
	} {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "", tc.want, cells(memberOf(tc.known), now))
		})
	}
	if got, want := len(cells(memberOf(east()), now)), len(columns()); got != want {
		t.Errorf("%d cells in %d columns", got, want)
	}
}
