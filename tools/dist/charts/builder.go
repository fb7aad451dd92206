// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// object is one of a template.
type object struct {
	file string
	when condition
	each string
	made map[string]any // as it was added
	part *part
}

func (o object) is(kind, name string) bool {
	metadata := o.made["metadata"].(map[string]any)
	return o.made["kind"] == kind && metadata["name"] == name
}

// sameAs reports whether both stand for the same object of a cluster.
func (o object) sameAs(other map[string]any) bool {
	name, namespace := nameOf(other)
	myName, myNamespace := nameOf(o.made)
	return o.each == "" && o.made["apiVersion"] == other["apiVersion"] && o.made["kind"] == other["kind"] &&
		myName == name && myNamespace == namespace
}

func nameOf(made map[string]any) (name, namespace string) {
	metadata := made["metadata"].(map[string]any)
	name, _ = metadata["name"].(string)
	namespace, _ = metadata["namespace"].(string)
	return name, namespace
}

// builder gathers the objects of a chart, option by option.
type builder struct {
	memory  filesys.FileSystem
	objects []*object
}

func (b *builder) apply(options []option) error {
	for _, o := range options {
		if err := b.applyOne(o); err != nil {
			return fmt.Errorf("what %s makes of %v: %w", o.when.and(o.objects), o.to, err)
		}
	}
	return nil
}

func (b *builder) applyOne(o option) error {
	from, err := build(b.memory, o.from)
	if err != nil {
		return err
	}
	to, err := build(b.memory, o.to)
	if err != nil {
		return err
	}
	for _, after := range to {
		i := slices.IndexFunc(from, func(before map[string]any) bool { return object{made: before}.sameAs(after) })
		if i < 0 {
			b.add(o, after)
			continue
		}
		if !reflect.DeepEqual(from[i], after) {
			if err := b.one(from[i], func(was *object) { was.part.change(o.when, from[i], after) }); err != nil {
				return err
			}
		}
		from = slices.Delete(from, i, i+1)
	}
	for _, before := range from {
		if err := b.one(before, func(was *object) { was.when = was.when.and(o.when.not()) }); err != nil {
			return err
		}
	}
	return nil
}

// add has an object stand in a chart, or under one more condition.
func (b *builder) add(o option, made map[string]any) {
	when := o.when.and(o.objects)
	for _, was := range b.objects {
		if o.each == was.each && reflect.DeepEqual(was.made, made) {
			was.when = was.when.or(when)
			return
		}
	}
	added := &object{file: o.file, when: when, each: o.each, made: made, part: newPart(made)}
	if o.each != "" {
		added.part.fields["metadata"][0].part.fields["namespace"] = []choice{{part: &part{code: "{{ $namespace }}"}}}
	}
	b.objects = append(b.objects, added)
}

// one changes the object of a chart that stands for one that was built.
func (b *builder) one(made map[string]any, change func(*object)) error {
	var found []*object
	for _, o := range b.objects {
		if o.sameAs(made) {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		name, namespace := nameOf(made)
		return fmt.Errorf("%s %s/%s is in the chart %d times, and should be once", made["kind"], namespace, name, len(found))
	}
	change(found[0])
	return nil
}

// spare leaves a namespace to who installs the chart into it: it is there before the release then, which may not own it.
func (b *builder) spare(namespace string) error {
	for _, o := range b.objects {
		if o.is("Namespace", namespace) {
			o.when = o.when.and(condition(fmt.Sprintf("ne $.Release.Namespace %q", namespace)))
			return nil
		}
	}
	return fmt.Errorf("there is no namespace %s", namespace)
}

// templates are the files of all objects, each of which begins with the same lines.
func (b *builder) templates(prelude string) (map[string][]byte, error) {
	writers := map[string]*writer{}
	var errs []error
	for all := b.objects; len(all) > 0; {
		same := 1 // objects of one file under one condition
		for same < len(all) && all[same].file == all[0].file && all[same].when == all[0].when && all[same].each == all[0].each {
			same++
		}
		w := writers[all[0].file]
		if w == nil {
			w = &writer{}
			w.out.WriteString("# SPDX-License-Identifier: Apache-2.0\n" + prelude)
			writers[all[0].file] = w
		}
		w.when(all[0].when, func() { w.objects(all[:same], all[0].each) })
		all = all[same:]
	}
	files := map[string][]byte{}
	for name, w := range writers {
		files["templates/"+name] = []byte(w.out.String())
		errs = append(errs, w.errs...)
	}
	return files, errors.Join(errs...)
}
