// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
)

// minute is the interval of samples and of evaluations; a scene lasts three hours.
const (
	minute = time.Minute
	scene  = 3 * time.Hour
)

// healthy are the series of a fleet that is well, each with its samples, as promtool writes them. The clock of a scene begins at 0.
var healthy = samples{
	`fleetscale_cluster_ready{job="metrics-adapter",pod="a-1",cluster="east"}`:                                            "1x180",
	`fleetscale_cluster_ready{job="metrics-adapter",pod="a-1",cluster="west"}`:                                            "0 0 0 1x177",
	`fleetscale_cluster_ready{job="metrics-adapter",pod="a-1",cluster="old"}`:                                             "0x180",
	`fleetscale_cluster_drained{job="metrics-adapter",pod="a-1",cluster="east"}`:                                          "0x180",
	`fleetscale_cluster_drained{job="metrics-adapter",pod="a-1",cluster="west"}`:                                          "0x180",
	`fleetscale_cluster_drained{job="metrics-adapter",pod="a-1",cluster="old"}`:                                           "1x180",
	`fleetscale_federatedhpa_member_scale_writes_total{job="controller-manager",cluster="east",result="ok"}`:              "0+3x180",
	`fleetscale_federatedhpa_member_scale_writes_total{job="controller-manager",cluster="east",result="error"}`:           "1 1 2x178",
	`fleetscale_distributed_member_writes_total{job="controller-manager",cluster="east",what="apply",result="ok"}`:        "0+1x180",
	`fleetscale_distributed_writes_undone_total{job="controller-manager",cluster="east",what="apply"}`:                    "0x90 1x90",
	`fleetscale_cluster_clock_offset_seconds{job="metrics-adapter",pod="a-1",cluster="east"}`:                             "-3x180",
	`fleetscale_cluster_offences_total{job="metrics-adapter",pod="a-1",cluster="east",offence="TooLarge"}`:                "2x180",
	`fleetscale_cluster_token_renewals_total{job="controller-manager",cluster="east",credential="read",result="Renewed"}`: "0+1x180",
	`fleetscale_cluster_token_renewals_total{job="controller-manager",cluster="east",credential="read",result="Failed"}`:  "0x60 1x120",
	`leader_election_master_status{job="controller-manager",pod="c-1",name="controller-manager.fleetscale.io"}`:           "1x60 0x120",
	`leader_election_master_status{job="controller-manager",pod="c-2",name="controller-manager.fleetscale.io"}`:           "0x61 1x119",
	`fleetscale_federatedhpa_state{job="controller-manager",namespace="shop",name="web",state="Active"}`:                  "1x180",
	`fleetscale_federatedhpa_state{job="controller-manager",namespace="shop",name="off",state="Paused"}`:                  "1x180",
	`fleetscale_federatedhpa_state{job="controller-manager",namespace="shop",name="blink",state="Held"}`:                  "_x10 1x20 _x150",
	`fleetscale_federatedhpa_desired_replicas{job="controller-manager",namespace="shop",name="web"}`:                      "5x60 10x10 5x110",
	`fleetscale_federatedhpa_spec_max_replicas{job="controller-manager",namespace="shop",name="web"}`:                     "10x180",
	`fleetscale_federatedhpa_spec_min_replicas{job="controller-manager",namespace="shop",name="web"}`:                     "1x180",
	`fleetscale_federatedhpa_desired_replicas{job="controller-manager",namespace="shop",name="fixed"}`:                    "3x180",
	`fleetscale_federatedhpa_spec_max_replicas{job="controller-manager",namespace="shop",name="fixed"}`:                   "3x180",
	`fleetscale_federatedhpa_spec_min_replicas{job="controller-manager",namespace="shop",name="fixed"}`:                   "3x180",
	`fleetscale_federatedhpa_desired_replicas{job="controller-manager",namespace="shop",name="off"}`:                      "3x180",
	`fleetscale_federatedhpa_spec_max_replicas{job="controller-manager",namespace="shop",name="off"}`:                     "3x180",
	`fleetscale_federatedhpa_spec_min_replicas{job="controller-manager",namespace="shop",name="off"}`:                     "1x180",
	`fleetscale_federatedhpa_without_series{job="controller-manager"}`:                                                    "0x180",
	`fleetscale_cron_next_run_timestamp_seconds{job="controller-manager",pod="c-1"}`:                                      "20000x180",
	`fleetscale_cron_next_run_timestamp_seconds{job="controller-manager",pod="c-2"}`:                                      "0x180",
	`fleetscale_cron_run_lag_seconds_count{job="controller-manager",result="succeeded"}`:                                  "0+1x180",
	`fleetscale_cron_run_lag_seconds_count{job="controller-manager",result="missed"}`:                                     "0x180",
	`fleetscale_apiservice_ours{job="metrics-adapter",apiservice="v1beta1.metrics.k8s.io"}`:                               "0 1x179",
	`fleetscale_apiservice_group_split{job="metrics-adapter",group="metrics.k8s.io"}`:                                     "0x180",
	`fleetscale_schema_ours{job="controller-manager",kind="FederatedHPA"}`:                                                "1x180",
	`fleetscale_webhooks_ours{job="controller-manager",kind="FederatedHPA"}`:                                              "1x180",
	`fleetscale_specs_cut{job="controller-manager",kind="FederatedHPA"}`:                                                  "0x30 1x5 0x145",
	`fleetscale_serving_certificate_expiration_timestamp_seconds{job="webhook"}`:                                          "2592000x180",
	`fleetscale_admission_duration_seconds_count{job="webhook",webhook="v",kind="k",operation="CREATE",result="allowed"}`: "0+1x180",
	`fleetscale_admission_duration_seconds_count{job="webhook",webhook="v",kind="k",operation="CREATE",result="refused"}`: "0+1x180",
	`controller_runtime_webhook_panics_total{job="webhook"}`:                                                              "0x180",
	`controller_runtime_reconcile_panics_total{job="controller-manager",controller="federatedhpa"}`:                       "0x180",
}

type samples map[string]string

// planted are what each alert is for, in place of what is healthy; first is the first minute in which it fires, and of tells for whom.
var planted = map[string]struct {
	series samples
	first  int
	of     string
}{
	"FleetscaleMemberSilent": {samples{
		`fleetscale_cluster_ready{job="metrics-adapter",pod="a-1",cluster="east"}`: "1x9 0x170"}, 15, `cluster="east", job="metrics-adapter"`},
	"FleetscaleMemberWritesFail": {samples{
		`fleetscale_distributed_member_writes_total{job="controller-manager",cluster="west",what="scale",result="error"}`: "0+1x180"},
		16, `cluster="west"`},
	"FleetscaleMemberWritesUndone": {samples{
		`fleetscale_distributed_writes_undone_total{job="controller-manager",cluster="east",what="apply"}`: "0+1x180"}, 4, `cluster="east", what="apply"`},
	"FleetscaleMemberClockOffset": {samples{
		`fleetscale_cluster_clock_offset_seconds{job="metrics-adapter",pod="a-1",cluster="east"}`: "-31x180"}, 10, `cluster="east", job="metrics-adapter"`},
	"FleetscaleMemberOffends": {samples{
		`fleetscale_cluster_offences_total{job="metrics-adapter",pod="a-1",cluster="east",offence="TooLarge"}`: "2x10 3x170"},
		11, `cluster="east", offence="TooLarge"`},
	"FleetscaleTokenRenewalFails": {samples{
		`fleetscale_cluster_token_renewals_total{job="controller-manager",cluster="east",credential="read",result="Failed"}`: "0+1x180"},
		61, `cluster="east", credential="read"`},
	"FleetscaleNoLeader": {samples{
		`leader_election_master_status{job="controller-manager",pod="c-1",name="controller-manager.fleetscale.io"}`: "1x9 0x170",
		`leader_election_master_status{job="controller-manager",pod="c-2",name="controller-manager.fleetscale.io"}`: "0x180"}, 12, ``},
	"FleetscaleAutoscalerFailing": {samples{
		`fleetscale_federatedhpa_state{job="controller-manager",namespace="shop",name="web",state="Failing"}`: "1x180"},
		15, `name="web", namespace="shop"`},
	"FleetscaleScaleInHeld": {samples{
		`fleetscale_federatedhpa_state{job="controller-manager",namespace="shop",name="web",state="Held"}`: "1x180"}, 30, `name="web", namespace="shop"`},
	"FleetscaleAtMaxReplicas": {samples{
		`fleetscale_federatedhpa_desired_replicas{job="controller-manager",namespace="shop",name="web"}`: "10x180"}, 15, `name="web", namespace="shop"`},
	"FleetscaleCronLate": {samples{
		`fleetscale_cron_next_run_timestamp_seconds{job="controller-manager",pod="c-1"}`: "600x180"}, 14, ``},
	"FleetscaleCronRunMissed": {samples{
		`fleetscale_cron_run_lag_seconds_count{job="controller-manager",result="missed"}`: "0x10 1x170"}, 11, ``},
	"FleetscaleAutoscalersUnwatched": {samples{
		`fleetscale_federatedhpa_without_series{job="controller-manager"}`: "7x180"}, 60, ``},
	"FleetscaleAPIServiceNotOurs": {samples{
		`fleetscale_apiservice_ours{job="metrics-adapter",apiservice="v1beta1.metrics.k8s.io"}`: "0x180"}, 5, `apiservice="v1beta1.metrics.k8s.io"`},
	"FleetscaleAPIGroupSplit": {samples{
		`fleetscale_apiservice_group_split{job="metrics-adapter",group="metrics.k8s.io"}`: "1x180"}, 5, `group="metrics.k8s.io"`},
	"FleetscaleSchemaNotOurs": {samples{
		`fleetscale_schema_ours{job="controller-manager",kind="FederatedHPA"}`: "0x180"}, 5, `kind="FederatedHPA"`},
	"FleetscaleWebhooksNotOurs": {samples{
		`fleetscale_webhooks_ours{job="controller-manager",kind="FederatedHPA"}`: "0x180"}, 5, `kind="FederatedHPA"`},
	"FleetscaleSpecsCut": {samples{
		`fleetscale_specs_cut{job="controller-manager",kind="FederatedHPA"}`: "2x180"}, 15, `kind="FederatedHPA"`},
	"FleetscaleCertificateExpires": {samples{
		`fleetscale_serving_certificate_expiration_timestamp_seconds{job="webhook"}`: "606000x180"}, 81, `job="webhook"`},
	"FleetscaleAdmissionFails": {samples{
		`fleetscale_admission_duration_seconds_count{job="webhook",webhook="v",kind="k",operation="CREATE",result="failed"}`: "0+1x180"}, 6, `webhook="v"`},
	"FleetscalePanics": {samples{
		`controller_runtime_reconcile_panics_total{job="controller-manager",controller="federatedhpa"}`: "0x10 1x170"}, 11, `job="controller-manager"`},
}

func TestNoAlertFiresInAHealthyFleet(t *testing.T) {
	for name, fired := range fires(t, healthy) {
		t.Errorf("%s fires: %v", name, fired)
	}
}

// Each fault fires its alert, when it should and for whom, and no other one.
func TestAlertsFire(t *testing.T) {
	for _, a := range alerts(t) {
		t.Run(a.Alert, func(t *testing.T) {
			fault, is := planted[a.Alert]
			if !is {
				t.Fatal("no fault is planted for it")
			}
			world := samples{}
			for _, from := range []samples{healthy, fault.series} {
				for series, values := range from {
					world[series] = values
				}
			}
			fired := fires(t, world)
			if got, want := fired[a.Alert], (firing{fault.first, "{" + fault.of + "}"}); got != want {
				t.Errorf("fires %v, want %v", got, want)
			}
			for name, other := range fired {
				if name != a.Alert {
					t.Errorf("%s fires too: %v", name, other)
				}
			}
		})
	}
	if len(planted) != len(alerts(t)) {
		t.Error("faults are planted for alerts that do not exist")
	}
}

// firing is the first minute in which an alert fires, and its labels.
type firing struct {
	minute int
	labels string
}

// fires are the alerts that fire in a scene.
func fires(t *testing.T, world samples) map[string]firing {
	t.Helper()
	lines := []string{"load 1m"}
	for series, values := range world {
		lines = append(lines, "  "+series+" "+values)
	}
	slices.Sort(lines[1:])
	loader, err := promqltest.NewLazyLoader(strings.Join(lines, "\n"), promqltest.LazyLoaderOpts{})
	if err != nil {
		t.Fatal(err)
	}
	defer loader.Close()
	query := rules.EngineQueryFunc(loader.QueryEngine(), loader.Queryable())
	var all []*rules.AlertingRule
	for _, a := range alerts(t) {
		all = append(all, rule(t, a))
	}
	fired := map[string]firing{}
	for at := time.Duration(0); at < scene; at += minute {
		now := time.Unix(0, 0).UTC().Add(at)
		loader.WithSamplesTill(now, func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		})
		for _, r := range all {
			if _, err := r.Eval(loader.Context(), 0, now, query, nil, 0); err != nil {
				t.Fatalf("%s: %v", r.Name(), err)
			}
			for _, alert := range r.ActiveAlerts() {
				if _, before := fired[r.Name()]; alert.State == rules.StateFiring && !before {
					fired[r.Name()] = firing{int(at / minute), of(alert.Labels).String()}
				}
			}
		}
	}
	return fired
}

// of are the labels that tell for whom an alert fires.
func of(all labels.Labels) labels.Labels {
	return labels.NewBuilder(all).Del(labels.AlertName, "severity").Labels()
}

func rule(t *testing.T, a rulefmt.Rule) *rules.AlertingRule {
	t.Helper()
	expr, err := promql.ParseExpr(a.Expr)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", a.Alert, err))
	}
	return rules.NewAlertingRule(a.Alert, expr, time.Duration(a.For), time.Duration(a.KeepFiringFor), labels.FromMap(a.Labels),
		labels.FromMap(a.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler))
}
