package app

import (
	"errors"
	"testing"

	"recrawl/internal/archive"
	"recrawl/internal/archive/archivetest"
	"recrawl/internal/archive/gc"
	"recrawl/internal/cli"
)

// What is to be removed for good is not looked for in another store's archive: it would be reported
// as gone, and stay in its own.
func TestNothingIsRemovedFromAnothersArchive(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	const url = "https://a.example/"
	k.found(url, "ours")
	k.at.Archive = t.TempDir()
	files, err := archive.OpenDir(k.at.Archive)
	k.must(err)
	archivetest.Put(t, files, []byte("theirs"))
	for what, do := range k.takedowns(url) {
		if err := do(); !errors.Is(err, gc.ErrForeign) {
			t.Errorf("%s: %v", what, err)
		}
		if pages, err := k.Store.FindPages(t.Context(), url, ""); err != nil || len(pages) != 1 {
			t.Errorf("%s has removed the page: %v, %v", what, pages, err)
		}
	}
}

// takedowns are the commands that remove a page for good: by its URL, and with its crawl.
func (k *kept) takedowns(url string) map[string]func() error {
	progress := func(cli.ForgetProgress) {}
	return map[string]func() error{
		"forget": func() error {
			_, err := (Backend{}).Forget(k.t.Context(), k.at, cli.Takedown{URL: url}, cli.ForgetOptions{Progress: progress})
			return err
		},
		"delete": func() error {
			_, err := (Backend{}).Delete(k.t.Context(), k.at, k.Record.Spec.Name, cli.DeleteOptions{Progress: progress})
			return err
		},
	}
}
