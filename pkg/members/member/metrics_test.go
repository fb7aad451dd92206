// SPDX-License-Identifier: Apache-2.0

package member

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
	"github.com/fleetscale/fleetscale/pkg/taints"
)

// withoutNumbers is what is exported, a line for each series, without values that vary.
func series(t *testing.T, reg *prometheus.Registry) string {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatalf("gathering: %v", err)
	}
	var lines []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			line := strings.TrimPrefix(f.GetName(), "fleetscale_")
			for _, l := range m.GetLabel() {
				line += fmt.Sprintf(" %s=%s", l.GetName(), l.GetValue())
			}
			if m.GetGauge() != nil && !strings.HasSuffix(f.GetName(), "_seconds") {
				line += fmt.Sprintf(" %v", m.GetGauge().GetValue())
			}
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// annotated is of a registration with that annotation, which says yes.
func annotated(annotation string) func(*corev1.Secret) {
	return func(s *corev1.Secret) { metav1.SetMetaDataAnnotation(&s.ObjectMeta, annotation, taints.Yes) }
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	hub, east, west := memberstest.NewHub(t), newFakeMember(t, "1"), newFakeMember(t, "2")
	reg := prometheus.NewPedanticRegistry()
	metrics := NewMetrics(reg)
	if got := series(t, reg); got != "" {
		t.Errorf("before there is a registry:\n%s", got)
	}
	hub.Put(t, east.secret(t, "east", annotated(taints.CordonAnnotation)))
	hub.Put(t, east.secret(t, "copy-of-east", registrationtest.Named("zulu")))
	west.set(func() { west.code = 503 })
	hub.Put(t, west.secret(t, "west", annotated(taints.DrainAnnotation)))
	r := start(t, hub, func(o *Options) { o.Metrics = metrics })
	r.becomes("east=Ready west=ServerError")
	memberstest.Eventually(t, `cluster_clock_offset_seconds cluster=east
cluster_clock_offset_seconds cluster=west
cluster_clock_offset_seconds cluster=zulu
cluster_cordoned cluster=east 1
cluster_cordoned cluster=west 1
cluster_drained cluster=east 0
cluster_drained cluster=west 1
cluster_joining cluster=east 0
cluster_joining cluster=west 0
cluster_last_success_timestamp_seconds cluster=east
cluster_last_success_timestamp_seconds cluster=west
cluster_ready cluster=east 1
cluster_ready cluster=west 0
cluster_registration_info cluster=east reason=Ready registration=secret.east 1
cluster_registration_info cluster=west reason=ServerError registration=secret.west 1
cluster_registration_info cluster=zulu reason=Duplicate registration=secret.zulu 1
cluster_request_duration_seconds cluster=east
cluster_request_duration_seconds cluster=west
cluster_request_duration_seconds cluster=zulu
cluster_requests_total cluster=east result=Answered
cluster_requests_total cluster=west result=ServerError
cluster_requests_total cluster=zulu result=Answered
clusters 2
identities_recorded 0`, func() string { return series(t, reg) })
	if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v %v", problems, err)
	}

	hub.Remove(memberstest.FleetSecretsPath, "west")
	hub.Remove(memberstest.FleetSecretsPath, "zulu")
	r.becomes("east=Ready")
	memberstest.Eventually(t, `cluster_clock_offset_seconds cluster=east
cluster_cordoned cluster=east 1
cluster_drained cluster=east 0
cluster_joining cluster=east 0
cluster_last_success_timestamp_seconds cluster=east
cluster_ready cluster=east 1
cluster_registration_info cluster=east reason=Ready registration=secret.east 1
cluster_request_duration_seconds cluster=east
cluster_requests_total cluster=east result=Answered
clusters 1
identities_recorded 0`, func() string { return series(t, reg) })
}
