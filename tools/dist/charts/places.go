// SPDX-License-Identifier: Apache-2.0

package charts

import "fmt"

// program is one of those that the chart runs, and values says where the chart has its values.
type program struct{ name, values string }

var (
	adapterProgram = program{"metrics-adapter", "$.Values.metricsAdapter"}
	webhookProgram = program{"webhook", "$.Values.webhook"}
	managerProgram = program{"controller-manager", "$.Values.controllerManager"}
)

// place has values stand where the Deployments of the programs have what people change.
func (b *builder) place() error {
	sources := arguments("capi-namespaces", "$.Values.sources.capi")
	sources = append(sources, arguments("rancher-namespaces", "$.Values.sources.rancher")...)
	sources = append(sources, arguments("clusterprofile-namespaces", "$.Values.sources.clusterprofile")...)
	namespaces := arguments("namespaces", "$.Values.namespaces")
	apis := choice{
		"lt (len $.Values.apis) 3",
		&part{code: `--apis={{ join "," $.Values.apis }}`},
	}
	prices := []choice{
		{managerProgram.at("prices.cpuHour"), &part{code: "--price-cpu-hour={{ " + managerProgram.values + ".prices.cpuHour }}"}},
		{managerProgram.at("prices.gibHour"), &part{code: "--price-gib-hour={{ " + managerProgram.values + ".prices.gibHour }}"}},
	}
	for _, p := range []struct {
		program
		arguments [][]choice
	}{
		{adapterProgram, [][]choice{sources, namespaces, {apis}}},
		{webhookProgram, [][]choice{namespaces}},
		{managerProgram, [][]choice{sources, namespaces, prices}},
	} {
		if err := b.placeIn(p.program, p.arguments...); err != nil {
			return fmt.Errorf("the Deployment of %s: %w", p.name, err)
		}
	}
	return nil
}

func (p program) at(value string) condition { return condition(p.values + "." + value) }

// arguments are one flag with a list of namespaces, if it has any.
func arguments(flag, values string) []choice {
	return []choice{{condition(values), &part{code: fmt.Sprintf(`--%s={{ join "," %s }}`, flag, values)}}}
}

func (b *builder) placeIn(p program, arguments ...[]choice) error {
	for _, o := range b.objects {
		if o.is("Deployment", p.name) {
			return p.placeIn(o.part, arguments)
		}
	}
	return fmt.Errorf("there is none")
}

func (p program) placeIn(deployment *part, arguments [][]choice) error {
	spec := deployment.field("spec")
	pod := spec.field("template").field("spec")
	container := pod.field("containers").item()
	env := container.field("env").item()
	replicas, image, resources := spec.field("replicas"), container.field("image"), container.field("resources")
	args, limit, priority := container.field("args"), env.field("value"), pod.field("priorityClassName")
	nodes, name := pod.field("nodeSelector"), env.field("name")
	for _, found := range []*part{replicas, image, resources, args, limit, priority, nodes, name} {
		if found == nil {
			return fmt.Errorf("it lacks a field that a value of the chart stands for")
		}
	}
	if name.value != "GOMEMLIMIT" {
		return fmt.Errorf("its first variable is %v, and should be GOMEMLIMIT", name.value)
	}
	replicas.code = "{{ int " + p.values + ".replicas }}"
	image.code = fmt.Sprintf("{{ include %q (list $ %q %s) }}", "fleetscale.image", p.name, p.values)
	limit.code = fmt.Sprintf("{{ include %q %s }}", "fleetscale.memoryLimit", p.values)
	priority.code = "{{ $.Values.priorityClassName }}"
	pod.fields["priorityClassName"][0].when = pod.fields["priorityClassName"][0].when.and("$.Values.priorityClassName")
	*resources = part{code: "toYaml " + p.values + ".resources", block: true}
	for _, key := range []string{"nodeSelector", "tolerations", "affinity", "imagePullSecrets"} {
		value := "$.Values." + key
		pod.fields[key] = []choice{{condition(value), &part{code: "toYaml " + value, block: true}}}
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

// item is the first of a list; nil has none.
func (p *part) item() *part {
	if p == nil || len(p.items) == 0 {
		return nil
	}
	return p.items[0].part
}
