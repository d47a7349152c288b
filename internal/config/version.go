package config

import "runtime/debug"

// Release is the newest release in CHANGELOG.md: the version of this code, however it is
// built.
const Release = "0.2.0"

// Commit is the commit of a build, set by the build; "" leaves it to the Go tool's
// record.
var Commit = ""

// VersionText is the release with the commit, if that is known: 0.2.0+48b79df.
func VersionText() string {
	if c := commit(); c != "" {
		return Release + "+" + c
	}
	return Release
}

func commit() string {
	if Commit != "" {
		return Commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	const short = 7
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= short {
			return s.Value[:short]
		}
	}
	return ""
}
