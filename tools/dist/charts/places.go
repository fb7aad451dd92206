// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"errors"
	"fmt"
)

// program is one of those that the chart runs, and values says where the chart has its values.
type program struct{ name, values string }

var (
	adapterProgram = program{"metrics-adapter", "$.Values.metricsAdapter"}
	webhookProgram = program{"webhook", "$.Values.webhook"}
	managerProgram = program{"controller-manager", "$.Values.controllerManager"}
	// Nothing of the fleet waits for it.
	dashboardProgram = program{"dashboard", "$.Values.dashboard"}
)

// place has values stand where the Deployments of the programs have what people change.
func (b *builder) place() error {
	sources := arguments("capi-namespaces", "$.Values.sources.capi")
	sources = append(sources, arguments("rancher-namespaces", "$.Values.sources.rancher")...)
	sources = append(sources, arguments("clusterprofile-namespaces", "$.Values.sources.clusterprofile")...)
	namespaces := arguments("namespaces", "$.Values.namespaces")
	allowed := []choice{{plugged, &part{code: `include "fleetscale.allowedCommands" $.Values.credentialPlugins`, block: true}}}
	apis := choice{
		"lt (len $.Values.apis) 3",
		&part{code: `--apis={{ join "," $.Values.apis }}`},
	}
	prices := []choice{
		{managerProgram.at("prices.cpuHour"), &part{code: "--price-cpu-hour={{ " + managerProgram.values + ".prices.cpuHour }}"}},
		{managerProgram.at("prices.gibHour"), &part{code: "--price-gib-hour={{ " + managerProgram.values + ".prices.gibHour }}"}},
	}
	shards := []choice{{sharded, &part{code: "--shards={{ int " + managerProgram.values + ".shards }}"}}}
	for _, p := range []struct {
		program
		arguments [][]choice
	}{
		{adapterProgram, [][]choice{sources, namespaces, allowed, {apis}}},
		{webhookProgram, [][]choice{namespaces}},
		{managerProgram, [][]choice{sources, namespaces, allowed, prices, shards}},
		{dashboardProgram, nil},
	} {
		if err := b.placeIn(p.program, p.arguments...); err != nil {
			return fmt.Errorf("the Deployment of %s: %w", p.name, err)
		}
	}
	return errors.Join(b.placeAuthority(), b.placeScraper())
}

// placeAuthority has the hub verify certificates that are given.
func (b *builder) placeAuthority() error {
	authority := []choice{{given, &part{code: "{{ $.Values.authority | b64enc }}"}}}
	placed := 0
	for _, o := range b.objects {
		switch o.made["kind"] {
		case "APIService":
			o.part.field("spec").fields["caBundle"] = authority
			placed++
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
			for _, w := range o.part.field("webhooks").items {
				w.part.field("clientConfig").fields["caBundle"] = authority
				placed++
			}
		}
	}
	if placed == 0 {
		return errors.New("nothing leads the hub to the programs")
	}
	return nil
}

// placeScraper says which account may scrape.
func (b *builder) placeScraper() error {
	for _, o := range b.objects {
		if !o.is("ClusterRoleBinding", "fleetscale-metrics-scraper") {
			continue
		}
		subject := o.part.field("subjects").item()
		for _, key := range []string{"name", "namespace"} {
			subject.field(key).code = "{{ $.Values.monitoring.scraper." + key + " }}"
		}
		return nil
	}
	return errors.New("nobody may scrape")
}

func (p program) at(value string) condition { return condition(p.values + "." + value) }

// arguments are one flag with a list of namespaces, if it has any.
func arguments(flag, values string) []choice {
	return []choice{{condition(values), &part{code: fmt.Sprintf(`--%s={{ join "," %s }}`, flag, values)}}}
}

func (b *builder) placeIn(p program, arguments ...[]choice) error {
	for _, o := range b.objects {
		if o.is("ServiceAccount", p.name) {
			annotations := p.at("serviceAccountAnnotations")
			o.part.field("metadata").fields["annotations"] = []choice{{annotations, &part{code: toYAML(annotations), block: true}}}
		}
	}
	for _, o := range b.objects {
		if o.is("Deployment", p.name) {
			return p.placeIn(o.part, arguments)
		}
	}
	return errors.New("there is none")
}

func toYAML(values condition) string { return "toYaml " + string(values) }

func (p program) placeIn(deployment *part, arguments [][]choice) error {
	spec := deployment.field("spec")
	pod := spec.field("template").field("spec")
	container := pod.field("containers").item()
	replicas, image, resources := spec.field("replicas"), container.field("image"), container.field("resources")
	args, limit, priority := container.field("args"), container.field("env").named("GOMEMLIMIT").field("value"), pod.field("priorityClassName")
	nodes, labels := pod.field("nodeSelector"), spec.field("template").field("metadata").field("labels")
	for _, found := range []*part{replicas, image, resources, args, limit, nodes, labels} {
		if found == nil {
			return errors.New("it lacks a field that a value of the chart stands for")
		}
	}
	replicas.code = "{{ int " + p.values + ".replicas }}"
	image.code = fmt.Sprintf("{{ include %q (list $ %q %s) }}", "fleetscale.image", p.name, p.values)
	limit.code = fmt.Sprintf("{{ include %q %s }}", "fleetscale.memoryLimit", p.values)
	if priority != nil {
		priority.code = "{{ $.Values.priorityClassName }}"
		pod.fields["priorityClassName"][0].when = pod.fields["priorityClassName"][0].when.and("$.Values.priorityClassName")
	}
	*resources = part{code: "toYaml " + p.values + ".resources", block: true}
	for _, key := range []string{"nodeSelector", "tolerations", "affinity", "imagePullSecrets"} {
		value := "$.Values." + key
		pod.fields[key] = []choice{{condition(value), &part{code: "toYaml " + value, block: true}}}
	}
	labels.more = []choice{{p.at("podLabels"), &part{code: toYAML(p.at("podLabels"))}}}
	pod.addItems("volumes", p.at("volumes"))
	container.addItems("volumeMounts", p.at("volumeMounts"))
	if plugins := pod.field("volumes").named("credential-plugins"); plugins != nil {
		plugins.field("image").field("reference").code = "{{ $.Values.credentialPlugins.image | quote }}"
	}
	for _, more := range arguments {
		args.items = append(args.items, more...)
	}
	args.items = append(args.items, choice{p.at("args"), &part{code: "toYaml " + p.values + ".args", block: true}})
	return nil
}

// field is the first choice for a field; nil has none.
func (p *part) field(key string) *part {
	if p == nil || len(p.fields[key]) == 0 {
		return nil
	}
	return p.fields[key][0].part
}

// addItems has a list of a map, which need not be there, end with those of a value.
func (p *part) addItems(key string, values condition) {
	added := choice{values, &part{code: toYAML(values), block: true}}
	if len(p.fields[key]) == 0 {
		p.fields[key] = []choice{{values, &part{list: true, items: []choice{added}}}}
		return
	}
	list := &p.fields[key][0]
	for i := range list.part.items {
		if !list.part.merged {
			list.part.items[i].when = list.part.items[i].when.and(list.when)
		}
	}
	list.part.merged = true
	list.part.items = append(list.part.items, added)
	list.when = list.when.or(values)
}

// named is the item of a list that has a name; nil has none.
func (p *part) named(name string) *part {
	if p == nil {
		return nil
	}
	for _, i := range p.items {
		if n := i.part.field("name"); n != nil && n.value == name {
			return i.part
		}
	}
	return nil
}

// item is the first of a list; nil has none.
func (p *part) item() *part {
	if p == nil || len(p.items) == 0 {
		return nil
	}
	return p.items[0].part
}
