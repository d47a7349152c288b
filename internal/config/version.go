package config

import "runtime/debug"

// Version is recrawl's version, set by the build; "dev" otherwise.
var Version = "dev"

// VersionText is Version or, in a plain `go build`, the commit it was made from.
func VersionText() string {
	if Version != "dev" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 7 {
				return "dev-" + s.Value[:7]
			}
		}
	}
	return Version
}
