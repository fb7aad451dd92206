// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"cmp"
	"regexp"
	"strings"
)

// Flag is one of kubectl's, without its dashes; one without a value is a switch.
type Flag struct{ Name, Value string }

// kubectl is a command on the hub, to be run in a checkout where it names deploy/.
func (s *Settings) kubectl(args ...string) string { return words("kubectl", s.HubFlags, args) }

// plugin is a command of ours on the hub.
func (s *Settings) plugin(args ...string) string {
	return words("kubectl fleetscale", nil, args) + words("", s.HubFlags, nil)
}

// membership is one of those in which --context leads to the member.
func (s *Settings) membership(verb, cluster string) string {
	return words("kubectl fleetscale", nil, []string{verb, cluster, "--context", s.context(cluster)}) + words("", s.hubContext(), nil)
}

// leave is the one that touches nothing in the member.
func (s *Settings) leave(cluster string) string {
	return words("kubectl fleetscale", nil, []string{"leave", cluster}) + words("", s.hubContext(), nil)
}

// hubContext are the flags for commands in which --context leads to a member: of the hub they know but a context. Where other flags lead
// there, the person has to make one.
func (s *Settings) hubContext() (flags []Flag) {
	context := ""
	for _, f := range s.HubFlags {
		switch {
		case f.everywhere():
			flags = append(flags, f)
		case f.Name != "context":
			context = unmade
		case context == "":
			context = f.Value
		}
	}
	if context != "" {
		flags = append(flags, Flag{"hub-context", context})
	}
	return flags
}

// unmade is in the place of a context that leads to the hub as the person's flags do.
const unmade = "HUB"

// member is a command on a member.
func (s *Settings) member(cluster string, args ...string) string {
	return s.in(s.context(cluster), args...)
}

// in is a command in another context of the same kubeconfig, as the same person.
func (s *Settings) in(context string, args ...string) string {
	flags := []Flag{{"context", context}}
	for _, f := range s.HubFlags {
		if f.everywhere() {
			flags = append(flags, f)
		}
	}
	return words("kubectl", flags, args)
}

// everywhere reports whether the flag says something of every cluster, and not of one.
func (f Flag) everywhere() bool {
	return f.Name == "kubeconfig" || f.Name == "as" || strings.HasPrefix(f.Name, "as-")
}

// context is the one that leads to a member; without one it is written as the docs do, where contexts have the names of clusters.
func (s *Settings) context(cluster string) string { return cmp.Or(s.Contexts[cluster], cluster) }

// words is a line for a shell. Each flag's value and each argument is one word of it, whatever is in there: names are of tenants and
// members. The command is ours.
func words(command string, flags []Flag, args []string) string {
	line := command
	for _, f := range flags {
		line += " --" + f.Name
		if f.Value != "" {
			line += " " + quoted(f.Value)
		}
	}
	for _, arg := range args {
		line += " " + quoted(arg)
	}
	return line
}

// plain is a word that a shell leaves as it is.
var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quoted is a text as one word of a POSIX shell.
func quoted(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
