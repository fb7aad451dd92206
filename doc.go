// SPDX-License-Identifier: Apache-2.0

// Package fleetscale autoscales one workload that runs in many Kubernetes clusters. It holds no code: this page is the
// map of the repository, and imports_test.go beside it holds the map to be true.
//
// The hub is the API server that people and autoscalers talk to. The members are the clusters where pods run. All
// members together are the fleet.
//
// Packages stand in rings. A package imports only from rings inside its own; what is pure stays pure, and a reader who
// opens an inner package need not know the outer ones.
//
//	5 programs   cmd/*             main, and nothing else; cmd itself holds the metrics of all to rules
//	4 wiring     cmd/*/app         options, validate, wire, run
//	3 edges      pkg/metricsadapter
//	             pkg/webhook
//	             pkg/controllers/* one package per API or controller: gather, decide, apply; a
//	                               controller with modes has one package below it for each
//	             pkg/plugin/       the commands of kubectl-fleetscale
//	               dashboard       a page about a fleet: the caller's own, and that of cmd/dashboard for many
//	               cordon          no more for a member, or nothing at all
//	               crontab         when rules run next
//	               doctor          what is wrong with a fleet, and how to repair it
//	               lint            what the webhook would say of manifests, without a cluster
//	               pause           an autoscaler stops for a while, or does not scale in
//	               replaying       recorded decisions, made again by another spec
//	               status          the members and autoscalers of a fleet
//	               takeover        the hub's metrics APIs lead to the adapter, and back
//	               top             what Pods and nodes use, by clusters
//	               membership      how clusters join, leave and get new tokens
//	2 I/O        pkg/members/      what is asked of members, and kept of them
//	               member          which clusters there are, their health and identity
//	               connection      how one cluster is asked: bounded in time, bytes and requests
//	               ratelimit       whose request to a cluster is sent next
//	               usage           cpu and memory of the fleet's pods and nodes
//	               relay           their custom and external metrics
//	               memory          what is kept of both, bounded, fairly for each namespace
//	               mirror          what they hold of one kind of object, kept by watches
//	               pods            compact records of the fleet's pods
//	               capacity        what each could still run, and how large
//	               workload        what they run of one workload, and who scales it there
//	               sizing          how large its Pods are, may be, and new ones become; who else sizes it
//	               selection       which of them an autoscaler selects, and what is known of its workload there
//	               history         what containers of a workload used there, kept, and saved on the hub
//	               memberview      what the controller-manager sees of them, for the adapter
//	             pkg/hub/          what is asked of the hub; it knows nothing of pkg/members
//	               apiservice      which APIServices lead its metrics APIs to the adapter, and where one points
//	               configmap       texts that one program writes and others follow
//	               hubclient       how controllers write to it: statuses, or nothing
//	               hubmetrics      what its metrics APIs say of a workload
//	               placement       in which clusters others place a workload
//	               served          whether it serves our schema
//	               shardlease      which shards of the objects a replica holds, by Leases
//	               webhooks        whether webhooks of Karmada are asked about our kinds
//	             pkg/recording/recordstore  records of decisions, in memory or in files, and for the adapter
//	             pkg/registration/watcher  its objects that register members, kept by watches
//	             pkg/claims/index  its autoscalers by what they scale
//	             pkg/certs         how certificates come to be
//	             pkg/readonly      a transport that sends nothing but reads
//	             pkg/fence         a transport that writes nothing for who no longer owns an object
//	             pkg/command       what the command lines of servers have in common
//	             pkg/plugin        what the commands of kubectl-fleetscale have in common; each has a
//	                               package below it, in ring 3, and pages has what browsers run
//	             pkg/controllers/perobject  what a controller knows of each object
//	             pkg/controllers/sharding   whose object is reconciled next, and by which replica
//	             pkg/controllers/restore    objects that have lost fields to another schema, and get them back
//	1 decisions  pkg/replicas      how many replicas
//	             pkg/explanation   why so many replicas, as it is stored, printed and decided again
//	             pkg/recording     what decisions were told, so that they can be made again
//	             pkg/replay        what they would have been by another spec
//	             pkg/chart         pictures of figures
//	             pkg/recommendation  what containers should request, by the spec of a MultidimPodAutoscaler
//	             pkg/goals         the FederatedHPA that a MultidimPodAutoscaler owns, and what Pods reserve for it
//	             pkg/assignment    which of them where
//	             pkg/memberhpa     a member's part of an autoscaler, to be and as it is
//	             pkg/fit           how many more fit a cluster, and how large they may be
//	             pkg/schedule      when: cron and time zones
//	             pkg/setback       who undoes what is written, again and again
//	             pkg/shards        which object is in which shard, and which replica should hold it
//	             pkg/shares        who gives way where tenants share a bound
//	             pkg/sizes         how large: requests of containers, from what they used
//	             pkg/speccopy      what another schema drops of a spec, kept in an annotation
//	             pkg/cronplan      which runs of a CronFederatedHPA are due, and what they set
//	             pkg/merge         one metric from many clusters
//	             pkg/summary       a status in few words
//	             pkg/claims        who else scales or sizes a workload, and what to do about it
//	             pkg/admission     what may be stored, and why not
//	             pkg/registration  which objects register members, and what they mean
//	             pkg/taints        who is cordoned or drained
//	             pkg/tenancy       in which namespaces a program acts, and which are nobody's to scale in
//	             pkg/grants        what deploy/ grants to whom, and which rights programs need in members
//	             pkg/guard         what may be decoded, and why not
//	             pkg/compact       what many Pods have in common, kept once
//	             pkg/wire          what is read and written by hand: protobuf, lists of PodMetrics
//	0 words      pkg/apis          API types and their defaults, and what is read of others
//	             pkg/fleet         answers with their coverage
//	             pkg/version       which build a program is
//	             deploy            manifests that programs apply
//
// Packages whose names end in test stand beside what they are for (pkg/members/memberstest): tests of every ring may
// import them, and nothing else.
//
// Beside them: test/ is a Go module of its own, with real control planes on one machine (test/lab), end-to-end tests
// (test/e2e) and the demo; test/oracle is another, for the library that judges pkg/sizes, and test/certmanager, for
// the controllers of cert-manager, and test/karmada, for the programs of Karmada, and test/kubernetes/*, for those of
// control planes of other versions; tools/ is one more, with pinned tools and our own, and tools/dist, which makes
// releases, and tools/monitoring, by which alerts and dashboards are judged; deploy/ holds manifests; docs/ explains,
// and docs/architecture.md is where to begin.
package fleetscale
