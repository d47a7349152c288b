package folder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/durable"
	"recrawl/internal/export"
	"recrawl/internal/sink"
)

const (
	// ownFolder holds the files that are no pages: the marker and the index. No page's name
	// begins with a dot.
	ownFolder  = ".recrawl"
	markerName = ownFolder + "/folder.json"
	newName    = ownFolder + "/new" // a file that is being written

	markerVersion = 1
	// fillAtOnce is the number of pages at which one step of a fill looks.
	fillAtOnce = 500
)

var errBusy = errors.New("another process writes there")

// marker says what the folder holds, and how far it is filled.
type marker struct {
	Recrawl   int           `json:"recrawl_folder"`
	Store     string        `json:"store"`
	Crawl     string        `json:"crawl"`
	Format    export.Format `json:"format"`
	Rendering string        `json:"rendering,omitempty"`
	// Filled: all pages were looked at, and since then events say which to look at. Until
	// then, After is the page up to which that is done, and Anew says that existing files
	// are written again.
	Filled bool  `json:"filled"`
	After  int64 `json:"after,omitempty"`
	Anew   bool  `json:"anew,omitempty"`
	// Looked is when all pages were last looked at, and Pages their number. Counted is the
	// number of a look under way.
	Looked  time.Time `json:"looked,omitzero"`
	Pages   int       `json:"pages,omitempty"`
	Counted int       `json:"counted,omitempty"`
}

// All pages are looked at again from time to time, because some new versions are not in the
// feed: only the page's links or decoration differ, or its body may no longer be kept. The
// time between two looks is lookPage for each page, many times the cost, so a small folder
// is looked at often, and a large one once a day. The pages of a mirror are made again at
// each look.
const (
	lookPage     = 100 * time.Millisecond
	lookMirrored = 2 * time.Second
	lookMin      = time.Minute
	lookMax      = 24 * time.Hour
)

// lookAfter returns how long after a look at that many pages the next one begins.
func lookAfter(format export.Format, pages int) time.Duration {
	page := lookPage
	if format == export.Mirror {
		page = lookMirrored
	}
	return min(max(time.Duration(min(pages, int(lookMax/page)))*page, lookMin), lookMax)
}

// keeper is the opened folder.
type keeper struct {
	*Sender
	root   *os.Root
	lock   *os.File
	marker marker
	// settled is the page up to which settle has come.
	settled int64
}

// open opens the folder, makes it if necessary, and refuses one that is not ours.
func (s *Sender) open() (_ *keeper, err error) {
	base, err := os.OpenRoot(s.root)
	if err != nil {
		return nil, fmt.Errorf("folder %s: %w", s.root, err)
	}
	defer base.Close()
	k := &keeper{Sender: s, root: base}
	if err := k.makeFolders(s.sub); err != nil {
		return nil, fmt.Errorf("folder %s: %w", s.path(), err)
	}
	if k.root, err = base.OpenRoot(s.sub); err != nil {
		return nil, fmt.Errorf("folder %s: %w", s.path(), err)
	}
	if k.lock, err = k.root.Open("."); err != nil {
		return nil, errors.Join(err, k.root.Close())
	}
	if err := durable.Lock(k.lock); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errBusy
		}
		return nil, errors.Join(err, k.lock.Close(), k.root.Close())
	}
	if err := k.begin(); err != nil {
		return nil, errors.Join(err, k.close())
	}
	return k, nil
}

func (k *keeper) close() error {
	return errors.Join(durable.Unlock(k.lock), k.lock.Close(), k.root.Close())
}

// begin reads the marker, or writes the first one.
func (k *keeper) begin() error {
	text, err := k.root.ReadFile(markerName)
	if errors.Is(err, fs.ErrNotExist) {
		if err := k.checkEmpty(); err != nil {
			return err
		}
		k.marker = k.want
		return errors.Join(k.makeFolders(ownFolder), k.saveMarker())
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &k.marker); err != nil || k.marker.Recrawl != markerVersion {
		return k.stop(CodeForeign, "holds a marker (%s) that this version does not read: name another folder, or empty it", markerName)
	}
	have, want := k.marker, k.want
	if have.Store != want.Store || have.Crawl != want.Crawl || have.Format != want.Format {
		return k.stop(CodeForeign, "is kept for crawl %.80s as %.20s, by this store or another: name another folder, or empty it", have.Crawl, have.Format)
	}
	if err := k.remove(newName); err != nil { // a write that was cut off
		return err
	}
	if have.Rendering != want.Rendering {
		k.marker.Rendering, k.marker.Filled, k.marker.After, k.marker.Counted, k.marker.Anew = want.Rendering, false, 0, 0, true
		return k.saveMarker()
	}
	return nil
}

// checkEmpty refuses a folder with anything in it except the work of a first call that was
// cut off.
func (k *keeper) checkEmpty() error {
	entries, err := fs.ReadDir(k.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != ownFolder || !e.IsDir() {
			return k.stop(CodeForeign, "holds %.80q, which is not ours: name an empty folder", e.Name())
		}
	}
	if _, err := k.root.Lstat(indexFolder); err == nil {
		return k.stop(CodeForeign, "has lost its marker %s: empty it, and it is filled again", markerName)
	}
	return nil
}

func (k *keeper) stop(code, format string, args ...any) error {
	return &sink.Stop{Code: code, Reason: fmt.Sprintf("folder %s %s", k.path(), fmt.Sprintf(format, args...))}
}

func (k *keeper) saveMarker() error {
	text, err := json.Marshal(k.marker)
	if err != nil {
		return err
	}
	return k.write(markerName, strings.NewReader(string(text)+"\n"))
}

// fill looks at the next pages, and reports whether there are more. The marker records the
// progress. Where the time is over first, the next call goes on: a store or an archive that is far
// away may need more time for these pages than one call has.
func (k *keeper) fill(ctx context.Context) (more bool, err error) {
	after := k.marker.After
	found, through, more, err := k.Source.Documents(ctx, after, fillAtOnce)
	if err != nil {
		return false, err
	}
	if !more {
		through = math.MaxInt64
	}
	wanted := map[int64]export.Exchange{}
	for _, x := range found {
		if x.Page > after && x.Page <= through {
			wanted[x.Page] = x
		}
	}
	if err := k.settle(ctx, after, through, wanted); err != nil {
		if k.settled == after || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return false, err
		}
		through, more = k.settled, true
		maps.DeleteFunc(wanted, func(page int64, _ export.Exchange) bool { return page > through })
	}
	k.marker.After = through
	k.marker.Counted += len(wanted)
	if !more {
		k.marker.Filled, k.marker.After, k.marker.Anew, k.marker.Looked = true, 0, false, k.Now().UTC()
		k.marker.Pages, k.marker.Counted = k.marker.Counted, 0
	}
	return more, k.saveMarker()
}

// isDue: all pages must be looked at again.
func (k *keeper) isDue() bool {
	return k.Now().Sub(k.marker.Looked) >= lookAfter(k.marker.Format, k.marker.Pages)
}

// startOver begins a look at all pages if it must and none is under way.
func (k *keeper) startOver(must bool) error {
	if !must || !k.marker.Filled {
		return nil
	}
	k.marker.Filled = false
	return k.saveMarker()
}

// startAnew begins a look at all pages, from the first one on also if one is under way, which has
// passed pages already.
func (k *keeper) startAnew() error {
	k.marker.Filled, k.marker.After, k.marker.Counted = false, 0, 0
	return k.saveMarker()
}

// refresh brings the folder up to date for one page.
func (k *keeper) refresh(ctx context.Context, page int64) error {
	x, ok, err := k.Source.Document(ctx, page)
	if err != nil {
		return err
	}
	wanted := map[int64]export.Exchange{}
	if ok {
		wanted[page] = x
	}
	return k.settle(ctx, page-1, page, wanted)
}

// place writes a document's file. It reports false if there is nothing to write: the body is
// gone or damaged, or has no text. An export leaves such a page out, too, and the next look
// at all pages tries again.
func (k *keeper) place(ctx context.Context, name string, x export.Exchange) (bool, error) {
	content, err := export.OpenFile(ctx, k.marker.Format, k.Source, x)
	if archive.Lost(err) || err == nil && content == nil {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", x.URL, err)
	}
	defer content.Close()
	err = k.placeContent(name, content)
	if archive.Lost(err) { // known only at its end
		return false, k.remove(newName)
	}
	return err == nil, err
}

func (k *keeper) placeContent(name string, content io.Reader) error {
	if k.marker.Format == export.Mirror {
		return k.writeIfOther(name, content)
	}
	if err := k.makeFolders(path.Dir(name)); err != nil {
		return err
	}
	return k.write(name, content)
}

// write replaces a file at once.
func (k *keeper) write(name string, content io.Reader) error {
	if err := k.step(); err != nil {
		return err
	}
	f, err := k.root.OpenFile(newName, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err := errors.Join(err, f.Close(), k.step()); err != nil {
		return err
	}
	return durable.PlaceIn(k.root, newName, name)
}

// makeFolders makes a folder and those above it. None may be a symbolic link: its target is
// not ours.
func (k *keeper) makeFolders(name string) error {
	if name == "." {
		return nil
	}
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		folder := name[:i]
		info, err := k.root.Lstat(folder)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if err := errors.Join(k.step(), k.root.Mkdir(folder, 0o755)); err != nil {
				return err
			}
			if err := durable.SyncIn(k.root, path.Dir(folder)); err != nil {
				return err
			}
		case err != nil:
			return err
		case !info.IsDir():
			return k.stop(CodeForeign, "holds %s, which is no folder (%s): remove it", folder, info.Mode().Type())
		}
	}
	return nil
}

// remove removes a file, and then the empty folders above it. It does the latter even if
// the file is already gone, since a call may have been cut off after that.
func (k *keeper) remove(name string) error {
	there, err := k.isThere(name)
	if err != nil {
		return err
	}
	if there {
		if err := errors.Join(k.step(), k.root.Remove(name)); err != nil {
			return err
		}
	}
	folder := path.Dir(name)
	for ; folder != "." && folder != ownFolder; folder = path.Dir(folder) {
		if ok, err := k.isThere(folder); err != nil {
			return err
		} else if !ok {
			continue
		}
		if !k.isEmpty(folder) {
			break
		}
		if err := errors.Join(k.step(), k.root.Remove(folder)); err != nil {
			return err
		}
	}
	if info, err := k.root.Lstat(folder); !there || err != nil || !info.IsDir() {
		return nil // nothing was removed below it
	}
	return durable.SyncIn(k.root, folder)
}

// isThere reports whether there is a file or folder of this name. The target of a symbolic
// link does not count.
func (k *keeper) isThere(name string) (bool, error) {
	for i := 0; i < len(name); i++ {
		if name[i] != '/' {
			continue
		}
		switch info, err := k.root.Lstat(name[:i]); {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, err
		case !info.IsDir():
			return false, nil
		}
	}
	_, err := k.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// isEmpty reports whether a folder may go. A symbolic link to one may not.
func (k *keeper) isEmpty(folder string) bool {
	info, err := k.root.Lstat(folder)
	if err != nil || !info.IsDir() {
		return false
	}
	f, err := k.root.Open(folder)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// step marks a point where a process may end.
func (k *keeper) step() error {
	if k.fault != nil {
		return k.fault()
	}
	return nil
}
