// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/plugin/replaying"
	"github.com/fleetscale/fleetscale/pkg/replay"
)

// usualHeadroom is by how many percent maxReplicas is to be more than what was asked for.
const usualHeadroom = 20

// percent is a flag in percent, with or without the sign.
type percent float64

func (p *percent) Set(text string) error {
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	*p = percent(n)
	return err
}

func (p *percent) String() string { return strconv.FormatFloat(float64(*p), 'g', -1, 64) + "%" }
func (p *percent) Type() string   { return "percent" }

// usualCutOff is from which use of their requests Pods are taken to be at their limit.
const usualCutOff = 95

// usualStep is the time between two decisions that are read from a Prometheus: that between two decisions of the controller-manager.
const usualStep = 15 * time.Second

func newRecordCommand(caller *plugin.Caller) *cobra.Command {
	o := replaying.RecordOptions{}
	cmd := &cobra.Command{
		Use:   "record (fhpa/NAME | mpa/NAME)... --file FILE",
		Short: "Write the record of autoscalers' decisions to a file",
		Long: `Write the record of decisions on FederatedHPAs, and on the sizes of MultidimPodAutoscalers, to a file: what each was told,
for replay and the dashboard.

The controller-manager keeps it, in memory or in --record-dir. The hub serves it as history.fleetscale.io, to whoever may get
federatedhpas/decisions (multidimpodautoscalers/decisions) there and the autoscalers themselves: the ClusterRole
fleetscale-history-reader has the former, and so the role view in a namespace. Files of --record-dir are such records, too, of all
autoscalers.

With --from-prometheus a record is made of the metrics of the controller-manager that a Prometheus has scraped, or what else speaks its
API, such as Thanos, Mimir and VictoriaMetrics; and of the present spec, which is read from the hub. What the series do not tell is not
guessed: a replay marks it as not known.`,
		Example: `  # What was decided of cart in the last week.
  kubectl fleetscale record fhpa/cart -n shop --since 168h --file cart.fsr

  # All of a namespace, for the dashboard
  kubectl fleetscale record -n shop $(kubectl get fhpa -n shop -o name) --file shop.fsr

  # What a Prometheus has of the last week
  kubectl -n monitoring port-forward svc/prometheus-operated 9090 &
  kubectl fleetscale record fhpa/cart -n shop --from-prometheus http://127.0.0.1:9090 --since 168h --file cart.fsr`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeRecorded(caller),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Words = args
			return replaying.Record(cmd.Context(), caller, o)
		},
	}
	fs := cmd.Flags()
	addRecorder(cmd, &o.Observer)
	fs.StringVarP(&o.File, "file", "f", "-", "File to write. -: the standard output.")
	fs.DurationVar(&o.Since, "since", 0, "How far back to go. 0: as far as there is a record. Needed with --from-prometheus.")
	p := &o.Prometheus
	fs.StringVar(&p.URL, "from-prometheus", "",
		"Base URL of a Prometheus to make the record from, such as http://127.0.0.1:9090 with kubectl "+
			"port-forward.")
	fs.StringVar(&p.Match, "prometheus-match", "",
		"More label matchers for --from-prometheus, such as hub=\"eu\", where it has the series of "+
			"several hubs.")
	fs.DurationVar(&p.Step, "step", usualStep, "Time between two decisions that are read from a Prometheus. Less than between two scrapes "+
		"adds nothing.")
	fs.StringVar(&p.Tenant, "prometheus-tenant", "",
		"Tenant that --from-prometheus is asked for, as the headers X-Scope-OrgID of Mimir and THANOS-TENANT.")
	fs.StringVar(&p.TokenFile, "prometheus-token-file", "", "File with a bearer token for --from-prometheus.")
	fs.StringVar(&p.CAFile, "prometheus-ca-file", "", "File with the certificate authorities that --from-prometheus is trusted by, in PEM.")
	return cmd
}

func newReplayCommand(caller *plugin.Caller) *cobra.Command {
	o := replaying.Options{}
	cmd := &cobra.Command{
		Use:   "replay (fhpa/NAME | mpa/NAME | FILE | -) [--set FIELD=VALUE]",
		Short: "Show what recorded decisions would have been by another spec",
		Long: `Show what the recorded decisions of a FederatedHPA, or on the sizes of a MultidimPodAutoscaler, would have been by another
spec, beside what they were.

All decisions are made again by the rules of the controller-manager: first by the spec that they were made by, to see that they come out
as they were, and then by the other one. Bounds, targets, tolerances, policies and windows can be set. Nothing is written.

The load is taken to be what it was, and to be spread evenly over the Pods that there would have been, which are Ready at once. Where
the load is not known, that is said: Pods that use all that they may hide what they would use.

Of sizes percentiles, margins, bounds and what else stands in spec.constraints.container can be set. What is used is taken to be what it
was, by as many Pods as there were.

With --sweep several targets of a metric are tried, and the one is advised that takes the fewest Pod-hours. With --headroom alone a target,
minReplicas and maxReplicas are advised that leave so much room.

Of sizes --sweep tries percentiles, or margins (--sweep-field), of all containers, and the least are advised with which no more is used than
is requested. With --headroom that is to be so much more than what is used.

The result is a text, or a page for a browser (-o html), which needs nothing else, or a picture (-o svg).`,
		Example: `  # What would a higher target have saved?
  kubectl fleetscale replay fhpa/cart -n shop --set 'spec.metrics[0].resource.target.averageUtilization=70' --set spec.maxReplicas=40

  # Which target would do, if Pods may use more than 90 % of their requests for 1 % of the time?
  kubectl fleetscale replay fhpa/cart -n shop --sweep 40:80:5 --above 90 --within 1

  # Which target and bounds leave a fifth more than the load?
  kubectl fleetscale replay fhpa/cart -n shop --headroom 20%

  # What would a smaller margin have saved, and which use would not have been covered?
  kubectl fleetscale replay mpa/cart -n shop --set 'spec.constraints.container[0].marginPercent=5'

  # Which percentiles of the use leave a tenth more than what is used, but for 1 % of the time?
  kubectl fleetscale replay mpa/cart -n shop --sweep 75:99:3 --headroom 10%

  # A page for a ticket, and a picture
  kubectl fleetscale replay fhpa/cart -n shop --set spec.maxReplicas=40 -o html > cart.html
  kubectl fleetscale replay fhpa/cart -n shop --set spec.maxReplicas=40 -o svg > cart.svg

  # From a file, for programs
  kubectl fleetscale replay cart.fsr --set spec.maxReplicas=40 -o json`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: completeRecorded(caller),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Words = args
			o.Sweep.Wished = cmd.Flags().Changed("headroom")
			return replaying.Replay(cmd.Context(), caller, o)
		},
	}
	fs := cmd.Flags()
	addRecorder(cmd, &o.Observer)
	fs.StringVar(&o.Object, "fhpa", "", "NAMESPACE/NAME of the FederatedHPA, in a file that has several autoscalers.")
	fs.StringVar(&o.Sized, "mpa", "", "NAMESPACE/NAME of the MultidimPodAutoscaler, in a file that has several autoscalers.")
	fs.DurationVar(&o.Since, "since", 0, "How far back to go. 0: as far as there is a record.")
	fs.StringArrayVar(&o.Set, "set", nil, "A field of the spec and its value: spec.maxReplicas=20. Can be given several times.")
	fs.Int64Var(&o.Above, "above", 0, "The bound, in percent, of the use above which time is counted. It is of what Pods request, and where "+
		"no target is a utilization, of the target as it was. 0: 90, and 120 of a target.")
	fs.Int64Var(&o.CutOff, "cut-off", usualCutOff, "From which use of their requests, in percent, Pods are taken to use all that they may, "+
		"so that the load is not known. 0: never.")
	fs.StringVar(&o.Sweep.Targets, "sweep", "", "Targets to try, FROM:TO:STEP: in percent, or for other targets amounts such as "+
		"100m:300m:50m.")
	fs.IntVar(&o.Sweep.Metric, "sweep-metric", 0, "Index in spec.metrics of the metric whose targets --sweep tries.")
	fs.StringVar((*string)(&o.Sweep.Field), "sweep-field", string(replay.TargetPercentile), "Field of spec.constraints.container of a "+
		"MultidimPodAutoscaler whose values --sweep tries: targetPercentile, or marginPercent.")
	fs.Float64Var(&o.Sweep.Within, "within", 1, "For how much of the time, in percent, the use may be above the bound with the target that "+
		"--sweep advises.")
	o.Sweep.Headroom = usualHeadroom
	fs.Var((*percent)(&o.Sweep.Headroom), "headroom", "By how much the maxReplicas that is advised is to be more than what was asked for. "+
		"Without --sweep a target is advised, too, with which the use may rise by as much before it is what the Pods request.")
	plugin.AddFormat(cmd, &o.Format, replaying.Formats()...)
	return cmd
}

// addRecorder adds --observer of what reads records.
func addRecorder(cmd *cobra.Command, observer *string) {
	cmd.Flags().StringVar(observer, "observer", "", "Address at which a controller-manager with --observe serves its record, such as "+
		"http://127.0.0.1:8082 with kubectl port-forward. Empty: the hub is asked for the record of the controller-manager that acts.")
}

// completeRecorded offers the objects of which there may be records, and files.
func completeRecorded(caller *plugin.Caller) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if strings.HasPrefix(begun, "fhpa/") || strings.HasPrefix(begun, "mpa/") {
			return completeObjects(caller)(cmd, args, begun)
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
}
