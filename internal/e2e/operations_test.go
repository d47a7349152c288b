package e2e

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// consoleStep is a command of a page of documentation with its output.
type consoleStep struct {
	line    int
	command string
	want    []string
}

// consoleSteps reads the console blocks of a page.
func consoleSteps(t *testing.T, page string) []consoleStep {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var steps []consoleStep
	inside := false
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case line == "```console":
			inside = true
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside && strings.HasPrefix(line, "$ "):
			steps = append(steps, consoleStep{line: i + 1, command: line[2:]})
		case inside:
			last := &steps[len(steps)-1]
			last.want = append(last.want, line)
		}
	}
	return steps
}

// pattern is a regular expression for a step's output: words apart by any space, "…" for
// anything within a line, a line of "…" alone for any lines.
func (s consoleStep) pattern(t *testing.T) *regexp.Regexp {
	t.Helper()
	var b strings.Builder
	b.WriteString(`^`)
	for _, line := range s.want {
		if line == "…" {
			b.WriteString(`(?:.*\n)*`)
			continue
		}
		words := strings.Fields(line)
		for i, w := range words {
			words[i] = strings.ReplaceAll(regexp.QuoteMeta(w), "…", `.*`)
		}
		b.WriteString(` *` + strings.Join(words, ` *`) + ` *\n`)
	}
	b.WriteString(`$`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		t.Fatal(err)
	}
	return re
}

// section returns the steps between two headings of a page, the second of which may be "".
func section(t *testing.T, page, from, to string) []consoleStep {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	first, last := slices.Index(lines, from), len(lines)
	if to != "" {
		last = slices.Index(lines, to)
	}
	if first < 0 || last < first {
		t.Fatalf("%s: no section from %q to %q", page, from, to)
	}
	steps := slices.DeleteFunc(consoleSteps(t, page), func(s consoleStep) bool { return s.line < first || s.line > last })
	if len(steps) == 0 {
		t.Fatalf("%s: no command from %q to %q", page, from, to)
	}
	return steps
}

// runSteps runs a page's commands in a folder and compares their output.
func runSteps(t *testing.T, page string, steps []consoleStep, folder string, env []string) {
	t.Helper()
	for _, step := range steps {
		var said string
		var err error
		matches, told := false, &syncBuffer{}
		(&dev{t: t, out: told}).await("the machine has time for "+step.command, func() bool {
			said, matches, err = step.run(t, folder, env)
			told.Write([]byte(said))
			return matches || !tooBusy(said)
		})
		if !matches {
			t.Errorf("%s:%d: %s: %v, prints\n%s\nwant\n%s", page, step.line, step.command, err, said, strings.Join(step.want, "\n"))
		}
	}
}

// run runs the command, and reports whether it succeeds with the output of the page.
func (s consoleStep) run(t *testing.T, folder string, env []string) (said string, matches bool, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", s.command)
	cmd.Dir, cmd.Env = folder, env
	var all, results, errs syncBuffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&all, &results), io.MultiWriter(&all, &errs)
	err = cmd.Run()
	pattern := s.pattern(t)
	// On a busy machine commands report their progress on standard error, which may be
	// read after later output.
	as := func(text string) bool { return pattern.MatchString(space.ReplaceAllString(text, " ")) }
	matches = err == nil && (as(all.String()) || as(results.String()) || as(errs.String()+results.String()))
	return all.String(), matches, err
}

// pathWith is the search path with the programs, and more folders first.
func pathWith(folders ...string) string {
	folders = append(folders, filepath.Dir(programs.starter), filepath.Dir(programs.temporal), os.Getenv("PATH"))
	return "PATH=" + strings.Join(folders, ":")
}

var space = regexp.MustCompile(`[ \t\r]+`)

// TestOperationsPage runs every command of docs/operations.md, in its order, on
// the demo, and compares what it prints.
func TestOperationsPage(t *testing.T) {
	sideBySide(t, 100)
	folder := t.TempDir()
	d := startDev(t, demoFolder(t, folder), "--demo")
	d.await("the demo's first pass", func() bool {
		pages := d.pages("demo")
		visited := 0
		for _, p := range pages {
			visited += p.Visits
		}
		return len(pages) > 40 && visited > 100 && strings.Contains(d.demoPages("failing"), "/broken")
	})
	port := d.demoPort()
	env := append(cleanEnv(t), "TEMPORAL_ADDRESS="+d.state().Address,
		pathWith())
	steps := consoleSteps(t, "../../docs/operations.md")
	if len(steps) < 30 {
		t.Fatalf("only %d commands", len(steps))
	}
	for i := range steps {
		steps[i].command = strings.ReplaceAll(steps[i].command, "8042", port)
		for j := range steps[i].want {
			steps[i].want[j] = strings.ReplaceAll(steps[i].want[j], "8042", port)
		}
	}
	runSteps(t, "docs/operations.md", steps, folder, env)
	d.stop()
}

func (d *dev) demoPages(state string) string {
	d.t.Helper()
	out, _, _ := d.starter("pages", "demo", "--state", state)
	return out
}

// demoPort is the port of the demo's site.
func (d *dev) demoPort() string {
	d.t.Helper()
	for _, line := range strings.Split(d.out.String(), "\n") {
		var port int
		if _, err := fmt.Sscanf(line, "demo site http://admin.localhost:%d/", &port); err == nil {
			return fmt.Sprint(port)
		}
	}
	d.t.Fatalf("no demo site: %s", d.out)
	return ""
}
