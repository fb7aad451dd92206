// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/command/commandtest"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

func parsed(t *testing.T, args ...string) *Options {
	t.Helper()
	t.Setenv("TZ", "")
	return commandtest.Parsed(t, NewOptions(), args...)
}

func TestTimeZoneOfTheEnvironment(t *testing.T) {
	t.Setenv("TZ", "Asia/Tokyo")
	if got := NewOptions().Cron.TimeZone; got != "Asia/Tokyo" {
		t.Errorf("time zone %q", got)
	}
	t.Setenv("TZ", "")
	if got := NewOptions().Cron.TimeZone; got != "UTC" {
		t.Errorf("time zone %q without one in the environment", got)
	}
}

func TestValidateNamesTheFlag(t *testing.T) {
	t.Setenv("TZ", "")
	commandtest.Refusals(t, NewOptions, map[string]struct {
		Args []string
		Want string
	}{
		"namespaces of nobody": {[]string{"--namespaces=shop,shop", "--namespaces=kube-system"},
			`--namespaces: nothing is scaled or sized in namespace "kube-system", nor in any other of Kubernetes or fleetscale: use another one` +
				"\n--namespaces: names \"shop\" more than once"},
		"observations for everybody": {[]string{"--observe", "--observations-bind-address=:8082"},
			"--observations-bind-address: must be a port of a loopback address, such as 127.0.0.1:8082, or 0; got :8082"},
		"a record at no address": {[]string{"--record-bind-address=0.0.0.0", "--record-port=70000"},
			"--record-bind-address: must be the IP address at which others reach this Pod, or empty; got 0.0.0.0\n" +
				"--record-port: must be from 1 to 65535, got 70000"},
		"a record at a name": {[]string{"--record-bind-address=web"},
			"--record-bind-address: must be the IP address at which others reach this Pod, or empty; got web"},
		"a record of no size": {[]string{"--record-max=much", "--record-days=0"},
			"--record-max: must be a size such as 256Mi, or 0, got \"much\"\n--record-days: must be 1 or more, got 0"},
		"a record of nearly no size": {[]string{"--record-max=1k"}, "--record-max: must be 0, or from 1Mi to 64Gi, got \"1k\""},
		"fewer than no series":       {[]string{"--metrics-per-object=-1"}, "--metrics-per-object: must be 0 or more, got -1"},
		"half a certificate of the metrics": {[]string{"--metrics-tls-cert-file=x"},
			"--metrics-tls-cert-file and --metrics-tls-private-key-file: set both, or none"},
		"no certificate": {[]string{"--self-signed-secret="}, "--self-signed-secret: must be set"},
		"a certificate for nobody": {[]string{"--service-namespace=", "--service-name="},
			"--service-namespace: must be set\n--service-name: must be set"},
		"a certificate replaced too late": {[]string{"--self-signed-validity=1m"},
			"--self-signed-validity: must be 1h2m0s or more with this settle time and check period, got 1m0s"},
		"no such zone": {[]string{"--time-zone=Asia/Tokio"},
			`--time-zone: "Asia/Tokio" is not the name of a zone: write one as continent and city, such as "Europe/Berlin", or "Etc/UTC"`},
		"no cron workers": {[]string{"--concurrent-cronfederatedhpa-syncs=0"},
			"--concurrent-cronfederatedhpa-syncs: must be 1 or more, got 0"},
		"no time to answer":        {[]string{"--hub-timeout=0"}, "--hub-timeout: must be above 0, got 0s"},
		"no time for slow members": {[]string{"--member-timeout=6s"}, "--hub-timeout: must be 36s or more with this --member-timeout, got 30s"},
		"no shard":                 {[]string{"--shards=0"}, "--shards: must be from 1 to 1024, got 0"},
		"too many shards":          {[]string{"--shards=1025"}, "--shards: must be from 1 to 1024, got 1025"},
		"shards without Leases":    {[]string{"--shards=2", "--leader-elect=false"}, "--shards: needs --leader-elect"},
		"no place for the Lease":   {[]string{"--leader-elect-resource-namespace="}, "--leader-elect-resource-namespace: must be set"},
		"lease without a pause":    {[]string{"--leader-elect-retry-period=0"}, "--leader-elect-retry-period: must be above 0, got 0s"},
		"renewed too rarely": {[]string{"--leader-elect-renew-deadline=2s"},
			"--leader-elect-renew-deadline: must be above 2.4s with this retry period, got 2s"},
		"two leaders": {[]string{"--leader-elect-lease-duration=10s"},
			"--leader-elect-lease-duration: must be above --leader-elect-renew-deadline (10s), got 10s"},
		"no workers":              {[]string{"--concurrent-federatedhpa-syncs=0"}, "--concurrent-federatedhpa-syncs: must be 1 or more, got 0"},
		"no sync period":          {[]string{"--sync-period=0"}, "--sync-period: must be above 0, got 0s"},
		"rest below nothing":      {[]string{"--rest-after-scaling=-1s"}, "--rest-after-scaling: must be 0 or more, got -1s"},
		"no step":                 {[]string{"--best-effort-step=0s"}, "--best-effort-step: must be from 1s to 1h, got 0s"},
		"step too long":           {[]string{"--best-effort-step=61m"}, "--best-effort-step: must be from 1s to 1h, got 1h1m0s"},
		"tolerance of no number":  {[]string{"--tolerance=NaN"}, "--tolerance: must be 0 or more, got NaN"},
		"tolerance below nothing": {[]string{"--tolerance=-0.1"}, "--tolerance: must be 0 or more, got -0.1"},
		"periods before now": {[]string{"--downscale-stabilization=-1s", "--cpu-initialization-period=-2s",
			"--initial-readiness-delay=-3s"}, "--downscale-stabilization: must be 0 or more, got -1s\n--cpu-initialization-period: must be 0 or " +
			"more, got -2s\n--initial-readiness-delay: must be 0 or more, got -3s"},
		"decisions on clusters that nobody knows": {[]string{"--placement-decisions"},
			"--placement-decisions: needs clusterprofile in --sources, which tells which clusters are meant"},
		"several faults, all told": {[]string{"--hub-timeout=0", "--time-zone="},
			"--hub-timeout: must be above 0, got 0s\n--time-zone: \"\" must not be empty: write a zone such as \"Etc/UTC\", or leave the field out"},
	})

}

// Every flag that the manifests pass is one of ours, with a value that it takes.
func TestManifestsPassFlagsThatExist(t *testing.T) {
	commandtest.ManifestFlags(t, func() *cobra.Command { return NewCommand(t.Context()) }, commandtest.None,
		"../../../deploy/base/controller-manager", "../../../deploy/overlays/karmada/controller-manager-host",
		"../../../deploy/components/placement-decisions", "../../../deploy/components/shards", "../../../certs/given/monitoring")
}

// What is not said is as in Kubernetes' HorizontalPodAutoscaler controller; what is, arrives.
func TestAutoscaleFlags(t *testing.T) {
	upstream := replicas.Options{StabilizationWindow: 5 * time.Minute, Tolerance: 0.1, CPUInitializationPeriod: 5 * time.Minute,
		InitialReadinessDelay: 30 * time.Second}
	fleettest.Same(t, "defaults",
		AutoscaleOptions{Syncs: 10, SyncPeriod: 15 * time.Second, Decision: upstream, PropagationGrace: 5 * time.Minute,
			FailoverGrace: 5 * time.Minute, DeletionGrace: time.Hour,
			RestAfterScaling: 2 * time.Minute, BestEffortStep: 2 * time.Minute}, parsed(t).Autoscale)
	o := parsed(t, "--concurrent-federatedhpa-syncs=3", "--sync-period=4s", "--downscale-stabilization=5s", "--tolerance=0.6",
		"--cpu-initialization-period=7s", "--initial-readiness-delay=8s", "--failover-grace=9s", "--propagation-grace=10s",
		"--deletion-grace=11s", "--rest-after-scaling=12s", "--best-effort-step=13s", "--create-workloads")
	want := AutoscaleOptions{Syncs: 3, SyncPeriod: 4 * time.Second, FailoverGrace: 9 * time.Second, DeletionGrace: 11 * time.Second,
		CreateWorkloads: true, PropagationGrace: 10 * time.Second, RestAfterScaling: 12 * time.Second, BestEffortStep: 13 * time.Second,
		Decision: replicas.Options{
			StabilizationWindow: 5 * time.Second, Tolerance: 0.6, CPUInitializationPeriod: 7 * time.Second, InitialReadinessDelay: 8 * time.Second,
		}}
	fleettest.Same(t, "", want, o.Autoscale)
}

// The address is told to others as it is bound.
func TestAddressOfTheRecord(t *testing.T) {
	for want, o := range map[string]RecordOptions{
		"":               {Max: "32Mi", Port: 8444},
		"10.1.2.3:8444":  {Max: "32Mi", BindAddress: "10.1.2.3", Port: 8444},
		"[fd00::1]:8444": {Max: "32Mi", BindAddress: "fd00::1", Port: 8444},
	} {
		if got := o.address(); got != want {
			t.Errorf("%+v: %q, want %q", o, got, want)
		}
		if o.Max = "0"; o.address() != "" {
			t.Errorf("%+v: %q is told, and nothing is recorded", o, o.address())
		}
	}
}
