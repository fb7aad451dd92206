// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// Deployment is what deploy/base says of how a program runs.
type Deployment struct {
	// Memory is its limit, in bytes.
	Memory int64
	// Env is its environment, as NAME=value.
	Env []string
}

// Deployment reads that of a folder of deploy/base.
func (s *Stage) Deployment(folder string) (Deployment, error) {
	data, err := os.ReadFile(filepath.Join(s.Deploy("base"), folder, "deployment.yaml"))
	if err != nil {
		return Deployment{}, fmt.Errorf("reading a Deployment: %w", err)
	}
	d, err := deploymentOf(data)
	if err != nil {
		return d, fmt.Errorf("reading the Deployment of %s: %w", folder, err)
	}
	return d, nil
}

func deploymentOf(manifest []byte) (d Deployment, err error) {
	var read appsv1.Deployment
	if err := yaml.Unmarshal(manifest, &read); err != nil {
		return d, err
	}
	if n := len(read.Spec.Template.Spec.Containers); n != 1 {
		return d, fmt.Errorf("it has %d containers", n)
	}
	container := read.Spec.Template.Spec.Containers[0]
	d.Memory = container.Resources.Limits.Memory().Value()
	if d.Memory == 0 {
		return d, fmt.Errorf("%s has no limit of memory", container.Name)
	}
	for _, e := range container.Env {
		value := e.Value
		if e.ValueFrom != nil {
			if value = d.told(e.ValueFrom); value == "" {
				return d, fmt.Errorf("%s: what %s is cannot be told here", container.Name, e.Name)
			}
		}
		d.Env = append(d.Env, e.Name+"="+value)
	}
	return d, nil
}

// told is what a kubelet would tell a program that runs here; empty: that is not known.
func (d Deployment) told(from *corev1.EnvVarSource) string {
	field, limit := from.FieldRef, from.ResourceFieldRef
	switch {
	case field != nil && field.FieldPath == "status.podIP":
		return "127.0.0.1"
	case limit != nil && limit.Resource == "limits.memory" && limit.Divisor.IsZero():
		return strconv.FormatInt(d.Memory, 10)
	}
	return ""
}
