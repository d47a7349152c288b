package archive

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"recrawl/internal/durable"
)

// keptSuffix ends the names of the temporary files that wait for the end of a batch.
const keptSuffix = ".kept" + tempSuffix

// Batch writes many contents to a Dir, or deletes many, and brings that to the disk together. To
// make each durable by itself, as a crawl must, means to wait for the disk several times a content.
// The contents of a batch may be written by several goroutines.
type Batch struct {
	dir *Dir
	// syncAll brings the file system of a folder to the disk, or reports that the operating
	// system has no call for that: then each content is made durable by itself.
	syncAll func(folder string) (can bool, err error)

	mu   sync.Mutex
	held []heldContent
	kept int // numbers the files of contents
	// left are the folders from which contents were deleted since the last Flush.
	left map[string]bool
}

// heldContent is a content that waits for the end of its batch in a temporary file.
type heldContent struct {
	digest string
	coding Coding
	file   string
}

// Batch begins a batch. What lies in the archive before is on the disk when it returns: a
// process may have been killed between a content's new name and the sync of its folder.
func (d *Dir) Batch() (*Batch, error) {
	b := &Batch{dir: d, syncAll: durable.SyncFileSystem}
	_, err := b.syncAll(d.temp())
	return b, err
}

// Create begins a content. Its Commit promises nothing: the content can be seen, and survives
// a power loss, after Flush.
func (b *Batch) Create(ctx context.Context) (Writer, error) {
	return (&Spool{folder: b.dir.temp(), named: true, store: b.hold}).begin(ctx)
}

// hold keeps the file of a content for Flush.
func (b *Batch) hold(digest string, s *Spool) error {
	e, err := encode(s)
	if err != nil {
		return err
	}
	defer e.close()
	b.mu.Lock()
	defer b.mu.Unlock()
	// The temporary name is free after this, and may be drawn again by chance: with a million
	// contents one of seventeen backups would meet that. A number keeps the files apart.
	b.kept++
	c := heldContent{digest, e.coding, fmt.Sprintf("%s.%d%s", strings.TrimSuffix(e.file.Name(), tempSuffix), b.kept, keptSuffix)}
	if err := os.Rename(e.file.Name(), c.file); err != nil {
		return err
	}
	b.held = append(b.held, c)
	return nil
}

// Delete removes a content. A power loss may bring it back until Flush.
func (b *Batch) Delete(ctx context.Context, digest string) error {
	if err := Check(ctx, digest); err != nil {
		return err
	}
	defer b.dir.lock(digest)()
	removed, err := b.dir.unlink(digest, Codings()...)
	if err != nil {
		return fmt.Errorf("archive: delete: %w", err)
	}
	if removed {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.left == nil {
			b.left = map[string]bool{}
		}
		b.left[filepath.Dir(b.dir.file(digest, Plain))] = true
	}
	return nil
}

// Flush stores the committed contents. Once it returns without error they survive a power loss,
// and no deleted content comes back in one. None gets its name before its bytes are on the disk.
func (b *Batch) Flush() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.store(); err != nil {
		return err
	}
	if len(b.left) == 0 {
		return nil
	}
	together, err := b.syncAll(b.dir.temp())
	if err != nil {
		return err
	}
	for folder := range b.left {
		if !together {
			if err := durable.Sync(folder); err != nil {
				return err
			}
		}
	}
	b.left = nil
	return nil
}

// store is Flush for the committed contents.
func (b *Batch) store() error {
	if len(b.held) == 0 {
		return nil
	}
	together, err := b.syncAll(b.dir.temp())
	if err != nil {
		return err
	}
	for _, c := range b.held {
		if err := b.dir.placeHeld(c, together); err != nil {
			return err
		}
	}
	if together {
		if _, err := b.syncAll(b.dir.temp()); err != nil {
			return err
		}
	}
	b.held = nil
	return nil
}

// Abort drops what was committed since the last Flush. Contents that a failed Flush has placed stay.
func (b *Batch) Abort() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.held {
		_ = os.Remove(c.file)
	}
	b.held = nil
}

// placeHeld gives a content its name, in the place of one that is there.
func (d *Dir) placeHeld(c heldContent, together bool) error {
	defer d.lock(c.digest)()
	if err := d.nameHeld(c, together); err != nil {
		return err
	}
	return d.removeOthers(c.digest, c.coding)
}

// nameHeld gives a file its name. If its batch is brought to the disk together, its bytes are
// there already, and the sync that follows brings its folders and its name.
func (d *Dir) nameHeld(c heldContent, together bool) error {
	target := d.file(c.digest, c.coding)
	if together {
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.Rename(c.file, target)
	}
	if err := d.makeFolders(c.digest); err != nil {
		return err
	}
	return durable.Place(c.file, target)
}
