// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"fmt"
	"slices"
)

// hubPrelude names what conditions of the hub's chart are made of.
const hubPrelude = `{{- $karmada := has $.Values.hub (list "karmada" "karmadaBesideMetricsAdapter") }}
{{- $grants := ne $.Values.hub "karmadaHost" }}
{{- $runs := not $karmada }}
{{- $adapter := $.Values.metricsAdapter.enabled }}
{{- $webhook := $.Values.webhook.enabled }}
{{- $manager := $.Values.controllerManager.enabled }}
{{- $dashboard := $.Values.dashboard.enabled }}
`

const (
	karmada condition = "$karmada" // this is a Karmada API server, which runs nothing
	grants  condition = "$grants"  // this is the hub, whose API server the programs ask
	runs    condition = "$runs"    // the programs run here

	adapter   condition = "$adapter"
	webhook   condition = "$webhook"
	manager   condition = "$manager"
	dashboard condition = "$dashboard"

	beside      condition = `eq $.Values.hub "besideMetricsServer"`
	host        condition = `eq $.Values.hub "karmadaHost"`
	leads       condition = `has $.Values.hub (list "standalone" "karmada")` // no other server of metrics is there
	selfSigned  condition = `eq $.Values.certificates "selfSigned"`
	certManager condition = `eq $.Values.certificates "certManager"`
	given       condition = `eq $.Values.certificates "given"`
	mounted     condition = `ne $.Values.certificates "selfSigned"` // programs have certificates of Secrets

	monitored condition = "$.Values.monitoring.enabled"
	plugged   condition = "$.Values.credentialPlugins.image"
	sharded   condition = "and (gt (int $.Values.controllerManager.shards) 1) (not $.Values.observe)"
)

// Files of templates.
const (
	namespacesFile = "namespaces.yaml"
	adapterFile    = "metrics-adapter.yaml"
	webhookFile    = "webhook.yaml"
	managerFile    = "controller-manager.yaml"
	dashboardFile  = "dashboard.yaml"
	sourcesFile    = "sources.yaml"
	monitoringFile = "monitoring.yaml"
)

// hubOptions are those of the chart fleetscale. Later ones change what earlier ones add.
func hubOptions() []option {
	all := []option{
		{file: namespacesFile, to: resources("deploy/base/namespace")},
		{file: namespacesFile, objects: grants.and(adapter.or(manager)), to: resources("deploy/base/registrations")},
	}
	all = append(all, adapterOptions()...)
	all = append(all, webhookOptions()...)
	all = append(all, managerOptions()...)
	all = append(all, karmadaOptions()...)
	all = append(all, certificateOptions()...)
	all = append(all, sourceOptions()...)
	all = append(all, profileOptions()...)
	return append(all, runningOptions()...)
}

func adapterOptions() []option {
	base := resources("deploy/base")
	leadsTo := func(api, component string) option {
		served := condition(fmt.Sprintf("has %q $.Values.apis", api))
		return option{file: adapterFile, objects: leads.and(served).and(adapter), to: components("deploy/components/" + component)}
	}
	return []option{
		{file: adapterFile, objects: runs.and(adapter), to: resources("deploy/base/adapter")},
		{file: adapterFile, objects: grants.and(adapter), to: resources("deploy/base/hub")},
		leadsTo("metrics.k8s.io", "apiservice"),
		leadsTo("custom.metrics.k8s.io", "apiservice-custom"),
		leadsTo("external.metrics.k8s.io", "apiservice-external"),
		{file: adapterFile, when: selfSigned, objects: grants.and(adapter), to: components("certs/self-signed/adapter")},
		{file: adapterFile, when: beside, objects: adapter, from: base, to: base.with("deploy/components/hub-metrics-server")},
	}
}

func webhookOptions() []option {
	return []option{
		{file: webhookFile, objects: runs.and(webhook), to: resources("deploy/base/webhook")},
		{file: webhookFile, objects: grants.and(webhook), to: resources("deploy/base/webhook-hub")},
		{file: webhookFile, when: selfSigned, objects: grants.and(webhook), to: components("certs/self-signed")},
	}
}

func managerOptions() []option {
	return []option{
		{file: managerFile, objects: runs.and(manager), to: resources("deploy/base/controller-manager")},
		{file: managerFile, objects: grants.and(manager), to: resources("deploy/base/controller-manager-hub")},
		{file: managerFile, objects: grants.and(manager).and(sharded), to: resources("deploy/components/shards/rights")},
	}
}

// karmadaOptions are what the overlays of a Karmada API server, and of the cluster that hosts it, have other than those of a hub that
// runs the programs itself.
func karmadaOptions() []option {
	const overlays = "deploy/overlays/karmada/"
	namespaces := []string{"deploy/base/namespace", "deploy/base/registrations"}
	onHub := func(folders ...string) kustomization { return resources(slices.Concat(namespaces, folders)...) }
	onHost := func(program string) kustomization { return resources("deploy/base/namespace", "deploy/base/"+program) }
	return []option{
		{
			file: adapterFile, when: karmada, objects: adapter,
			from: onHub("deploy/base/hub").with("certs/self-signed/adapter"), to: resources(overlays + "beside-metrics-adapter"),
		},
		{
			file: webhookFile, when: karmada, objects: webhook,
			from: resources("deploy/base/namespace", "deploy/base/webhook-hub").with("certs/self-signed"), to: resources(overlays + "webhook"),
		},
		{
			file: managerFile, when: karmada, objects: manager,
			from: onHub("deploy/base/controller-manager-hub"), to: resources(overlays + "controller-manager"),
		},
		{file: "through-hub.yaml", when: karmada.and("$.Values.throughHub"), to: resources(overlays + "through-hub")},
		{file: adapterFile, when: host, objects: adapter, from: onHost("adapter"), to: resources(overlays + "host")},
		{file: webhookFile, when: host, objects: webhook, from: onHost("webhook"), to: resources(overlays + "webhook-host")},
		{
			file: managerFile, when: host, objects: manager,
			from: onHost("controller-manager"), to: resources(overlays + "controller-manager-host"),
		},
	}
}

// certificateOptions come after those that give Deployments volumes: kustomize puts what is added later before.
func certificateOptions() []option {
	const apiServices = "deploy/components/apiservice"
	all := resources("deploy/base").with(apiServices, apiServices+"-custom", apiServices+"-external")
	judged := components("deploy/components/webhook")
	return []option{
		// The webhook has a certificate of the same authority.
		{when: mounted, from: all, to: all.with("certs/given")},
		{when: mounted, from: judged, to: judged.with("certs/given/webhook")},
		{file: adapterFile, when: certManager, objects: runs, from: all.with("certs/given"), to: all.with("certs/cert-manager")},
		{
			file: webhookFile, when: certManager, objects: runs.and(webhook),
			from: judged.with("certs/given/webhook"), to: judged.with("certs/cert-manager/webhook"),
		},
	}
}

// sourceOptions are for a hub that runs the programs itself: the schema of the values refuses them elsewhere.
func sourceOptions() []option {
	programs := resources("deploy/base").with("deploy/components/controller-manager")
	source := func(component string, when condition) option {
		return option{file: sourcesFile, when: when, from: programs, to: programs.with("deploy/components/" + component)}
	}
	rights := func(component, namespaces string) option {
		return option{file: sourcesFile, each: namespaces, to: resources("deploy/components/" + component + "/rights")}
	}
	return []option{
		source("placement-decisions", "$.Values.placementDecisions"),
		source("source-argocd", "$.Values.sources.argocd"),
		source("source-capi", "$.Values.sources.capi"),
		rights("source-capi", "$.Values.sources.capi"),
		source("source-clusterprofile", "$.Values.sources.clusterprofile"),
		rights("source-clusterprofile", "$.Values.sources.clusterprofile"),
		source("source-multicluster-runtime", "$.Values.sources.multiclusterRuntime"),
		source("source-rancher", "$.Values.sources.rancher"),
		rights("source-rancher", "$.Values.sources.rancher"),
	}
}

// profileOptions are what the programs may do, and where.
func profileOptions() []option {
	programs := resources("deploy/base").with("deploy/components/webhook", "deploy/components/controller-manager")
	observer := resources("deploy/overlays/karmada/controller-manager", "deploy/base/controller-manager")
	return []option{
		{when: "$.Values.observe", from: observer, to: observer.with("deploy/components/observe")},
		{
			file: namespacesFile, when: "$.Values.namespaces", objects: grants,
			from: programs, to: programs.with("deploy/components/namespaces"),
		},
		{
			file: namespacesFile, when: grants, each: "$.Values.namespaces",
			to: resources("deploy/components/namespaces/rights"),
		},
	}
}

// runningOptions are for a hub that runs the programs itself: the schema of the values refuses them elsewhere.
func runningOptions() []option {
	const monitoring = "deploy/components/monitoring"
	programs := resources("deploy/base").with("deploy/components/controller-manager")
	scraped := programs.with(monitoring)
	return []option{
		{file: monitoringFile, when: monitored, from: programs, to: scraped},
		{
			file: monitoringFile, when: monitored.and("$.Values.monitoring.scraper.name"),
			to: components("deploy/components/metrics-scraper"),
		},
		{when: monitored.and(mounted), from: scraped, to: scraped.with("certs/given/monitoring")},
		{
			file: monitoringFile, when: certManager, objects: monitored,
			from: scraped.with("certs/given/monitoring"), to: scraped.with("certs/cert-manager/monitoring"),
		},
		{file: dashboardFile, when: dashboard, to: components("deploy/components/dashboard")},
		{file: dashboardFile, when: dashboard.and(certManager), to: components("certs/cert-manager/dashboard")},
		{when: plugged, from: programs, to: programs.with("deploy/components/credential-plugins")},
	}
}
