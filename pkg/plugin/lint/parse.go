// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
	kyaml "sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/guard"
)

// The rules of reading, beside those of package admission.
const (
	ruleAPIVersion     = "APIVersion"
	ruleUndecodable    = "Undecodable"
	ruleUnknownField   = "UnknownField"
	ruleDuplicateField = "DuplicateField"
	ruleName           = "Name"
)

// object is an autoscaler of a file.
type object struct {
	file string
	node *yaml.Node
	meta metav1.PartialObjectMetadata
	// value is a FederatedHPA, CronFederatedHPA, MultidimPodAutoscaler or, to stand beside those, HorizontalPodAutoscaler.
	value metav1.Object
	// before are the findings of reading it. A value is there nevertheless, but for those that cannot be decoded.
	before []Finding
}

// parsed is what is in a file.
type parsed struct {
	objects  []object
	ignored  int
	unusable []Unusable
}

// parse reads the documents of a file, YAML or JSON.
func parse(file string, text []byte) parsed {
	var p parsed
	line := 0 // of lines before the document
	for _, document := range documents(text) {
		p.document(file, document, line)
		line += bytes.Count(document, []byte("\n"))
	}
	return p
}

var separator = regexp.MustCompile(`(?m)^---(?:[ \t].*)?$`)

// documents cuts a stream before its separators, so that one that cannot be read leaves the others readable. Together
// they are the text.
func documents(text []byte) [][]byte {
	var all [][]byte
	from := 0
	for _, at := range separator.FindAllIndex(text, -1) {
		all, from = append(all, text[from:at[0]]), at[0]
	}
	return append(all, text[from:])
}

func (p *parsed) document(file string, text []byte, before int) {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		line, message := yamlFault(err)
		p.unusable = append(p.unusable, Unusable{File: file, Line: before + line, Message: message})
		return
	}
	if len(root.Content) == 0 || root.Content[0].Tag == "!!null" {
		return // nothing but comments
	}
	node := root.Content[0]
	shift(node, before)
	raw, err := kyaml.YAMLToJSON(text)
	if err != nil {
		p.unusable = append(p.unusable, Unusable{File: file, Line: node.Line, Message: err.Error()})
		return
	}
	p.value(file, node, raw)
}

// shift counts the lines of a document from the beginning of its file.
func shift(node *yaml.Node, by int) {
	node.Line += by
	for _, below := range node.Content {
		shift(below, by)
	}
}

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

// yamlFault is what the library says, and of which line.
func yamlFault(err error) (line int, message string) {
	said := err.Error()
	if at := yamlLine.FindStringSubmatch(said); at != nil {
		line, _ = strconv.Atoi(at[1])
		return line, "not YAML: " + strings.TrimPrefix(said, at[0])
	}
	return 1, "not YAML: " + strings.TrimPrefix(said, "yaml: ")
}

// value takes an object, or each of those in a list.
func (p *parsed) value(file string, node *yaml.Node, raw []byte) {
	var list struct {
		metav1.TypeMeta `json:",inline"`
		Items           []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		p.ignored++ // no object of Kubernetes, such as the values of a chart
		return
	}
	_, items := child(node, "items")
	if strings.HasSuffix(list.Kind, "List") && items != nil && len(items.Content) == len(list.Items) {
		for i, item := range list.Items {
			p.value(file, items.Content[i], item)
		}
		return
	}
	if o, ours := read(file, node, raw, list.TypeMeta); ours {
		p.objects = append(p.objects, o)
	} else {
		p.ignored++
	}
}

// read decodes an object, if it is of a kind that counts.
func read(file string, node *yaml.Node, raw []byte, kind metav1.TypeMeta) (o object, ours bool) {
	gv, err := schema.ParseGroupVersion(kind.APIVersion)
	if err != nil {
		return object{}, false
	}
	o = object{file: file, node: node}
	switch {
	case gv.Group == v1alpha1.GroupName && kind.Kind == v1alpha1.FederatedHPAKind:
		o.value = &v1alpha1.FederatedHPA{}
	case gv.Group == v1alpha1.GroupName && kind.Kind == v1alpha1.CronFederatedHPAKind:
		o.value = &v1alpha1.CronFederatedHPA{}
	case gv.Group == v1alpha1.GroupName && kind.Kind == v1alpha1.MultidimPodAutoscalerKind:
		o.value = &v1alpha1.MultidimPodAutoscaler{}
	case gv == autoscalingv2.SchemeGroupVersion && kind.Kind == "HorizontalPodAutoscaler":
		o.value = &autoscalingv2.HorizontalPodAutoscaler{}
		return o, json.Unmarshal(raw, o.value) == nil // it is judged by others; here it only stands beside
	default:
		return object{}, false
	}
	_ = json.Unmarshal(raw, &o.meta) // for the name; what is wrong in it is found below
	o.meta.TypeMeta = kind
	if gv.Version != v1alpha1.SchemeGroupVersion.Version {
		o.find(ruleAPIVersion, "apiVersion", fmt.Sprintf("apiVersion: there is no version %q of this kind: write %q", kind.APIVersion,
			v1alpha1.SchemeGroupVersion))
	}
	o.decode(raw)
	return o, true
}

// decode fills value; what is wrong with the text becomes findings.
func (o *object) decode(raw []byte) {
	repeated(o.node, "", func(path string, line int) {
		o.find(ruleDuplicateField, path, path+": stands here a second time, and the hub refuses that: remove one")
		o.before[len(o.before)-1].Line = line
	})
	if err := guard.JSON(raw, o.value); err != nil {
		o.undecodable(err)
		return
	}
	strict, err := kjson.UnmarshalStrict(raw, o.value)
	if err != nil {
		o.undecodable(err)
		return
	}
	for _, fault := range strict {
		path := fault.Error()
		if named := kjson.FieldError(nil); errors.As(fault, &named) {
			path = named.FieldPath()
		}
		o.find(ruleUnknownField, path, path+": there is no such field; its name may be misspelled, or stand in the wrong place")
	}
	if o.value.GetName() == "" && o.value.GetGenerateName() == "" {
		o.find(ruleName, "metadata", "metadata.name: Required value: an object has a name")
	}
}

func (o *object) undecodable(err error) {
	path := ""
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		path = wrong.Field
	}
	o.find(ruleUndecodable, path, err.Error())
	o.value = nil
}

// find adds a finding that is an error.
func (o *object) find(rule, path, message string) {
	o.before = append(o.before, o.finding(Error, rule, path, message))
}

func (o *object) finding(severity Severity, rule, path, message string) Finding {
	name := o.meta.Name
	if name == "" {
		name = o.meta.GenerateName + "(no name)"
	}
	return Finding{
		File: o.file, Line: lineOf(o.node, path), Severity: severity, Kind: o.meta.Kind, Namespace: o.meta.Namespace, Name: name,
		Rule: rule, Field: path, Message: message,
	}
}
