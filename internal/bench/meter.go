package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc on every Linux.
const tick = 10 * time.Millisecond

// stat is a process as /proc/PID/stat has it.
type stat struct {
	name   string
	parent int
	// own is the processor time of its threads; children that of ended children that were
	// waited for.
	own, children time.Duration
}

// parseStat reads a line of /proc/PID/stat. The name may hold spaces and parentheses.
func parseStat(line []byte) (s stat, err error) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return s, fmt.Errorf("%q is no line of /proc/PID/stat", line)
	}
	s.name = string(line[open+1 : end])
	fields := strings.Fields(string(line[end+1:])) // from field 3 on, the state
	if len(fields) < 15 {
		return s, fmt.Errorf("%q is no line of /proc/PID/stat", line)
	}
	if s.parent, err = strconv.Atoi(fields[1]); err != nil {
		return s, fmt.Errorf("parent process: %w", err)
	}
	var ticks [4]int64 // user, system, and both of children
	for i := range ticks {
		if ticks[i], err = strconv.ParseInt(fields[11+i], 10, 64); err != nil {
			return s, fmt.Errorf("processor time: %w", err)
		}
	}
	s.own = time.Duration(ticks[0]+ticks[1]) * tick
	s.children = time.Duration(ticks[2]+ticks[3]) * tick
	return s, nil
}

func readStat(pid int) (stat, error) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, fmt.Errorf("read the processor time of a process: %w", err)
	}
	return parseStat(line)
}

// CPU returns the processor time that a process has used so far, without its children.
func CPU(pid int) (time.Duration, error) {
	s, err := readStat(pid)
	return s.own, err
}

// TreeCPU returns the processor time of a process and all processes that it started: those
// that run, and those that have ended and were waited for.
func TreeCPU(pid int) (time.Duration, error) {
	all, err := processes()
	if err != nil {
		return 0, err
	}
	root, ok := all[pid]
	if !ok {
		return 0, fmt.Errorf("there is no process %d", pid)
	}
	sum := root.own + root.children
	for child, s := range all {
		if child != pid && descends(all, child, pid) {
			sum += s.own + s.children
		}
	}
	return sum, nil
}

// CPUBelow returns the processor time of the processes of a name that a process started,
// and of their ended children.
func CPUBelow(pid int, name string) (time.Duration, error) {
	all, err := processes()
	if err != nil {
		return 0, err
	}
	sum := time.Duration(0)
	for child, s := range all {
		if s.name == name[:min(len(name), 15)] && child != pid && descends(all, child, pid) {
			sum += s.own + s.children
		}
	}
	return sum, nil
}

// processes returns the running processes. One may end while they are read.
func processes() (map[int]stat, error) {
	paths, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	all := map[int]stat{}
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			continue
		}
		if s, err := readStat(pid); err == nil {
			all[pid] = s
		}
	}
	return all, nil
}

func descends(all map[int]stat, pid, from int) bool {
	for range len(all) { // a table read while it changes might have a circle
		s, ok := all[pid]
		if !ok || pid == 0 {
			return false
		}
		if s.parent == from {
			return true
		}
		pid = s.parent
	}
	return false
}

// Memory returns the memory that a process uses, in bytes.
func Memory(pid int) (int64, error) {
	kib, err := readField(pid, "status", "VmRSS:")
	return kib << 10, err
}

// Written returns the bytes that a process has sent to disks so far: the pages of files that it
// changed, each as often as it was changed after it had been written.
func Written(pid int) (int64, error) { return readField(pid, "io", "write_bytes:") }

// readField reads a number from a file of /proc/PID, from the line that begins with a name.
func readField(pid int, file, name string) (value int64, err error) {
	path := fmt.Sprintf("/proc/%d/%s", pid, file)
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("read a figure of a process: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			if _, err := fmt.Sscan(rest, &value); err != nil {
				return 0, fmt.Errorf("%s of %s: %w", name, path, err)
			}
			return value, nil
		}
	}
	return 0, fmt.Errorf("%s has no line %s", path, name)
}

// FolderSize returns the total bytes of the files below a folder.
func FolderSize(dir string) (int64, error) {
	var size int64
	err := filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil // removed meanwhile
		}
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("size of a folder: %w", err)
	}
	return size, nil
}
