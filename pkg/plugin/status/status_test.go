// SPDX-License-Identifier: Apache-2.0

package status

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/plugin"
)

func member(name string, state v1alpha1.MemberState, pods int32, rights ...string) v1alpha1.Member {
	return v1alpha1.Member{
		TypeMeta:   metav1.TypeMeta{APIVersion: "members.fleetscale.io/v1alpha1", Kind: "Member"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     v1alpha1.MemberStatus{State: state, MeasuredPods: pods, Rights: rights},
	}
}

func TestSums(t *testing.T) {
	drained := member("d", v1alpha1.MemberSilent, 3, "read", "write")
	drained.Status.Standing = "Drained"
	unrenewed := member("a", v1alpha1.MemberReady, 0, "read")
	unrenewed.Status.ControllerManager = &v1alpha1.ControllerManagerView{Stale: true}
	reader, writer := member("r", v1alpha1.MemberReady, 0, "write"), member("w", v1alpha1.MemberReady, 0, "read")
	reader.Status.MissingRights = []string{"list pods.metrics.k8s.io"}
	writer.Status.ControllerManager = &v1alpha1.ControllerManagerView{MissingRights: []string{"list pods"}}
	silent := member("s", v1alpha1.MemberSilent, 0, "write")
	silent.Status.MissingRights = reader.Status.MissingRights
	for want, members := range map[string][]v1alpha1.Member{
		"3 members: 2 ready, 1 silent, 2 with missing rights; 0 Pods measured": {reader, writer, silent},
		"0 members: ; 0 Pods measured":                                         {},
		"1 member: 1 ready; 7 Pods measured":                                   {member("a", v1alpha1.MemberReady, 7, "read", "write")},
		"1 member: 1 joining; 0 Pods measured":                                 {member("a", v1alpha1.MemberJoining, 0)},
		"5 members: 2 ready, 1 silent, 1 joining, 1 spare, 1 drained, 1 not written to; 13 Pods measured": {
			member("a", v1alpha1.MemberReady, 7, "read", "write"), member("b", v1alpha1.MemberReady, 3, "read"), drained,
			member("e", v1alpha1.MemberJoining, 0), member("f", v1alpha1.MemberSpare, 0, "read"),
		},
		"2 members: 2 ready, 1 not written to, 1 of which no controller-manager tells; 3 Pods measured": {
			unrenewed, member("b", v1alpha1.MemberReady, 3, "read"),
		},
	} {
		if got := sums(members); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// serve is a hub that has these members.
func serve(t *testing.T, members ...v1alpha1.Member) *rest.Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		name := strings.Trim(strings.TrimPrefix(r.URL.Path, "/apis/members.fleetscale.io/v1alpha1/members"), "/")
		var answer any
		list := v1alpha1.MemberList{}
		for _, m := range members {
			if name == "" || name == m.Name {
				list.Items = append(list.Items, m)
			}
		}
		switch {
		case name != "" && len(list.Items) == 0:
			w.WriteHeader(http.StatusNotFound)
			answer = metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
				Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound,
				Details: &metav1.StatusDetails{Group: v1alpha1.GroupName, Kind: "members", Name: name}}
		case strings.Contains(r.Header.Get("Accept"), "as=Table") && r.URL.Query().Get("includeObject") == "Object":
			table := metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{
				{Name: "Name", Type: "string"}, {Name: "State", Type: "string"}, {Name: "Message", Type: "string", Priority: 1},
			}}
			for i := range list.Items {
				text, _ := json.Marshal(list.Items[i])
				table.Rows = append(table.Rows, metav1.TableRow{
					Cells: []any{list.Items[i].Name, list.Items[i].Status.State, "words"}, Object: runtime.RawExtension{Raw: text},
				})
			}
			answer = table
		default:
			answer = list
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

// show returns what is printed in that format.
func show(t *testing.T, hub *rest.Config, name, format string) (string, error) {
	t.Helper()
	var output plugin.Output
	cmd := &cobra.Command{}
	output.AddFlag(cmd)
	if err := cmd.Flags().Set("output", format); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := Run(t.Context(), Options{Hub: hub, Name: name, Output: &output, Out: &out})
	return out.String(), err
}

func TestRun(t *testing.T) {
	hub := serve(t, member("east", v1alpha1.MemberReady, 7, "read", "write"), member("west", v1alpha1.MemberSilent, 3, "read"))
	for _, tc := range []struct{ name, format, want string }{
		{"", "table", "NAME   STATE\neast   Ready\nwest   Silent\n\n2 members: 1 ready, 1 silent; 10 Pods measured\n"},
		{"", "wide", "NAME   STATE    MESSAGE\neast   Ready    words\nwest   Silent   words\n\n2 members: 1 ready, 1 silent; 10 Pods measured\n"},
		{"west", "table", "NAME   STATE\nwest   Silent\n"},
	} {
		got, err := show(t, hub, tc.name, tc.format)
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%s %s: %v (-want +got):\n%s", tc.format, tc.name, err, diff)
		}
	}
	for _, format := range []string{"json", "yaml"} {
		text, err := show(t, hub, "", format)
		var list v1alpha1.MemberList
		if err != nil || yaml.UnmarshalStrict([]byte(text), &list) != nil || list.Kind != "MemberList" || len(list.Items) != 2 ||
			list.Items[1].Status.State != v1alpha1.MemberSilent {
			t.Errorf("%s: %v %s", format, err, text)
		}
		text, err = show(t, hub, "west", format)
		var one v1alpha1.Member
		if err != nil || yaml.UnmarshalStrict([]byte(text), &one) != nil || one.Kind != "Member" || one.Name != "west" {
			t.Errorf("one as %s: %v %s", format, err, text)
		}
	}
	names, err := Names(t.Context(), hub)
	if diff := cmp.Diff([]string{"east", "west"}, names); diff != "" || err != nil {
		t.Errorf("completion: %v (-want +got):\n%s", err, diff)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	const absent = "there is no member \"north\"; `kubectl fleetscale status` lists them"
	if _, err := show(t, serve(t), "north", "table"); err == nil || err.Error() != absent {
		t.Errorf("a member that is not there: %v", err)
	}
	for code, want := range map[int]string{
		http.StatusNotFound:           "the hub does not serve members.fleetscale.io: is this the hub (--context)?",
		http.StatusServiceUnavailable: "is the metrics adapter running?",
		http.StatusForbidden:          "the ClusterRole fleetscale-members-reader has that right",
		http.StatusUnauthorized:       "listing members: ",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			fmt.Fprint(w, "404 page not found")
		}))
		_, err := show(t, &rest.Config{Host: server.URL}, "east", "table")
		server.Close()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v, want %q", code, err, want)
		}
	}
}
