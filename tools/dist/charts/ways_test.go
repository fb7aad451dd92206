// SPDX-License-Identifier: Apache-2.0

package charts

const (
	onlyAdapter = "webhook: {enabled: false}\ncontrollerManager: {enabled: false}\n"
	onlyWebhook = "metricsAdapter: {enabled: false}\ncontrollerManager: {enabled: false}\n"
	onlyManager = "metricsAdapter: {enabled: false}\nwebhook: {enabled: false}\n"
)

// hubs are the overlays of a hub, and what may be added to them.
func hubs() map[string]same {
	const all = "- target: {kind: Deployment, name: metrics-adapter|controller-manager|webhook}\n  patch: |\n"
	mine := func(program overlay) overlay {
		return "- {name: ghcr.io/fleetscale/" + program + ", newName: registry.example.com/mine/" + program + ", newTag: v9}\n"
	}
	standalone := of("deploy/overlays/standalone")
	return map[string]same{
		"standalone":              {"", standalone},
		"standalone-cert-manager": {"certificates: certManager", of("deploy/overlays/standalone-cert-manager")},
		"beside-metrics-server":   {"hub: besideMetricsServer", of("deploy/overlays/beside-metrics-server")},
		"beside-metrics-server with cert-manager": {
			"hub: besideMetricsServer\ncertificates: certManager",
			of("deploy/base").with("webhook", "controller-manager", "hub-metrics-server", "certs/cert-manager", "certs/cert-manager/webhook"),
		},
		"only the adapter": {
			onlyAdapter,
			of("deploy/base").with("apiservice", "apiservice-custom", "apiservice-external", "certs/self-signed/adapter"),
		},
		"KEDA keeps its API": {
			onlyAdapter + "apis: [metrics.k8s.io, custom.metrics.k8s.io]",
			of("deploy/base").with("certs/self-signed/adapter", "apiservice", "apiservice-custom") +
				"patches:\n- target: {kind: Deployment}\n  patch: |\n" + argument("--apis=metrics.k8s.io,custom.metrics.k8s.io"),
		},
		"observe": {"observe: true", standalone.with("observe")},
		"given certificates": {
			"certificates: given\n" + authority,
			of("deploy/base").with("webhook", "controller-manager", "apiservice", "apiservice-custom", "apiservice-external",
				"certs/given", "certs/given/webhook") + verified,
		},
		"monitoring": {"monitoring: {enabled: true}", standalone.with("monitoring", "metrics-scraper")},
		"monitoring by another Prometheus": {
			"monitoring: {enabled: true, scraper: {name: mine, namespace: prometheus}}", standalone.with("monitoring", "metrics-scraper") +
				"patches:\n- target: {kind: ClusterRoleBinding, name: fleetscale-metrics-scraper}\n  patch: |\n" +
				"    - {op: replace, path: /subjects/0/name, value: mine}\n    - {op: replace, path: /subjects/0/namespace, value: prometheus}\n",
		},
		"monitoring by nobody yet": {"monitoring: {enabled: true, scraper: {name: ''}}", standalone.with("monitoring")},
		"monitoring with cert-manager": {
			"certificates: certManager\nmonitoring: {enabled: true}",
			of("deploy/overlays/standalone-cert-manager").with("monitoring", "metrics-scraper", "certs/cert-manager/monitoring"),
		},
		"monitoring with given certificates": {
			"certificates: given\nmonitoring: {enabled: true}\n" + authority,
			of("deploy/base").with("webhook", "controller-manager", "apiservice", "apiservice-custom", "apiservice-external",
				"certs/given", "certs/given/webhook", "monitoring", "metrics-scraper", "certs/given/monitoring") + verified,
		},
		"credential plugins": {plugins + "  allowed: [mine token *, 'other \"a,b\"']\n", standalone.with("credential-plugins") + pluggedIn +
			argument("--allowed-exec-commands=mine token *") + argument(`--allowed-exec-commands=other "a,b"`)},
		"credential plugins of a cloud": {
			plugins + "  allowed: [mine]\nmetricsAdapter:" + ofCloud + "controllerManager:" + ofCloud,
			standalone.with("credential-plugins") + pluggedIn + argument("--allowed-exec-commands=mine") + clouded,
		},
		"monitoring with credential plugins and cert-manager": {
			"certificates: certManager\nmonitoring: {enabled: true}\n" + plugins + "  allowed: [mine]\n",
			of("deploy/overlays/standalone-cert-manager").with("monitoring", "metrics-scraper",
				"certs/cert-manager/monitoring", "credential-plugins") + pluggedIn + argument("--allowed-exec-commands=mine"),
		},
		"namespaces": {"namespaces: [shop, pay]", of("test/deploy/testdata/namespaces")},
		"all sources": {
			"placementDecisions: true\n" +
				"sources: {argocd: true, multiclusterRuntime: true, capi: [prod], clusterprofile: [inventory], rancher: [fleet-default]}",
			of("test/deploy/testdata/sources"),
		},
		"one source": {"sources: {argocd: true}", standalone.with("source-argocd")},
		"all programs with more arguments": {
			"metricsAdapter: {args: [--v=2]}\nwebhook: {args: [--v=2]}\ncontrollerManager: {args: [--v=2]}",
			standalone + "patches:\n" + all + argument("--v=2"),
		},
		"much at once": {
			"hub: besideMetricsServer\ncertificates: certManager\nobserve: true\nnamespaces: [shop]\n" +
				"sources: {argocd: true, multiclusterRuntime: true}",
			of("deploy/base", "test/deploy/testdata/namespaces/shop").with(
				"webhook", "controller-manager", "hub-metrics-server", "certs/cert-manager", "certs/cert-manager/webhook",
				"source-argocd", "source-multicluster-runtime", "observe", "namespaces",
			) + "patches:\n" + all + argument("--namespaces=shop"),
		},
		"dashboard": {"dashboard: {enabled: true}", standalone.with("dashboard")},
		"dashboard with cert-manager": {
			"certificates: certManager\ndashboard: {enabled: true}",
			of("deploy/overlays/standalone-cert-manager").with("dashboard", "certs/cert-manager/dashboard"),
		},
		"dashboard of another size": {
			"dashboard: {enabled: true, args: [--max-pages=50], resources: {limits: {memory: 2Gi}}}",
			standalone.with("dashboard") + "patches:\n- target: {kind: Deployment, name: dashboard}\n  patch: |\n" +
				argument("--max-pages=50") + "    - {op: replace, path: /spec/template/spec/containers/0/resources/limits/memory, value: 2Gi}\n" +
				"    - {op: replace, path: /spec/template/spec/containers/0/env/0/value, value: 1536MiB}\n",
		},
		"prices": {
			"controllerManager: {prices: {cpuHour: 0.0316, gibHour: 0.004}}",
			standalone + "patches:\n- target: {kind: Deployment, name: controller-manager}\n  patch: |\n" +
				argument("--price-cpu-hour=0.0316") + argument("--price-gib-hour=0.004"),
		},
		"shards": {"controllerManager: {shards: 64}", standalone.with("shards")},
		"another registry and tag": {
			"image: {registry: registry.example.com/mine, tag: v9}",
			standalone + "images:\n" + mine("metrics-adapter") + mine("webhook") + mine("controller-manager"),
		},
		"a digest": {
			"webhook: {digest: '" + aDigest + "'}",
			standalone + "images:\n- {name: ghcr.io/fleetscale/webhook, newTag: v0.1.0, digest: '" + aDigest + "'}\n",
		},
		"other Pods": {otherPodsValues, standalone + otherPods},
	}
}

// authority is one that is given, and verified has the hub verify certificates by it.
const (
	authority = "authority: \"-----BEGIN CERTIFICATE-----\\nAA==\\n\"\n"
	bundle    = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCkFBPT0K"
	verified  = "patches:\n- target: {kind: APIService}\n  patch: |\n    - {op: add, path: /spec/caBundle, value: " + bundle + "}\n" +
		"- target: {group: admissionregistration.k8s.io}\n  patch: |\n" +
		"    - {op: add, path: /webhooks/0/clientConfig/caBundle, value: " + bundle + "}\n" +
		"    - {op: add, path: /webhooks/1/clientConfig/caBundle, value: " + bundle + "}\n" +
		"    - {op: add, path: /webhooks/2/clientConfig/caBundle, value: " + bundle + "}\n"
)

// notSelfSigned takes from an overlay what the webhook needs to sign its own certificate.
const notSelfSigned = `- target: {kind: Secret|Role|RoleBinding|ClusterRole|ClusterRoleBinding, name: .*webhook.*self-signed.*}
  patch: |
    $patch: delete
    kind: any
    metadata: {name: any}
`

// plugins are those of an image, and pluggedIn names it; arguments follow.
const (
	plugins   = "credentialPlugins:\n  image: registry.example.com/mine@" + aDigest + "\n"
	pluggedIn = `patches:
- target: {kind: Deployment, name: metrics-adapter|controller-manager}
  patch: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: any}
    spec: {template: {spec: {volumes: [{name: credential-plugins, image: {reference: "registry.example.com/mine@` + aDigest + `"}}]}}}
- target: {kind: Deployment, name: metrics-adapter|controller-manager}
  patch: |
`
)

// ofCloud is what a cloud has to be told of a program, and clouded is the same as patches.
const (
	ofCloud = `
  serviceAccountAnnotations: {cloud.example.com/role: reads}
  podLabels: {cloud.example.com/use: "true"}
  volumes: [{name: cloud, configMap: {name: cloud}}]
  volumeMounts: [{name: cloud, mountPath: /home/nonroot/.cloud, readOnly: true}]
`
	clouded = `
    - {op: add, path: /spec/template/metadata/labels/cloud.example.com~1use, value: "true"}
    - {op: add, path: /spec/template/spec/volumes/-, value: {name: cloud, configMap: {name: cloud}}}
    - op: add
      path: /spec/template/spec/containers/0/volumeMounts/-
      value: {name: cloud, mountPath: /home/nonroot/.cloud, readOnly: true}
- target: {kind: ServiceAccount, name: metrics-adapter|controller-manager}
  patch: |
    - {op: add, path: /metadata/annotations, value: {cloud.example.com/role: reads}}
`
)

const aDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

const otherPodsValues = `
priorityClassName: ""
nodeSelector: {pool: system}
tolerations: [{key: dedicated, operator: Exists}]
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}
imagePullSecrets: [{name: registry}]
metricsAdapter: {replicas: 3, resources: {requests: {memory: 1Gi}, limits: {memory: 2Gi}}}
`

const otherPods = `patches:
- target: {kind: Deployment}
  patch: |
    - {op: remove, path: /spec/template/spec/priorityClassName}
    - {op: add, path: /spec/template/spec/nodeSelector/pool, value: system}
    - {op: add, path: /spec/template/spec/tolerations, value: [{key: dedicated, operator: Exists}]}
    - op: add
      path: /spec/template/spec/affinity
      value:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}
    - {op: add, path: /spec/template/spec/imagePullSecrets, value: [{name: registry}]}
- target: {kind: Deployment, name: metrics-adapter}
  patch: |
    - {op: replace, path: /spec/replicas, value: 3}
    - {op: replace, path: /spec/template/spec/containers/0/resources/requests/memory, value: 1Gi}
    - {op: replace, path: /spec/template/spec/containers/0/resources/limits/memory, value: 2Gi}
    - {op: replace, path: /spec/template/spec/containers/0/env/0/value, value: 1536MiB}
`

// karmadas are the overlays of a Karmada control plane and of the cluster that hosts it: one for each program, and all at once.
func karmadas() map[string]same {
	const overlays = "deploy/overlays/karmada/"
	const hub, host = "hub: karmada\n", "hub: karmadaHost\n"
	return map[string]same{
		"karmada/control-plane":           {hub + onlyAdapter, of(overlays + "control-plane")},
		"karmada/beside-metrics-adapter":  {"hub: karmadaBesideMetricsAdapter\n" + onlyAdapter, of(overlays + "beside-metrics-adapter")},
		"karmada/webhook":                 {hub + onlyWebhook, of(overlays + "webhook")},
		"karmada/controller-manager":      {hub + onlyManager, of(overlays + "controller-manager")},
		"karmada/through-hub":             {hub + onlyAdapter + "throughHub: true", of(overlays+"control-plane", overlays+"through-hub")},
		"karmada/host":                    {host + onlyAdapter, of(overlays + "host")},
		"karmada/webhook-host":            {host + onlyWebhook, of(overlays + "webhook-host")},
		"karmada/controller-manager-host": {host + onlyManager, of(overlays + "controller-manager-host")},
		"karmada/host with cert-manager": {
			host + onlyAdapter + "certificates: certManager", of(overlays + "host").with("certs/cert-manager"),
		},
		"shards on the hub of Karmada": {
			hub + onlyManager + "controllerManager: {shards: 64}", of(overlays+"controller-manager", "deploy/components/shards/rights"),
		},
		"shards on the host of Karmada": {
			host + onlyManager + "controllerManager: {shards: 8}", of(overlays+"controller-manager-host") +
				"patches:\n- target: {kind: Deployment}\n  patch: |\n" + argument("--shards=8"),
		},
		"all on the hub of Karmada": {
			hub, of(overlays+"control-plane") + apart + of(overlays+"webhook") + apart + of(overlays+"controller-manager"),
		},
		"all on the host of Karmada": {
			host, of(overlays+"host") + apart + of(overlays+"webhook-host") + apart + of(overlays+"controller-manager-host"),
		},
		"given certificates on the hub of Karmada": {
			hub + onlyWebhook + "certificates: given\n" + authority, of(overlays+"webhook") + verified + notSelfSigned,
		},
		"given certificates on the host of Karmada": {
			host + onlyAdapter + "certificates: given", of(overlays + "host").with("certs/given"),
		},
		"observe on the hub of Karmada":  {hub + onlyManager + "observe: true", of(overlays + "controller-manager").with("observe")},
		"observe on the host of Karmada": {host + onlyManager + "observe: true", of(overlays + "controller-manager-host").with("observe")},
		"namespaces on the hub of Karmada": {
			hub + onlyManager + "namespaces: [shop]",
			of(overlays+"controller-manager", "test/deploy/testdata/namespaces/shop").with("namespaces"),
		},
	}
}

func members() map[string]same {
	shop := func(rights string) overlay {
		return apart + "namespace: shop\n" + of("deploy/member-namespaced/"+rights+"/rights")
	}
	pay := func(rights string) overlay {
		return apart + "namespace: pay\n" + of("deploy/member-namespaced/"+rights+"/rights")
	}
	const some = "namespaces: [shop, pay]\n"
	return map[string]same{
		"member":                  {"rights: read", of("deploy/member")},
		"member-write":            {"", of("deploy/member-write")},
		"member-observe":          {"rights: observe", of("deploy/member-observe")},
		"member-create":           {"create: true", of("deploy/member-write", "deploy/member-create")},
		"member-sizes":            {"sizes: true", of("deploy/member-write", "deploy/member-sizes")},
		"member-namespaced/read":  {some + "rights: read", of("deploy/member-namespaced/read") + shop("read") + pay("read")},
		"member-namespaced/write": {some, of("deploy/member-namespaced/write") + shop("write") + pay("write")},
		"member-namespaced/sizes": {
			some + "sizes: true", of("deploy/member-namespaced/write", "deploy/member-namespaced/sizes") +
				shop("write") + shop("sizes") + pay("write") + pay("sizes"),
		},
	}
}
