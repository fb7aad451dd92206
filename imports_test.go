// SPDX-License-Identifier: Apache-2.0

package fleetscale

import (
	"os"
	"path/filepath"
	"testing"
)

// rings places every package, and with it the packages below it, in the map of doc.go: 0 is the innermost. A new
// package gets its line here before its first import.
var rings = map[string]int{
	"deploy":      0,
	"pkg/apis":    0,
	"pkg/fleet":   0,
	"pkg/version": 0,

	"pkg/admission":      1,
	"pkg/assignment":     1,
	"pkg/chart":          1,
	"pkg/claims":         1,
	"pkg/compact":        1,
	"pkg/cronplan":       1,
	"pkg/explanation":    1,
	"pkg/fit":            1,
	"pkg/goals":          1,
	"pkg/grants":         1,
	"pkg/guard":          1,
	"pkg/memberhpa":      1,
	"pkg/merge":          1,
	"pkg/recommendation": 1,
	"pkg/recording":      1,
	"pkg/registration":   1,
	"pkg/replay":         1,
	"pkg/replicas":       1,
	"pkg/schedule":       1,
	"pkg/setback":        1,
	"pkg/shards":         1,
	"pkg/shares":         1,
	"pkg/sizes":          1,
	"pkg/speccopy":       1,
	"pkg/summary":        1,
	"pkg/taints":         1,
	"pkg/tenancy":        1,
	"pkg/wire":           1,

	"pkg/certs":                 2,
	"pkg/claims/index":          2,
	"pkg/command":               2,
	"pkg/fence":                 2,
	"pkg/hub/apiservice":        2,
	"pkg/hub/configmap":         2,
	"pkg/hub/hubclient":         2,
	"pkg/hub/hubmetrics":        2,
	"pkg/hub/hubtest":           2,
	"pkg/hub/placement":         2,
	"pkg/hub/served":            2,
	"pkg/hub/shardlease":        2,
	"pkg/hub/webhooks":          2,
	"pkg/members/capacity":      2,
	"pkg/members/connection":    2,
	"pkg/members/history":       2,
	"pkg/members/member":        2,
	"pkg/members/memberstest":   2,
	"pkg/members/memberview":    2,
	"pkg/members/memory":        2,
	"pkg/members/mirror":        2,
	"pkg/members/pods":          2,
	"pkg/members/ratelimit":     2,
	"pkg/members/relay":         2,
	"pkg/members/selection":     2,
	"pkg/members/sizing":        2,
	"pkg/members/usage":         2,
	"pkg/members/workload":      2,
	"pkg/plugin":                2,
	"pkg/readonly":              2,
	"pkg/registration/watcher":  2,
	"pkg/recording/recordstore": 2,
	"pkg/replicas/replicastest": 2,

	"pkg/controllers/perobject":                     2,
	"pkg/controllers/restore":                       2,
	"pkg/controllers/sharding":                      2,
	"pkg/controllers/federatedhpa/federatedhpatest": 2,

	"pkg/controllers/cronfederatedhpa":         3,
	"pkg/controllers/federatedhpa":             3,
	"pkg/controllers/federatedhpa/central":     3,
	"pkg/controllers/federatedhpa/distributed": 3,
	"pkg/controllers/federatedhpa/record":      3,
	"pkg/controllers/federatedhpa/sight":       3,
	"pkg/controllers/leftovers":                3,
	"pkg/controllers/multidim":                 3,
	"pkg/controllers/tokens":                   3,
	"pkg/metricsadapter":                       3,
	"pkg/plugin/cordon":                        3,
	"pkg/plugin/crontab":                       3,
	"pkg/plugin/dashboard":                     3,
	"pkg/plugin/pause":                         3,
	"pkg/plugin/replaying":                     3,
	"pkg/plugin/top":                           3,
	"pkg/plugin/lint":                          3,
	"pkg/plugin/takeover":                      3,
	"pkg/plugin/membership":                    3,
	"pkg/plugin/status":                        3,
	"pkg/plugin/explain":                       3,
	"pkg/plugin/doctor":                        3,
	"pkg/webhook":                              3,

	"cmd/controller-manager/app": 4,
	"cmd/dashboard/app":          4,
	"cmd/kubectl-fleetscale/app": 4,
	"cmd/metrics-adapter/app":    4,
	"cmd/webhook/app":            4,

	"cmd":                    5,
	"cmd/controller-manager": 5,
	"cmd/dashboard":          5,
	"cmd/kubectl-fleetscale": 5,
	"cmd/metrics-adapter":    5,
	"cmd/webhook":            5,
}

// neighbours are the only imports allowed inside one ring.
var neighbours = map[string][]string{
	"pkg/admission":        {"pkg/claims", "pkg/cronplan", "pkg/goals", "pkg/schedule", "pkg/speccopy", "pkg/tenancy"},
	"pkg/assignment":       {"pkg/taints"},
	"pkg/members/capacity": {"pkg/members/member", "pkg/members/mirror", "pkg/members/pods"},
	"pkg/explanation":      {"pkg/assignment", "pkg/replicas", "pkg/sizes", "pkg/summary", "pkg/taints"},
	"pkg/fit":              {"pkg/compact"},
	"pkg/command":          {"pkg/members/connection", "pkg/members/member", "pkg/members/memberview"},
	"pkg/cronplan":         {"pkg/schedule", "pkg/tenancy"},
	"pkg/controllers/federatedhpa": {"pkg/controllers/federatedhpa/central", "pkg/controllers/federatedhpa/distributed",
		"pkg/controllers/federatedhpa/record", "pkg/controllers/federatedhpa/sight"},
	"pkg/controllers/federatedhpa/central":     {"pkg/controllers/federatedhpa/record", "pkg/controllers/federatedhpa/sight"},
	"pkg/controllers/federatedhpa/distributed": {"pkg/controllers/federatedhpa/record", "pkg/controllers/federatedhpa/sight"},
	"pkg/controllers/restore":                  {"pkg/hub/served"},
	"pkg/guard":                                {"pkg/wire"},
	"pkg/members/history":                      {"pkg/hub/hubmetrics", "pkg/members/pods"},
	"pkg/members/memberview":                   {"pkg/hub/configmap", "pkg/members/member", "pkg/registration/watcher"},
	"pkg/members/member":                       {"pkg/hub/configmap", "pkg/members/connection", "pkg/registration/watcher"},
	"pkg/memberhpa":                            {"pkg/assignment"},
	"pkg/members/connection":                   {"pkg/fence", "pkg/members/ratelimit", "pkg/readonly"},
	"pkg/hub/shardlease":                       {"pkg/fence"},
	"pkg/hub/hubtest":                          {"pkg/claims/index"},
	"pkg/controllers/sharding":                 {"pkg/controllers/perobject", "pkg/fence", "pkg/hub/shardlease"},
	"pkg/members/memberstest":                  {"pkg/members/connection"},
	"pkg/members/mirror":                       {"pkg/members/connection", "pkg/members/member"},
	"pkg/members/pods":                         {"pkg/members/member", "pkg/members/mirror"},
	"pkg/members/relay": {"pkg/members/connection", "pkg/members/member", "pkg/members/memory",
		"pkg/members/ratelimit"},
	"pkg/registration":      {"pkg/taints", "pkg/tenancy"},
	"pkg/replicas":          {"pkg/compact"},
	"pkg/speccopy":          {"pkg/guard"},
	"pkg/members/selection": {"pkg/hub/placement", "pkg/members/pods", "pkg/members/workload"},
	"pkg/hub/webhooks":      {"pkg/hub/served"},
	"pkg/members/usage":     {"pkg/members/connection", "pkg/members/memory"},
	"pkg/plugin/dashboard":  {"pkg/plugin/crontab", "pkg/plugin/explain", "pkg/plugin/replaying", "pkg/plugin/status"},
	"pkg/recommendation":    {"pkg/goals", "pkg/sizes"},
	"pkg/recording": {"pkg/assignment", "pkg/guard", "pkg/recommendation", "pkg/replicas", "pkg/sizes", "pkg/summary",
		"pkg/taints"},
	"pkg/replay": {"pkg/assignment", "pkg/explanation", "pkg/recommendation", "pkg/recording", "pkg/replicas", "pkg/sizes"},
	"pkg/members/sizing": {"pkg/members/capacity", "pkg/members/connection", "pkg/members/member", "pkg/members/mirror",
		"pkg/members/pods"},
	"pkg/members/workload": {"pkg/members/capacity", "pkg/members/connection", "pkg/members/member", "pkg/members/mirror",
		"pkg/members/pods", "pkg/members/sizing"},
	"pkg/controllers/federatedhpa/federatedhpatest": {"pkg/members/workload"},
}

// decisions are the files in which the modes of the FederatedHPA controller decide: as pure as rings 0 and 1.
var decisions = map[string][]string{
	"pkg/controllers/federatedhpa/central": {"decide.go", "division.go", "explain.go", "recorded.go", "situation.go",
		"stabilization.go", "status.go"},
	"pkg/controllers/federatedhpa/distributed": {"autoscalers.go", "changes.go", "conditions.go", "creation.go", "decide.go",
		"explain.go",
		"metric_status.go", "recorded.go",
		"situation.go",
		"status.go", "step.go"},
	"pkg/controllers/multidim": {"amounts.go", "conditions.go", "decide.go", "recommender.go", "recorded.go", "sizing.go", "situation.go",
		"status.go", "summarize.go"},
	"pkg/controllers/tokens": {"claims.go", "decide.go"},
	"pkg/plugin/dashboard": {"autoscaler.go", "clusters.go", "coming.go", "detail.go", "fleet.go", "metrics.go", "recorded.go", "sizes.go",
		"timeline.go"},
	"pkg/plugin/doctor": {"checks_apis.go", "checks_autoscalers.go", "checks_granted.go", "checks_hub.go", "checks_members.go",
		"checks_targets.go", "checks_webhook.go", "commands.go", "picture.go", "report.go"},
	"pkg/plugin/membership": {"address.go", "decide.go", "manifests.go", "targets.go"},
}

// impure are the imports that rings 0 and 1, and decisions, do without, each with its reason. A path stands for all below it.
var impure = map[string]string{
	"context":          "a decision does not wait",
	"k8s.io/client-go": "a decision is given what it needs and asks nobody",
	"k8s.io/klog":      "a decision returns its reason, and the caller logs it",
	"log":              "a decision returns its reason, and the caller logs it",
	"math/rand":        "the same input gives the same decision",
	"net":              "a decision is given what it needs and asks nobody",
	"os":               "a decision is given what it needs and asks nobody",
	"sync":             "a decision shares nothing",
}

// pureParts may be imported in rings 0 and 1 although impure names what is above them: they only parse. Where a package
// is named, it alone may: it takes no more of them than types that are plain data.
var pureParts = map[string]string{
	"k8s.io/client-go/rest":                "pkg/registration",
	"k8s.io/client-go/tools/clientcmd":     "pkg/registration",
	"k8s.io/client-go/tools/clientcmd/api": "pkg/registration",
	"net/netip":                            "",
	"net/url":                              "",
}

// clock are the functions of package time that read the clock or wait for it.
var clock = []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"}

// The files are read here and not through `go list`: Go's test cache knows which files a test opened, so a broken rule
// is seen even where the test has passed before.
func TestImportsFollowTheRings(t *testing.T) {
	faults, err := importFaults(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults {
		t.Error(fault)
	}
}

// What is known of members may be kept on the hub. The hub itself is asked without them.
func TestTheHubKnowsNoMembers(t *testing.T) {
	for place, all := range neighbours {
		for _, other := range all {
			if below(place, "pkg/hub") && below(other, "pkg/members") {
				t.Errorf("%s may import %s", place, other)
			}
		}
	}
}

// A decision that was renamed is no longer held to anything.
func TestDecisionsAreThere(t *testing.T) {
	for dir, files := range decisions {
		for _, file := range files {
			if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
				t.Errorf("decisions names a file that is not there: %v", err)
			}
		}
	}
}
