// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/yaml"
)

// serviceMonitor is as much of that kind as is asked about.
type serviceMonitor struct {
	Spec struct {
		JobLabel  string
		Selector  struct{ MatchLabels map[string]string }
		Endpoints []struct {
			Port, Scheme string
			HonorLabels  bool
			TLSConfig    struct {
				ServerName string
				CA         struct{ Secret struct{ Name, Key string } }
			}
		}
	}
}

// Each program is scraped at a port that there is, verified by the authority of its certificate under a name that this has, and the
// account that scrapes may.
func TestProgramsAreScraped(t *testing.T) {
	const head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
	fromElsewhere := map[string]string{"controller-manager": "controller-manager-metrics-tls", "metrics-adapter": "metrics-adapter-tls",
		"webhook": "webhook-tls"}
	mine := newMine(t)
	for name, tc := range map[string]struct {
		overlay string
		secrets map[string]string // of the authority, by job
	}{
		"self-signed": {
			"resources: [../standalone]\ncomponents: [../../components/monitoring, ../../components/metrics-scraper]\n",
			map[string]string{"controller-manager": "controller-manager-self-signed", "metrics-adapter": "metrics-adapter-self-signed",
				"webhook": "webhook-self-signed"},
		},
		"cert-manager": {
			"resources: [../standalone-cert-manager]\ncomponents: [../../components/monitoring, ../../components/metrics-scraper, " +
				"../../../certs/cert-manager/monitoring]\n",
			fromElsewhere,
		},
		"given": {
			"resources: [../../base]\ncomponents: [../../components/webhook, ../../components/controller-manager, ../../../certs/given, " +
				"../../../certs/given/webhook, ../../components/monitoring, ../../components/metrics-scraper, ../../../certs/given/monitoring]\n",
			fromElsewhere,
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := mine(head + tc.overlay)
			objects, jobs := known(t, folder), 0
			for _, r := range render(t, folder) {
				if r.GetKind() != "ServiceMonitor" {
					continue
				}
				jobs++
				checkMonitor(t, monitorOf(t, r), objects, tc.secrets)
			}
			if jobs != len(tc.secrets) {
				t.Errorf("%d programs are scraped", jobs)
			}
			if !slices.ContainsFunc(objects, func(o runtime.Object) bool {
				b, is := o.(*rbacv1.ClusterRoleBinding)
				return is && b.RoleRef.Name == "fleetscale-metrics-scraper"
			}) {
				t.Error("nobody may scrape")
			}
		})
	}
}

func monitorOf(t *testing.T, r *resource.Resource) serviceMonitor {
	t.Helper()
	var m serviceMonitor
	text, err := r.AsYAML()
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func checkMonitor(t *testing.T, m serviceMonitor, objects []runtime.Object, secrets map[string]string) {
	t.Helper()
	e := m.Spec.Endpoints[0]
	var jobs []string
	for _, o := range objects {
		s, is := o.(*corev1.Service)
		if !is || !selects(m.Spec.Selector.MatchLabels, s.Labels) || !hasPort(s, e.Port) {
			continue
		}
		jobs = append(jobs, s.Labels[m.Spec.JobLabel])
	}
	if len(jobs) != 1 || e.Scheme != "https" || !e.HonorLabels {
		t.Errorf("%v: it scrapes %v, as %+v", m.Spec.Selector.MatchLabels, jobs, e)
		return
	}
	if got := e.TLSConfig.CA.Secret; got.Name != secrets[jobs[0]] || got.Key != "ca.crt" || !servesWith(objects, jobs[0], got.Name) {
		t.Errorf("%s is verified by %+v", jobs[0], got)
	}
	want := jobs[0]
	if want == "controller-manager" { // it has no other Service
		want += "-metrics"
	}
	if got := e.TLSConfig.ServerName; got != want+".fleetscale-system.svc" {
		t.Errorf("%s is verified as %s", jobs[0], got)
	}
}

// servesWith reports whether a program has its certificate in a Secret: one that is there for it to write, or one that is mounted.
func servesWith(objects []runtime.Object, program, secret string) bool {
	return slices.ContainsFunc(objects, func(o runtime.Object) bool {
		switch o := o.(type) {
		case *corev1.Secret:
			return o.Name == secret && o.Labels["app.kubernetes.io/name"] == program
		case *appsv1.Deployment:
			return o.Name == program && slices.ContainsFunc(o.Spec.Template.Spec.Volumes, func(v corev1.Volume) bool {
				return v.Secret != nil && v.Secret.SecretName == secret
			})
		}
		return false
	})
}

func selects(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return len(selector) > 0
}

func hasPort(s *corev1.Service, name string) bool {
	return slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == name })
}
