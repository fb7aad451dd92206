// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// judgeAddress refuses an address at which the hub's programs do not find the member. Names are not looked up: the hub may
// resolve them otherwise.
func judgeAddress(context, server string, given, allowLocal bool) error {
	what := fmt.Sprintf("the server of context %q", context)
	if given {
		what = "--server"
	}
	at, err := url.Parse(server)
	if err != nil || at.Scheme != "https" || at.Hostname() == "" || at.User != nil {
		return fmt.Errorf("%s must be an https URL without user and password, such as https://10.0.0.5:6443", what)
	}
	if allowLocal || !local(at.Hostname()) {
		return nil
	}
	return fmt.Errorf("%s is %s, which leads elsewhere from the hub: give the address at which the hub reaches the cluster with --server "+
		"https://HOST:PORT, or, in a laboratory where the programs run with --allow-local-members, give --allow-local-members", what, server)
}

// local is true for hosts that mean something else on each machine: its own, and those of its link.
func local(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	ip = ip.Unmap()
	return ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
}
