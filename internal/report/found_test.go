package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// The body that a visit found can be shown while it is kept, version or not.
func TestShowVisit(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	f, files, page := versioned(t)
	w, err := files.Create(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if _, err := w.Write([]byte("<h1>Not found</h1>")); err != nil {
		t.Fatal(err)
	}
	digest, _, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	f.visits[page.PageID] = []store.VisitRecord{
		{PageID: page.PageID, Visit: 6, At: now, Outcome: crawl.OutcomeSuspect, Digest: digest},
		{PageID: page.PageID, Visit: 5, At: now, Outcome: crawl.OutcomeFailed},
	}
	show := func(visit int, format Format, view View) (string, error) {
		var out bytes.Buffer
		err := Reporter{Store: f, Out: &out, Format: format}.ShowVisit(ctx, files, page, visit, view)
		return out.String(), err
	}
	if got, err := show(6, Text, ViewBody); err != nil || got != "<h1>Not found</h1>" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := show(6, Text, ViewText); err != nil || got != "Not found\n" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := show(6, JSON, ViewText); err != nil || !strings.Contains(got, `"visit":6,`) || !strings.Contains(got, `"outcome":"suspect","digest":"`+digest+`","view":"text","text":"Not found\n"}`) {
		t.Errorf("%q, %v", got, err)
	}
	for visit, want := range map[int]string{5: "its outcome is failed", 7: "has no visit 7: `starter history` lists them"} {
		if _, err := show(visit, Text, ViewBody); !errors.Is(err, ErrNoBody) || !strings.Contains(err.Error(), want) {
			t.Errorf("visit %d: %v, want %q", visit, err, want)
		}
	}
	if _, err := show(6, Text, ViewHead); !errors.Is(err, ErrNoBody) || !strings.Contains(err.Error(), "the head was not kept") {
		t.Errorf("the head: %v", err)
	}
	if err := files.Delete(ctx, digest); err != nil {
		t.Fatal(err)
	}
	if _, err := show(6, Text, ViewBody); !errors.Is(err, ErrNoBody) || !strings.Contains(err.Error(), "made no version and are deleted") {
		t.Errorf("deleted bytes: %v", err)
	}
}

func TestExplainSaysWhatIsSuspect(t *testing.T) {
	t.Parallel()
	for visit, want := range map[int]bool{0: false, 3: false, 6: true} {
		f := sample()
		page := f.pages[0]
		page.Last.ID, page.Last.Visit, page.Suspect = 1, 3, store.Suspect{Visit: visit}
		var text, line bytes.Buffer
		if err := (Reporter{Store: f, Out: &text, Format: Text}).Explain(t.Context(), page, Live{}); err != nil {
			t.Fatal(err)
		}
		if err := (Reporter{Store: f, Out: &line, Format: JSON}).Explain(t.Context(), page, Live{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String(), "what visit 6 found counts if the next look finds such a thing, too: `starter show https://example.com/ --visit 6`"); got != want {
			t.Errorf("visit %d suspect: %s", visit, text.String())
		}
		if got := strings.Contains(line.String(), `"suspect_visit":6`); got != want || !want && !strings.Contains(line.String(), `"suspect_visit":0`) {
			t.Errorf("visit %d suspect: %s", visit, line.String())
		}
	}
}
