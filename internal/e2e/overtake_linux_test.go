package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// checkOvertaking: the workers are away, and the tasks of all pages pile up. The page for which
// a person asks then is visited before most others, and its tasks are ordinary again afterwards.
func (c *cluster) checkOvertaking(s *secureSite, pages int) {
	c.t.Helper()
	for _, w := range c.of["worker"] {
		// Not killed: the server would hold tasks back for those who have the workflows in memory.
		if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
			c.t.Fatal(err)
		}
		<-w.done
	}
	c.of["worker"] = nil
	c.starter("retry", "t", "--state", "active")
	path := fmt.Sprintf("/p%d.html", pages-1)
	id := "page/t/" + s.url + path
	has := func(key int) func() bool {
		return func() bool {
			about := c.operator().temporal("workflow", "describe", "--workflow-id", id, "--output", "json")
			return strings.Contains(about, fmt.Sprintf(`"priorityKey": %d`, key))
		}
	}
	service := c.project.Services["starter"]
	service.Command = []string{"visit", s.url + path}
	argv := c.argv(service)
	asking := startProcess(c.t, c.env(service), argv[0], argv[1:]...)
	c.await("the page's tasks overtake", has(2))

	before := len(s.requests())
	c.start("worker")
	c.await("the command is answered", func() bool {
		select {
		case <-asking.done:
			return true
		default:
			return false
		}
	})
	if !strings.Contains(asking.out.String(), "comes as soon as") {
		c.t.Errorf("starter visit: %s", asking.out)
	}
	place := -1
	c.await("the page is visited", func() bool {
		place = slices.IndexFunc(s.requests()[before:], func(r request) bool { return r.path == path })
		return place >= 0
	})
	c.t.Logf("the page that a person asked for had request %d of %d pages that waited", place+1, pages)
	if place >= pages/2 {
		c.t.Errorf("%d pages were visited before that for which a person asked, of %d", place, pages)
	}
	c.await("the page's tasks are ordinary again", has(3))
}
