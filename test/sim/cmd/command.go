// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/fleetscale/fleetscale/test/sim"
	"github.com/fleetscale/fleetscale/test/sim/control"
)

// options are what a person may set.
type options struct {
	members   int
	namespace string
	pods      int
	out       string
	control   string
}

const help = `Serves simulated member clusters on loopback until it is interrupted. Each has a Deployment
"web" with its share of the Pods. The folder gets a kubeconfig for each member, and
registrations.yaml, which makes them members of a hub: kubectl apply --server-side -f registrations.yaml

While it runs, members can be told to misbehave, and tell what they were asked:

  curl localhost:9099/members
  curl -X PUT localhost:9099/members/sim-001/conduct -d '{"latency": "2s", "failing": 0.1}'
  curl -X PUT localhost:9099/members/sim-001/conduct -d '{"hang": true}'
  curl -X PUT localhost:9099/members/*/conduct -d '{}'
  curl localhost:9099/members/sim-001/requests`

func newCommand() *cobra.Command {
	o := &options{members: 10, namespace: "default", pods: 100, out: "members", control: "127.0.0.1:9099"}
	cmd := &cobra.Command{
		Use: "sim", Short: "Serve simulated member clusters", Long: help, Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	fs := cmd.Flags()
	fs.IntVar(&o.members, "members", o.members, "How many there are: sim-001 and so on.")
	fs.StringVar(&o.namespace, "namespace", o.namespace, "Namespace of the Pods.")
	fs.IntVar(&o.pods, "pods", o.pods, "How many there are in all members together.")
	fs.StringVar(&o.out, "out", o.out, "Folder for kubeconfigs and registrations.")
	fs.StringVar(&o.control, "control", o.control, "Address to control them at, by plain HTTP.")
	return cmd
}

func (o *options) run(ctx context.Context, out io.Writer) (err error) {
	if o.members < 1 || o.pods < 0 {
		return fmt.Errorf("--members must be 1 or more, and --pods 0 or more; got %d and %d", o.members, o.pods)
	}
	fleet, err := sim.New(ctx, sim.Options{Members: o.members})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fleet.Close()) }()
	if err := o.populate(fleet); err != nil {
		return err
	}
	if err := o.write(fleet); err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.control)
	if err != nil {
		return fmt.Errorf("--control: %w", err)
	}
	fmt.Fprintf(out, "%d members with %d Pods; kubeconfigs are in %s; control them at http://%s\n", o.members, o.pods, o.out, listener.Addr())
	server := &http.Server{Handler: control.Handler(fleet), ReadHeaderTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving --control: %w", err)
	}
	return nil
}

func (o *options) populate(fleet *sim.Fleet) error {
	for i, m := range fleet.Members() {
		share := o.pods / o.members
		if i < o.pods%o.members {
			share++
		}
		if err := m.Run(sim.Workload{Namespace: o.namespace, Name: "web", Replicas: share}); err != nil {
			return err
		}
	}
	return nil
}

// write makes the files that lead to the members.
func (o *options) write(fleet *sim.Fleet) error {
	files := map[string][]byte{}
	var registrations bytes.Buffer
	for _, m := range fleet.Members() {
		kubeconfig, err := m.Kubeconfig()
		if err != nil {
			return fmt.Errorf("writing the kubeconfig of %s: %w", m.Name(), err)
		}
		registration, err := yaml.Marshal(registrationOf(m.Name(), kubeconfig))
		if err != nil {
			return fmt.Errorf("writing the registration of %s: %w", m.Name(), err)
		}
		files[m.Name()+".kubeconfig"] = kubeconfig
		registrations.WriteString("---\n" + string(registration))
	}
	files["registrations.yaml"] = registrations.Bytes()
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(o.out, name), content, 0o600); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	return nil
}

func registrationOf(name string, kubeconfig []byte) corev1.Secret {
	return corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleetscale-clusters", Name: name, Labels: map[string]string{"fleetscale.io/member": "true"}},
		Data:       map[string][]byte{"kubeconfig": kubeconfig},
	}
}
