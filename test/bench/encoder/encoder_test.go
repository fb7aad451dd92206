// SPDX-License-Identifier: Apache-2.0

package encoder

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

const list = `{"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1beta1","items":[
	{"metadata":{"name":"web-0","namespace":"shop"},"timestamp":"2026-01-01T00:00:00Z","window":"15s","containers":[{"name":"app","usage":{"cpu":"1","memory":"1Gi"}}]}]}`

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Argument {
		if err := Serve(os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	m.Run()
}

func TestOrders(t *testing.T) {
	p, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := p.Do(Order{List: []byte(list), Media: "application/json"})
	if err != nil || asJSON.Bytes < 200 || asJSON.Allocated == 0 {
		t.Errorf("%+v, %v", asJSON, err)
	}
	again, err := p.Do(Order{Media: "application/vnd.kubernetes.protobuf", For: 20_000_000})
	if err != nil || again.Bytes < 50 || again.Bytes >= asJSON.Bytes || again.CPU <= 0 || again.CPU > 10 {
		t.Errorf("%+v, %v", again, err)
	}
	for name, o := range map[string]Order{"an unknown type": {Media: "text/html"},
		"no list": {List: []byte("{}"), Media: "application/json"}} {
		if c, err := p.Do(o); err == nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}

func TestWhatIsNoOrderEndsIt(t *testing.T) {
	var out bytes.Buffer
	if err := Serve(strings.NewReader("hello\n"), &out); err == nil || out.Len() > 0 {
		t.Errorf("%q, %v", out.String(), err)
	}
	order, _ := json.Marshal(Order{Media: "application/json"})
	if err := Serve(bytes.NewReader(append(order, '\n')), &out); err != nil || out.Len() == 0 {
		t.Errorf("an empty list: %q, %v", out.String(), err)
	}
}
