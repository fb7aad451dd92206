// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func TestMembersAreServedUntilInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	read, write := io.Pipe()
	cmd := newCommand()
	cmd.SetArgs([]string{"--members=2", "--pods=5", "--namespace=shop", "--out=" + dir, "--control=127.0.0.1:0"})
	cmd.SetOut(write)
	ended := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		ended <- errors.Join(err, write.Close())
	}()
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatal(errors.Join(err, <-ended))
	}
	_, control, _ := strings.Cut(strings.TrimSpace(line), "control them at ")
	resp, err := http.Get(control + "/members")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "sim-001.kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	pods, err := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) != 3 {
		t.Errorf("%d Pods, %v", len(pods.Items), err)
	}
	registrations, err := os.ReadFile(filepath.Join(dir, "registrations.yaml"))
	if err != nil || strings.Count(string(registrations), "kind: Secret") != 2 {
		t.Errorf("%s, %v", registrations, err)
	}
	interrupt()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestOptionsAreRefused(t *testing.T) {
	cmd := newCommand()
	cmd.SetArgs([]string{"--members=0"})
	if err := cmd.ExecuteContext(t.Context()); err == nil ||
		err.Error() != "--members must be 1 or more, and --pods 0 or more; got 0 and 100" {
		t.Error(err)
	}
}
