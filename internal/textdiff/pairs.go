package textdiff

const (
	// mostPaired is how many lines on each side are compared with each other at most.
	mostPaired = 40
	// alike is the share of two lines in percent that they begin and end with alike from which they
	// are taken for one line that was edited.
	alike = 50
)

// Pairs tells which of some lines that replace each other belong together: a line that was edited,
// even if another one came or went beside it, and of those between, the first with the first and so
// on. Both numbers rise from pair to pair.
func Pairs(gone, came []string) [][2]int {
	var all [][2]int
	i, j := 0, 0
	between := func(toI, toJ int) {
		for ; i < toI && j < toJ; i, j = i+1, j+1 {
			all = append(all, [2]int{i, j})
		}
		i, j = toI, toJ
	}
	for _, p := range editedLines(gone, came) {
		between(p[0], p[1])
		all = append(all, p)
		i, j = i+1, j+1
	}
	between(len(gone), len(came))
	return all
}

// editedLines returns the pairs of alike lines, such that their likeness is the greatest in all.
func editedLines(gone, came []string) [][2]int {
	n, m := len(gone), len(came)
	if n > mostPaired || m > mostPaired || n+m == 2 {
		return nil
	}
	var best [mostPaired + 1][mostPaired + 1]int // likeness of the lines from these on
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if l := likenessOf(gone[i], came[j]); l >= alike {
				best[i][j] = max(best[i][j], best[i+1][j+1]+l)
			}
		}
	}
	var all [][2]int
	for i, j := 0, 0; i < n && j < m; {
		switch best[i][j] {
		case best[i+1][j]:
			i++
		case best[i][j+1]:
			j++
		default:
			all = append(all, [2]int{i, j})
			i, j = i+1, j+1
		}
	}
	return all
}

// likenessOf is the share of the longer line, in percent, that both begin and end with.
func likenessOf(a, b string) int {
	short, long := min(len(a), len(b)), max(len(a), len(b))
	if long == 0 {
		return 0
	}
	head, tail := 0, 0
	for head < short && a[head] == b[head] {
		head++
	}
	for tail < short-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return (head + tail) * 100 / long
}
