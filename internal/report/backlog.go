package report

import (
	"fmt"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

const (
	// backlogTold is the age at which a backlog is shown: below it, tasks are only on their
	// way.
	backlogTold = 5 * time.Second
	// backlogOld is the age at which visits are noticeably late.
	backlogOld = time.Minute
)

// backlogAdvice says what to do about an old backlog.
const backlogAdvice = "visits are late by as much. After a stop it goes down by itself; if it grows, start another worker or give Temporal's server more CPU"

// overAskedAdvice says what to do if crawls ask for more visits than are made.
const overAskedAdvice = "pages are visited that much less often; start another worker, give Temporal's server more CPU, or ask for fewer visits"

// overAsked says that a running crawl asks for more visits than Temporal and the workers make. It is
// "" otherwise.
func overAsked(c store.CrawlRecord, s store.SteeringRecord) string {
	if c.State != crawl.CrawlRunning {
		return ""
	}
	for _, r := range s.Reasons {
		if r.Code == schedule.CodeEngine {
			return schedule.Word(r) + ": " + overAskedAdvice
		}
	}
	return ""
}

type backlogLine struct {
	Tasks  int            `json:"tasks"`
	Age    crawl.Duration `json:"age"`
	Advice orNull         `json:"advice"` // null unless it is old
}

func backlogOf(b store.BacklogRecord) *backlogLine {
	if b.Age < backlogTold {
		return nil
	}
	line := &backlogLine{Tasks: b.Tasks, Age: crawl.Duration(b.Age)}
	if b.Age >= backlogOld {
		line.Advice = backlogAdvice
	}
	return line
}

// backlogWords puts a backlog into words, "" if it is not old enough to be shown.
func backlogWords(b store.BacklogRecord) string {
	if b.Age < backlogTold {
		return ""
	}
	text := fmt.Sprintf("about %d tasks wait for a worker, the oldest for %s", b.Tasks, schedule.Rough(b.Age))
	if b.Age >= backlogOld {
		text += ": " + backlogAdvice
	}
	return text
}
