// SPDX-License-Identifier: Apache-2.0

package charts

const (
	reads    condition = `eq $.Values.rights "read"` // and no more
	writes   condition = `ne $.Values.rights "read"`
	observes condition = `eq $.Values.rights "observe"`
	some     condition = "$.Values.namespaces" // of the namespaces, and not all
)

// memberOptions are those of the chart fleetscale-member. Later ones change what earlier ones add.
func memberOptions() []option {
	const file, sizesFile = "member.yaml", "sizes.yaml"
	read, write, sizes := resources("deploy/member"), resources("deploy/member-write"), resources("deploy/member-sizes")
	in := func(file, folder string, when condition) option {
		return option{file: file, when: when, each: string(some), to: resources("deploy/member-namespaced/" + folder + "/rights")}
	}
	return []option{
		{file: file, to: read},
		{file: file, when: writes, from: read, to: write},
		{file: file, when: observes, from: write, to: resources("deploy/member-observe")},
		{file: "create.yaml", when: "$.Values.create", to: resources("deploy/member-create")},
		{file: sizesFile, when: "$.Values.sizes", to: sizes},
		{file: file, when: some, objects: reads, from: read, to: resources("deploy/member-namespaced/read")},
		{file: file, when: some, objects: writes, from: write, to: resources("deploy/member-namespaced/write")},
		{file: sizesFile, when: some, from: sizes, to: resources("deploy/member-namespaced/sizes")},
		in(file, "read", ""),
		in(file, "write", writes),
		in(sizesFile, "sizes", "$.Values.sizes"),
	}
}
