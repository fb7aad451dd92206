// SPDX-License-Identifier: Apache-2.0

package main

import "strings"

func dashboards() []dashboard { return []dashboard{autoscaler(), fleet()} }

// autoscaler draws one FederatedHPA. After a change of leaders both tell of it for a while, hence max.
func autoscaler() dashboard {
	of := func(metric string) string {
		return "max(fleetscale_federatedhpa_" + metric + `{namespace="$namespace",name="$name"})`
	}
	by := func(labels, metric, matchers string) string {
		return strings.Replace(strings.Replace(of(metric), "max(", "max by ("+labels+") (", 1), "}", matchers+"}", 1)
	}
	cluster := func(kind string) query {
		return query{by("cluster", "cluster_replicas", `,kind="`+kind+`"`), "{{cluster}}"}
	}
	return newDashboard("autoscaler", "fleetscale / Autoscaler", "One FederatedHPA: what it was told, and what it does in which cluster.",
		[]variable{
			choice("namespace", "label_values(fleetscale_federatedhpa_spec_max_replicas, namespace)"),
			choice("name", `label_values(fleetscale_federatedhpa_spec_max_replicas{namespace="$namespace"}, name)`),
		},
		[]panel{
			graph("Replicas", "All clusters together.", "short",
				query{of("spec_max_replicas"), "maxReplicas"}, query{of("desired_replicas"), "desired"},
				query{of("current_replicas"), "current"}, query{of("ready_replicas"), "ready"}, query{of("spec_min_replicas"), "minReplicas"}),
			graph("Metrics, relative to their targets", "The autoscaler goes for 1.", "percentunit", query{
				by("index, metric", "metric_value", "") + "\n/ on (index, metric)\n" + by("index, metric", "metric_target", ""),
				"{{index}}: {{metric}}"}),
			stack("Replicas by cluster", "What each cluster was told to run.", "short", cluster("current")),
			stack("Ready Pods by cluster", "As last seen.", "short", cluster("ready")),
			graph("Share of maxReplicas by cluster", "In distributed mode.", "short", cluster("assigned_max")),
			graph("Pods that no node can take, by cluster", "These clusters are full.", "short", cluster("unschedulable")),
			timeline("State", "Held: a cluster cannot be seen. Limited: it would go beyond its bounds or policies.",
				query{by("state", "state", ""), "{{state}}"}),
			timeline("Mode", "spec.mode", query{by("mode", "mode", ""), "{{mode}}"}),
		})
}

// fleet draws the members, the programs and how the hub leads to them.
func fleet() dashboard {
	return newDashboard("fleet", "fleetscale / Fleet", "The members, the programs, and what the hub makes of them.", nil, []panel{
		timeline("Members that answer", "1: to every replica of every program.",
			query{"min by (cluster) (fleetscale_cluster_ready)", "{{cluster}}"}),
		stack("Autoscalers by state", "Those that have metrics of their own.", "short",
			query{"count by (state) (max by (namespace, name, state) (fleetscale_federatedhpa_state))", "{{state}}"}),
		graph("Requests to members", "By result.", "reqps", query{"sum by (result) (rate(fleetscale_cluster_requests_total[5m]))", "{{result}}"}),
		graph("Latency of members", "99 of 100 requests are faster.", "s", query{
			"histogram_quantile(0.99, sum by (cluster, le) (rate(fleetscale_cluster_request_duration_seconds_bucket[5m])))", "{{cluster}}"}),
		graph("Age of usage", "Of the oldest sample of each member.", "s",
			query{"max by (cluster) (fleetscale_usage_age_seconds)", "{{cluster}}"}),
		graph("Clocks of members", "Minus ours.", "s", query{"avg by (cluster) (fleetscale_cluster_clock_offset_seconds)", "{{cluster}}"}),
		graph("Writes to members", "Of replicas, in central mode, and of what distributed mode has in members.", "reqps",
			query{"sum by (cluster, result) (rate(fleetscale_federatedhpa_member_scale_writes_total[5m]))", "{{cluster}}: replicas, {{result}}"},
			query{"sum by (cluster, what, result) (rate(fleetscale_distributed_member_writes_total[5m]))", "{{cluster}}: {{what}}, {{result}}"}),
		stack("Queries for custom and external metrics", "By how they were served.", "reqps",
			query{"sum by (served) (rate(fleetscale_relay_questions_total[5m]))", "{{served}}"}),
		graph("Reconciles in central mode", "99 of 100 are faster.", "s", query{
			"histogram_quantile(0.99, sum by (le) (rate(" +
				"fleetscale_horizontal_pod_autoscaler_controller_reconciliation_duration_seconds_bucket[5m])))",
			"99 %"}),
		stack("Admission", "By result.", "reqps",
			query{"sum by (kind, result) (rate(fleetscale_admission_duration_seconds_count[5m]))", "{{kind}}: {{result}}"}),
		stack("Runs of CronFederatedHPAs", "In an hour, by result.", "short",
			query{"sum by (result) (increase(fleetscale_cron_run_lag_seconds_count[1h]))", "{{result}}"}),
		timeline("Leader", "1: this replica of the controller-manager works.", query{"max by (pod) (leader_election_master_status)", "{{pod}}"}),
		timeline("What the hub leads to us", "0: an API, or the fields of a kind, are somebody else's.",
			query{"min by (apiservice) (fleetscale_apiservice_ours)", "{{apiservice}}"},
			query{"min by (kind) (fleetscale_schema_ours)", "schema of {{kind}}"},
			query{"min by (kind) (fleetscale_webhooks_ours)", "webhooks of {{kind}}"}),
		graph("Certificates", "Time that is left of those that the programs sign themselves.", "s",
			query{"min by (job) (fleetscale_serving_certificate_expiration_timestamp_seconds) - time()", "{{job}}"}),
		graph("Tokens of members", "Time that is left.", "s",
			query{"min by (cluster, credential) (fleetscale_cluster_token_expiry_timestamp_seconds) - time()", "{{cluster}}: {{credential}}"}),
		stack("Versions", "Replicas of each.", "short", query{"count by (job, version) (fleetscale_build_info)", "{{job}} {{version}}"}),
	})
}
