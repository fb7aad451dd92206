{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}

{{- /*
The image of a program, from a list of the context, its name, and its values. Without a tag of yours it is the one that this chart
was released with, by its digest.
*/ -}}
{{- define "fleetscale.image" -}}
{{- $top := index . 0 -}}
{{- $name := index . 1 -}}
{{- $program := index . 2 -}}
{{- $released := index $top.Chart.Annotations (printf "fleetscale.io/digest-of-%s" $name) -}}
{{- $digest := $program.digest | default (ternary "" $released (ne $top.Values.image.tag "")) -}}
{{- printf "%s/%s:%s" $top.Values.image.registry $name ($top.Values.image.tag | default $top.Chart.AppVersion) -}}
{{- with $digest }}@{{ . }}{{ end -}}
{{- end }}

{{- /* Three quarters of the limit of a program, as garbage comes faster than it is collected where CPUs are short. */ -}}
{{- define "fleetscale.memoryLimit" -}}
{{- $limit := .resources.limits.memory -}}
{{- $mib := trimSuffix "Mi" $limit -}}
{{- if hasSuffix "Gi" $limit }}{{ $mib = mul (trimSuffix "Gi" $limit) 1024 }}{{ end -}}
{{- div (mul $mib 3) 4 }}MiB
{{- end }}

{{- /* Command lines of credential plugins that registrations may run, an argument for each. */ -}}
{{- define "fleetscale.allowedCommands" -}}
{{- range $i, $line := .allowed -}}
{{- if $i }}{{ "\n" }}{{ end -}}
- {{ printf "--allowed-exec-commands=%s" $line | quote }}
{{- end -}}
{{- end }}
