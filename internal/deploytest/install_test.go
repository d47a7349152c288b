package deploytest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// command runs a program of this machine in the repository and returns its output.
func command(t *testing.T, program string, args ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no other program is run")
	}
	root, err := Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestInstall installs into an empty root, and has systemd's own checker read the units there:
// each directive is one, each program that they start is installed, and little is left open.
func TestInstall(t *testing.T) {
	t.Parallel()
	root, programs := t.TempDir(), t.TempDir()
	for _, name := range []string{"starter", "worker"} {
		if err := os.WriteFile(filepath.Join(programs, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	command(t, "make", "--silent", "install", "BIN="+programs, "DESTDIR="+root, "PREFIX=/opt/recrawl")
	for _, unit := range []string{"recrawl-worker.service", "recrawl-web.service"} {
		if said := command(t, "systemd-analyze", "verify", "--man=no", "--recursive-errors=no", "--root="+root, unit); said != "" {
			t.Errorf("%s: %s", unit, said)
		}
		// 15 of 100 is the score of a service with the network and a disk of its own.
		command(t, "systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold=15", "--root="+root, unit)
		text, err := os.ReadFile(filepath.Join(root, "etc", "systemd", "system", unit))
		if err != nil {
			t.Fatal(err)
		}
		page := regexp.MustCompile(`(?m)^Documentation=file:(\S+)$`).FindStringSubmatch(string(text))
		if page == nil {
			t.Fatalf("%s names no documentation", unit)
		}
		if _, err := os.Stat(filepath.Join(root, page[1])); err != nil {
			t.Errorf("%s: %v", unit, err)
		}
	}
	pages := filepath.Join(root, "opt", "recrawl", "share", "doc", "recrawl")
	if _, err := os.Stat(filepath.Join(pages, "docs", "openapi.json")); err != nil {
		t.Errorf("the description of the API: %v", err)
	}
	for _, page := range []string{"README.md", "CHANGELOG.md", "SECURITY.md", "docs/*.md"} {
		found, err := filepath.Glob(filepath.Join(pages, page))
		if err != nil || len(found) == 0 {
			t.Errorf("no page %s is installed: %v", page, err)
		}
		for _, name := range found {
			linksLead(t, name)
		}
	}
	if info, err := os.Stat(filepath.Join(root, "etc", "recrawl", "worker.env.example")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the settings, which may hold a password: %v, %v", info, err)
	}
}

var (
	pageLink = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)|(?:src|srcset|href)="([^"#:]+)"`)
	// ofSources is what only those need who have the repository.
	ofSources = regexp.MustCompile(`^(\.\./)?(internal|tools|activities|workflows|CONTRIBUTING\.md)\b`)
)

// linksLead checks the links of a page to files beside it.
func linksLead(t *testing.T, page string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range pageLink.FindAllStringSubmatch(string(text), -1) {
		link := m[1] + m[2]
		if ofSources.MatchString(link) {
			continue
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(page), link)); err != nil {
			t.Errorf("%s: %v", filepath.Base(page), err)
		}
	}
}

// release is the part of .goreleaser.yaml that the tests read.
type release struct {
	Builds []struct {
		ID, Main, Binary    string
		Targets             []string
		Env, Flags, Ldflags []string
	}
	Archives []struct {
		Files []struct{ Source string }
	}
}

// TestReleaseConfiguration has GoReleaser's own parser read its configuration, and compares
// it with the rest of the repository.
func TestReleaseConfiguration(t *testing.T) {
	t.Parallel()
	root, err := Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var r release
	if err := json.Unmarshal([]byte(command(t, filepath.Join(root, "bin", "release-config"), ".goreleaser.yaml")), &r); err != nil {
		t.Fatal(err)
	}
	makefile := read(t, "Makefile")
	cross := regexp.MustCompile(`(?m)^CROSS := (.+)$`).FindStringSubmatch(makefile)
	if cross == nil || len(r.Builds) != 2 || len(r.Archives) != 1 {
		t.Fatalf("the Makefile builds for %v, a release has %d programs in %d archives", cross, len(r.Builds), len(r.Archives))
	}
	want := append(strings.Fields(strings.ReplaceAll(cross[1], "/", "_")), "linux_amd64")
	slices.Sort(want)
	for _, b := range r.Builds {
		if slices.Sort(b.Targets); !slices.Equal(b.Targets, want) {
			t.Errorf("%s is released for %v, and `make cross` shows that it builds for %v", b.ID, b.Targets, want)
		}
		if _, err := os.Stat(filepath.Join(root, b.Main, "main.go")); err != nil || b.Main != "./"+b.Binary {
			t.Errorf("%s is made of %s: %v", b.Binary, b.Main, err)
		}
		if !slices.Contains(b.Env, "CGO_ENABLED=0") || !slices.Contains(b.Flags, "-trimpath") {
			t.Errorf("%s: %v %v, want what the Makefile builds with", b.ID, b.Env, b.Flags)
		}
		commit := regexp.MustCompile(`-X (\S+)=`).FindStringSubmatch(strings.Join(b.Ldflags, " "))
		if commit == nil || !strings.Contains(makefile, "-X "+commit[1]+"=") {
			t.Errorf("%s: %v do not set the commit as the Makefile does", b.ID, b.Ldflags)
		}
	}
	for _, f := range r.Archives[0].Files {
		found, err := filepath.Glob(filepath.Join(root, strings.ReplaceAll(f.Source, "**", "*")))
		if err != nil || len(found) == 0 {
			t.Errorf("a release has the files %s, and there are none: %v", f.Source, err)
		}
	}
}

// TestReleaseConfigurationIsRead: otherwise the other test checks nothing.
func TestReleaseConfigurationIsRead(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: no other program is run")
	}
	root, err := Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "release.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(read(t, ".goreleaser.yaml"), "ldflags:", "ldflag:", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(root, "bin", "release-config"), file).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "ldflag") {
		t.Errorf("a field that there is not: %v: %s", err, out)
	}
}
