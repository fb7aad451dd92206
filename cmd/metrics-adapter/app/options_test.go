// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"

	"github.com/fleetscale/fleetscale/pkg/command/commandtest"
)

func parsed(t *testing.T, args ...string) *Options {
	t.Helper()
	return commandtest.Parsed(t, NewOptions(), args...)
}

func TestValidateNamesTheFlag(t *testing.T) {
	commandtest.Refusals(t, NewOptions, map[string]struct {
		Args []string
		Want string
	}{
		"namespaces of nobody": {[]string{"--namespaces=shop,shop", "--namespaces=kube-system"},
			`--namespaces: nothing is scaled or sized in namespace "kube-system", nor in any other of Kubernetes or fleetscale: use another one` +
				"\n--namespaces: names \"shop\" more than once"},
		"no deadline":             {[]string{"--member-timeout=0"}, "--member-timeout: must be above 0, got 0s"},
		"never asked":             {[]string{"--scrape-period=-1s"}, "--scrape-period: must be above 0, got -1s"},
		"old before it is asked":  {[]string{"--max-age=20s"}, "--max-age: must be twice --scrape-period (15s) or more, got 20s"},
		"idle at once":            {[]string{"--idle-after=1s"}, "--idle-after: must be --scrape-period (15s) or more, got 1s"},
		"nothing hot":             {[]string{"--max-hot-namespaces=0"}, "--max-hot-namespaces: must be 1 or more, got 0"},
		"no memory for answers":   {[]string{"--max-kept-bytes=1k"}, "--max-kept-bytes: must be 1Mi or more, got 1k"},
		"no memory for an answer": {[]string{"--max-answer-bytes=1k"}, "--max-answer-bytes: must be 1Mi or more, got 1k"},
		"no room for an object":   {[]string{"--max-member-answer=1k"}, "--max-member-answer: must be 1Mi or more, got 1k"},
		"no questions allowed":    {[]string{"--member-qps=0"}, "--member-qps and --member-burst: must be above 0, got 0 and 100"},
		"no such source": {[]string{"--sources=secret,kubefed", "--sources=x"},
			`--sources: "kubefed", "x" is not one of secret, multicluster-runtime, karmada, clusterprofile, capi, rancher, argocd`},
		"no source": {[]string{"--sources="},
			"--sources: must name at least one of secret, multicluster-runtime, karmada, clusterprofile, capi, rancher, argocd"},
		"Argo CD, nowhere": {[]string{"--sources=argocd", "--argocd-namespace="},
			"--argocd-namespace: must be set for the source argocd, and no name may be empty"},
		"ClusterProfiles, nowhere": {[]string{"--sources=clusterprofile"},
			"--clusterprofile-namespaces: must be set for the source clusterprofile, and no name may be empty"},
		"Rancher, nowhere": {[]string{"--sources=rancher"},
			"--rancher-namespaces: must be set for the source rancher, and no name may be empty"},
		"Cluster API, nowhere": {[]string{"--sources=capi"}, "--capi-namespaces: must be set for the source capi, and no name may be empty"},
		"Cluster API, anywhere": {[]string{"--sources=capi", "--capi-namespaces=a,,b"},
			"--capi-namespaces: must be set for the source capi, and no name may be empty"},
		"all namespaces": {[]string{"--cluster-namespace="},
			"--cluster-namespace: must be set: registrations are read from one namespace only"},
		"no certificate": {[]string{"--self-signed-secret="}, "--self-signed-secret: must be set"},
		"replaced too late": {[]string{"--self-signed-validity=1m"},
			"--self-signed-validity: must be 1h2m0s or more with this settle time and check period, got 1m0s"},
		"a password in an address": {[]string{"--hub-metrics-server=https://me:s3cret@x", "--hub-metrics-server-token-file=/t"},
			`--hub-metrics-server: must hold no user and password: it is sent --hub-metrics-server-token-file`},
		"the hub's token to its metrics-server": {[]string{"--hub-metrics-server=https://x"},
			"--hub-metrics-server-token-file: must be set together with --hub-metrics-server, which never gets the credentials for the hub"},
		"a token over plain http": {[]string{"--hub-metrics-server=http://x", "--hub-metrics-server-token-file=/t"},
			`--hub-metrics-server: must be an https URL such as https://metrics-server.kube-system.svc, got "http://x"`},
	})

	both := parsed(t, "--member-qps=0", "--max-hot-namespaces=0").Validate()
	if both == nil || !strings.Contains(both.Error(), "--member-qps") || !strings.Contains(both.Error(), "--max-hot-namespaces") {
		t.Errorf("two faults are not both named: %v", both)
	}
}
