// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"
)

const (
	autoscalers = "/apis/autoscaling.karmada.io/v1alpha1/namespaces/shop/"
	officeRules = `{apiVersion: autoscaling.karmada.io/v1alpha1, kind: CronFederatedHPA, metadata: {}, spec: {
  scaleTargetRef: {apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, name: web}, rules: [
    {name: morning, schedule: "30 8 * * *", timeZone: Asia/Shanghai, targetMinReplicas: 5},
    {name: evening, schedule: "0 19 * * *", timeZone: Asia/Shanghai, targetMinReplicas: 1, suspend: true},
    {name: noon, schedule: "0 12 * * *", targetMaxReplicas: 9}]}}`
)

func TestCronNext(t *testing.T) {
	hub := &objects{}
	hub.hold(t, autoscalers+"cronfederatedhpas/office", officeRules)
	kubeconfig := hub.serve(t)
	for name, tc := range map[string]struct {
		args []string
		want []string // in the output or, if it begins with an exclamation mark, not in it
		err  string
	}{
		"by default":     {nil, []string{"NAME", "morning", "minReplicas 5", "suspended", "UTC is assumed", "!NAMESPACE"}, ""},
		"a week":         {[]string{"office", "--days", "7"}, []string{"6d"}, ""},
		"three of each":  {[]string{"--count", "3", "-o", "json"}, []string{`"rule": "noon"`, `"timeZone": "Asia/Shanghai"`}, ""},
		"everywhere":     {[]string{"-A"}, []string{"NAMESPACE", "shop"}, ""},
		"no such name":   {[]string{"other"}, nil, "getting CronFederatedHPA shop/other: "},
		"too many":       {[]string{"--count", "1001"}, nil, "--count: must be from 0 to 1000, got 1001"},
		"too long":       {[]string{"--days", "-1"}, nil, "--days: must be from 0 to 3660, got -1"},
		"a name nowhere": {[]string{"office", "-A"}, nil, "--all-namespaces: "},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := run(t, append([]string{"cron", "next", "--kubeconfig", kubeconfig}, tc.args...)...)
			if (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("error = %v, want %q", err, tc.err)
			}
			for _, want := range tc.want {
				if absent := strings.TrimPrefix(want, "!"); strings.Contains(out, absent) == (absent != want) {
					t.Errorf("want %q in:\n%s", want, out)
				}
			}
		})
	}
	if out, err := run(t, "__complete", "cron", "next", "--kubeconfig", kubeconfig, "o"); err != nil || !strings.Contains(out, "office") {
		t.Errorf("error %v, and names are not offered:\n%s", err, out)
	}
}
