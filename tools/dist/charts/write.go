// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// writer writes parts as lines of a template.
type writer struct {
	out  strings.Builder
	errs []error
}

// objects writes documents, or those of each of some namespaces.
func (w *writer) objects(all []*object, each string) {
	if each != "" {
		w.line("{{- range $namespace := %s }}", each)
		defer w.line("{{- end }}")
	}
	for _, o := range all {
		w.line("---")
		w.fields(o.part, 0)
	}
}

// fields writes a map. Its first line is of a field that is always there, since a list has its dash there.
func (w *writer) fields(p *part, indent int) {
	keys := slices.SortedFunc(maps.Keys(p.fields), func(a, b string) int {
		if always(p.fields[a]) != always(p.fields[b]) {
			if always(p.fields[a]) {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	for _, key := range keys {
		choices := p.fields[key]
		if len(choices) == 2 && choices[0].when == choices[1].when.not() {
			w.line("{{- if %s }}", choices[1].when)
			w.field(key, choices[1].part, indent)
			w.line("{{- else }}")
			w.field(key, choices[0].part, indent)
			w.line("{{- end }}")
			continue
		}
		for _, c := range choices {
			w.when(c.when, func() { w.field(key, c.part, indent) })
		}
	}
	for _, c := range p.more {
		w.when(c.when, func() { w.line("{{- %s | nindent %d }}", c.part.code, indent) })
	}
}

func always(choices []choice) bool { return len(choices) == 1 && choices[0].when == "" }

func (w *writer) field(key string, p *part, indent int) {
	space := strings.Repeat(" ", indent)
	if value, ok := p.plain(); ok {
		w.yaml(map[string]any{key: value}, indent)
		return
	}
	switch {
	case p.block:
		w.line("%s%s:", space, key)
		w.line("{{- %s | nindent %d }}", p.code, indent+2)
	case p.code != "":
		w.line("%s%s: %s", space, key, p.code)
	case p.list:
		w.line("%s%s:", space, key)
		w.items(p.items, indent)
	default:
		w.line("%s%s:", space, key)
		w.fields(p, indent+2)
	}
}

func (w *writer) items(all []choice, indent int) {
	for len(all) > 0 {
		same := 1 // items with one condition
		for same < len(all) && all[same].when == all[0].when {
			same++
		}
		w.when(all[0].when, func() {
			for _, c := range all[:same] {
				w.item(c.part, indent)
			}
		})
		all = all[same:]
	}
}

func (w *writer) item(p *part, indent int) {
	space := strings.Repeat(" ", indent)
	if value, ok := p.plain(); ok {
		w.yaml([]any{value}, indent)
		return
	}
	switch {
	case p.block:
		w.line("{{- %s | nindent %d }}", p.code, indent)
	case p.code != "":
		w.line("%s- %s", space, p.code)
	default:
		var within writer
		within.fields(p, indent+2)
		text, ok := strings.CutPrefix(within.out.String(), space+"  ")
		if !ok {
			w.errs = append(w.errs, fmt.Errorf("an item of a list has no field that is always there:\n%s", within.out.String()))
		}
		w.errs = append(w.errs, within.errs...)
		w.out.WriteString(space + "- " + text)
	}
}

func (w *writer) when(c condition, write func()) {
	if c == "" {
		write()
		return
	}
	w.line("{{- if %s }}", c)
	write()
	w.line("{{- end }}")
}

func (w *writer) yaml(value any, indent int) {
	text, err := yaml.Marshal(value)
	w.errs = append(w.errs, err)
	space := strings.Repeat(" ", indent)
	// What a template would take for an action, as text of alerts and of dashboards is, it writes itself.
	for line := range strings.Lines(strings.ReplaceAll(string(text), "{{", `{{ "{{" }}`)) {
		if line != "\n" {
			line = space + line
		}
		w.out.WriteString(line)
	}
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.out, format+"\n", args...) }
