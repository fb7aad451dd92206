// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// build returns the objects of a kustomization.
func build(memory filesys.FileSystem, k kustomization) ([]map[string]any, error) {
	if len(k.resources)+len(k.components) == 0 {
		return nil, nil // kustomize takes that for a mistake
	}
	top := types.Kustomization{TypeMeta: types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind}}
	for _, r := range k.resources {
		top.Resources = append(top.Resources, "../"+r)
	}
	for _, c := range k.components {
		top.Components = append(top.Components, "../"+c)
	}
	text, err := yaml.Marshal(top)
	if err != nil {
		return nil, err
	}
	const folder = "/chart"
	if err := memory.WriteFile(folder+"/kustomization.yaml", text); err != nil {
		return nil, err
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, folder)
	if err != nil {
		return nil, err
	}
	var all []map[string]any
	for _, r := range built.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			return nil, err
		}
		var one map[string]any
		if err := yaml.Unmarshal(text, &one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}
