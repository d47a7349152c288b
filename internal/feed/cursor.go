package feed

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Errors of a cursor that can be read but leads nowhere. Callers that get one of them take
// a snapshot and follow from its cursor.
var (
	// ErrTrimmed: changes after the cursor are no longer kept.
	ErrTrimmed = errors.New("the cursor is older than the changes that are kept: take a snapshot and follow from its cursor (starter changes NAME --snapshot)")
	// ErrAhead: the cursor is newer than the newest change.
	ErrAhead = errors.New("the cursor is newer than the newest change, so it is from another store: take a snapshot and follow from its cursor (starter changes NAME --snapshot)")
	// ErrEpoch: the store was restored from a back-up since, or is another one.
	ErrEpoch = errors.New("the cursor is from before the store was restored, or from another store: take a snapshot and follow from its cursor (starter changes NAME --snapshot)")
)

// Cursor is a place in the feed: all changes up to and including ID are read. IDs are only
// comparable within one Epoch, a random word that a store gets when it is made and another
// when it is restored from a back-up.
type Cursor struct {
	Epoch string
	ID    int64
}

const cursorVersion = "c1"

// String returns the cursor as readers keep it. They must not interpret it.
func (c Cursor) String() string {
	return cursorVersion + "." + c.Epoch + "." + strconv.FormatInt(c.ID, 10)
}

// ParseCursor reads what String has written.
func ParseCursor(s string) (Cursor, error) {
	version, rest, _ := strings.Cut(s, ".")
	epoch, number, ok := strings.Cut(rest, ".")
	id, err := strconv.ParseInt(number, 10, 64)
	if version != cursorVersion || !ok || epoch == "" || err != nil || id < 0 || strconv.FormatInt(id, 10) != number {
		return Cursor{}, fmt.Errorf("%.80q is not a cursor: give one as it was printed, such as %s", s, Cursor{Epoch: "5f2a9c01", ID: 4711})
	}
	return Cursor{Epoch: epoch, ID: id}, nil
}

// MarshalText implements encoding.TextMarshaler.
func (c Cursor) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Cursor) UnmarshalText(text []byte) error {
	parsed, err := ParseCursor(string(text))
	if err != nil {
		return err
	}
	*c = parsed
	return nil
}
