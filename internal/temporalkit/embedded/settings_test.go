package embedded

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A server ignores a setting whose name it does not know, and none of these is missed before a
// crawl is large. So the program that is run, and a later one as soon as it takes its place,
// must have each name in it.
func TestServerKnowsItsSettings(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads the Temporal CLI, which -short goes without")
	}
	path := os.Getenv("RECRAWL_TEMPORAL_CLI")
	if path == "" {
		path = filepath.Join("..", "..", "..", "bin", "temporal")
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("the Temporal CLI is missing: run make temporal: %v", err)
	}
	checked := 0
	args := (&Server{Files: In(t.TempDir())}).args(Child{}, onePartition)
	for i, arg := range args {
		if arg != "--dynamic-config-value" {
			continue
		}
		name, _, _ := strings.Cut(args[i+1], "=")
		if !bytes.Contains(program, []byte(name)) {
			t.Errorf("%s has no setting %s", path, name)
		}
		checked++
	}
	if checked < 8 {
		t.Errorf("only %d settings were found in %q", checked, args)
	}
	if out, err := exec.Command(path, "--version").CombinedOutput(); err != nil || !bytes.Contains(out, []byte("temporal version")) {
		t.Errorf("%s is not the Temporal CLI: %s %v", path, out, err)
	}
}

// After a stop, more timers are overdue than the server keeps in its memory. It must stop reading
// them before it counts them as critical: then it puts away those that it has read, and no timer
// fires for ten seconds, again and again.
func TestServerStopsReadingBeforeItPutsTimersAway(t *testing.T) {
	t.Parallel()
	args := (&Server{Files: In(t.TempDir())}).args(Child{}, onePartition)
	number := func(name string) int {
		n, err := strconv.Atoi(setting(t, args, name))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	most, critical := number("history.queuePendingTasksMaxCount"), number("history.queuePendingTaskCriticalCount")
	if batch := number("history.timerTaskBatchSize"); most+batch >= critical {
		t.Errorf("it stops reading at %d and reads %d at a time, but %d are critical", most, batch, critical)
	}
}

// What the server has done counts as held until it looks again. It must look so often that the
// maximum does not come first: then nothing is read for five seconds. A visit has up to four tasks
// of a kind.
func TestServerLooksOftenAtWhatItHasDone(t *testing.T) {
	t.Parallel()
	const visits, tasks = 250, 4 // in a second, each
	args := (&Server{Files: In(t.TempDir())}).args(Child{}, onePartition)
	most, err := strconv.Atoi(setting(t, args, "history.queuePendingTasksMaxCount"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"timer", "transfer", "visibility"} {
		every, err := time.ParseDuration(strings.Trim(setting(t, args, "history."+kind+"ProcessorUpdateAckInterval"), `"`))
		if err != nil {
			t.Fatal(err)
		}
		if done := visits * tasks * every.Seconds(); done > float64(most) {
			t.Errorf("%s tasks: %.0f are done between two looks, and %d are held at most", kind, done, most)
		}
	}
}

// setting is the value of a setting of the server.
func setting(t *testing.T, args []string, name string) string {
	t.Helper()
	for _, arg := range args {
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			return value
		}
	}
	t.Fatalf("no setting %s in %q", name, args)
	return ""
}
