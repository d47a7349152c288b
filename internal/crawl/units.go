package crawl

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a time.Duration that reads and prints text with units, days
// included ("10s", "36h", "7d", "1d12h"). It appears in specs and in JSON
// output only; code passes time.Duration.
type Duration time.Duration

// Std returns the duration as a time.Duration.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String prints the duration with units, whole days as "d".
func (d Duration) String() string { return FormatDuration(time.Duration(d)) }

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = Duration(v)
	return nil
}

// UnmarshalJSON accepts a text with units and the number 0, so that a bare
// number never silently means nanoseconds.
func (d *Duration) UnmarshalJSON(data []byte) error {
	text := string(data)
	if text == "0" {
		*d = 0
		return nil
	}
	s, err := strconv.Unquote(text)
	if err != nil {
		return fmt.Errorf("%s is not a duration: write a text with units, such as \"10s\", \"36h\" or \"7d\"", text)
	}
	return d.UnmarshalText([]byte(s))
}

// ParseDuration reads a duration with units: everything time.ParseDuration
// reads, and days ("d") as 24 h. A negative duration or a number without a
// unit (other than 0) is an error.
func ParseDuration(s string) (time.Duration, error) {
	bad := func(why string) (time.Duration, error) {
		return 0, fmt.Errorf("%q is not a duration (%s): write a number with a unit, such as 10s, 36h or 7d", s, why)
	}
	text := strings.TrimSpace(s)
	if text == "0" {
		return 0, nil
	}
	if text == "" {
		return bad("empty")
	}
	if strings.HasPrefix(text, "-") {
		return bad("negative")
	}
	var days float64
	if i := strings.IndexByte(text, 'd'); i >= 0 {
		n, err := strconv.ParseFloat(text[:i], 64)
		if err != nil || n < 0 || math.IsNaN(n) {
			return bad("unreadable days")
		}
		days, text = n, text[i+1:]
	}
	var rest time.Duration
	if text != "" {
		v, err := time.ParseDuration(text)
		if err != nil {
			return bad("unreadable")
		}
		if v < 0 {
			return bad("negative")
		}
		rest = v
	}
	total := days*24*float64(time.Hour) + float64(rest)
	if total > float64(math.MaxInt64/2) {
		return bad("too long")
	}
	return time.Duration(days*24*float64(time.Hour)) + rest, nil
}

// Seconds is the time of s seconds, which reasons carry as numbers: at most the longest that
// there is, in both directions, and 0 for what is no number. Go leaves open what comes of a
// number that does not fit.
func Seconds(s float64) time.Duration {
	ns := s * float64(time.Second)
	switch {
	case math.IsNaN(ns):
		return 0
	case ns >= math.MaxInt64:
		return math.MaxInt64
	case ns <= -math.MaxInt64:
		return -math.MaxInt64
	}
	return time.Duration(ns)
}

// FormatDuration prints d with units so that ParseDuration reads the same
// value back: whole days first ("7d", "1d12h"), then Go's notation without
// zero parts ("36h" prints as "1d12h", "90s" as "1m30s").
func FormatDuration(d time.Duration) string {
	if d < 0 {
		return "-" + FormatDuration(-max(d, -math.MaxInt64)) // the least has no opposite
	}
	const day = 24 * time.Hour
	var b strings.Builder
	if d >= day {
		fmt.Fprintf(&b, "%dd", d/day)
		d %= day
		if d == 0 {
			return b.String()
		}
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	b.WriteString(s)
	return b.String()
}

// Size is a number of bytes that reads and prints text with units ("10MiB").
type Size int64

var sizeUnits = []struct {
	suffix string
	factor int64
}{
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"GB", 1e9},
	{"MB", 1e6},
	{"kB", 1e3},
	{"KB", 1e3},
	{"B", 1},
}

// String prints the size in the largest binary unit that divides it.
func (s Size) String() string {
	for _, u := range sizeUnits[:3] {
		if int64(s) >= u.factor && int64(s)%u.factor == 0 {
			return strconv.FormatInt(int64(s)/u.factor, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// MarshalText implements encoding.TextMarshaler.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. A bare number is bytes.
func (s *Size) UnmarshalText(text []byte) error {
	v, err := ParseSize(string(text))
	if err != nil {
		return err
	}
	*s = v
	return nil
}

// UnmarshalJSON accepts a text with units or a number of bytes.
func (s *Size) UnmarshalJSON(data []byte) error {
	text := string(data)
	if q, err := strconv.Unquote(text); err == nil {
		text = q
	}
	return s.UnmarshalText([]byte(text))
}

// ParseSize reads a number of bytes with an optional unit (B, kB, KiB, MB,
// MiB, GB, GiB).
func ParseSize(text string) (Size, error) {
	number, factor := strings.TrimSpace(text), int64(1)
	for _, u := range sizeUnits {
		if strings.HasSuffix(number, u.suffix) {
			number, factor = strings.TrimSpace(strings.TrimSuffix(number, u.suffix)), u.factor
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n < 0 || math.IsNaN(n) || n*float64(factor) > math.MaxInt64/2 {
		return 0, fmt.Errorf("%q is not a size: write a number of bytes with a unit, such as 512KiB or 10MiB", text)
	}
	return Size(n * float64(factor)), nil
}
