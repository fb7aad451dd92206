// SPDX-License-Identifier: Apache-2.0

package status

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// refusal is what an API server says of a request that it refuses.
func refusal(code int, reason string) string {
	return fmt.Sprintf(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": %d, "reason": %q, "message": "it is %s"}`,
		code, reason, reason)
}

// answers is a hub that answers with these texts by the last part of the path; refusals have their code before them.
func answers(t *testing.T, texts map[string]string) hub {
	t.Helper()
	return hubAt(t, func(w http.ResponseWriter, r *http.Request) {
		key := path.Base(r.URL.Path)
		if next := r.URL.Query().Get("continue"); next != "" {
			key += "?" + next
		}
		text, found := texts[key]
		if !found {
			text = refusal(http.StatusNotFound, "NotFound")
		}
		var code int
		if _, err := fmt.Sscanf(text[max(strings.Index(text, `"code"`), 0):], `"code": %d`, &code); err == nil {
			w.WriteHeader(code)
		}
		fmt.Fprint(w, text)
	})
}

const oneFails = `{"items": [{"metadata": {"namespace": "shop", "name": "a"}, "status": {"summary": {"state": "Failing"}}}]}`

// An autoscaler without a status does not get that of one on the page before.
func TestPagesAreApart(t *testing.T) {
	all, _, err := autoscalers(t.Context(), answers(t, map[string]string{
		"federatedhpas":   `{"metadata": {"continue": "2"}, ` + oneFails[1:],
		"federatedhpas?2": `{"metadata": {}, "items": [{"metadata": {"name": "b"}}]}`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	fleettest.Same(t, "counts", "2 FederatedHPAs: 1 failing, 1 not reconciled yet", strings.Join(counts(all), "\n"))
}

// What can be listed is shown, whatever else cannot.
func TestAKindThatCannotBeListed(t *testing.T) {
	const table = "\nKIND           NAMESPACE   NAME   STATE     WHY\nFederatedHPA   shop        a      Failing   \n"
	for name, tc := range map[string]struct{ cron, want, wantErr string }{
		"the hub has none":      {refusal(http.StatusNotFound, "NotFound"), "", ""},
		"the caller may not":    {refusal(http.StatusForbidden, "Forbidden"), "CronFederatedHPAs are not counted: it is Forbidden\n", ""},
		"the hub cannot":        {refusal(http.StatusInternalServerError, "InternalError"), "", "listing cronfederatedhpas: it is InternalError"},
		"nobody understands it": {"[]", "", "listing cronfederatedhpas: json: "},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := printAutoscalers(t.Context(), answers(t, map[string]string{"federatedhpas": oneFails, "cronfederatedhpas": tc.cron}), &out)
			fleettest.Same(t, "printed", "1 FederatedHPA: 1 failing\n"+tc.want+table, out.String())
			if (err == nil) != (tc.wantErr == "") || err != nil && !strings.HasPrefix(err.Error(), tc.wantErr) {
				t.Errorf("error %v, want %q", err, tc.wantErr)
			}
		})
	}
}

// To decode such a quantity takes hours. Whoever may write in a namespace can store it.
func TestAnAutoscalerThatNobodyShouldDecode(t *testing.T) {
	var out bytes.Buffer
	err := printAutoscalers(t.Context(), answers(t, map[string]string{"federatedhpas": `{"items": [{"metadata": {"namespace": "shop", "name":
		"bad"}, "spec": {"metrics": [{"type": "External", "external": {"target": {"value": "1e-2147483648"}}}]}}, ` + oneFails[11:]}), &out)
	if err != nil || !strings.HasPrefix(out.String(), "2 FederatedHPAs: 1 unreadable, 1 failing\n") ||
		!strings.Contains(out.String(), "FederatedHPA   shop        bad    Unreadable   ") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// Without the metrics-adapter there are no members, but autoscalers. A hub that does not answer is asked for no more.
func TestMembersThatCannotBeRead(t *testing.T) {
	config := configOf(t, func(w http.ResponseWriter, r *http.Request) {
		switch path.Base(r.URL.Path) {
		case "members":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "federatedhpas":
			fmt.Fprint(w, oneFails)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	const table = "1 FederatedHPA: 1 failing\n\n" +
		"KIND           NAMESPACE   NAME   STATE     WHY\nFederatedHPA   shop        a      Failing   \n"
	for format, want := range map[string]string{"table": table, "json": ""} {
		got, err := show(t, config, "", format)
		if diff := cmp.Diff(want, got); diff != "" || err == nil || !strings.Contains(err.Error(), "is the metrics adapter running?") {
			t.Errorf("%s: error %v; printed (-want +got):\n%s", format, err, diff)
		}
	}
	silent := httptest.NewServer(nil)
	silent.Close()
	got, err := show(t, &rest.Config{Host: silent.URL}, "", "table")
	if err == nil || got != "" || strings.Contains(err.Error(), "federatedhpas") {
		t.Errorf("of a hub that does not answer it says %v, and prints %q", err, got)
	}
}
