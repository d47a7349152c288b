package testsite

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"strings"
)

// rngOf returns a source of random numbers that depends only on the seed and the parts.
func rngOf(seed uint64, parts ...string) *rand.Rand {
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte(strings.Join(parts, "\x00")), seed))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])))
}

var vocabulary = strings.Fields(`
	market harbour river council budget school winter engine signal garden library minister
	question answer morning evening report number street village bridge letter window paper
	music season weather record history island station market valley forest doctor teacher
	opens closes carries follows holds brings leaves reaches keeps moves turns shows meets
	quiet early narrow broad recent distant common double silver northern southern central
	the a some every another this that its their over under after before without between
`)

// paragraph returns some sentences without meaning, long enough that a new paragraph is a
// new text for every way of comparing texts.
func paragraph(rng *rand.Rand) string {
	var b strings.Builder
	for sentence := range 4 + rng.IntN(3) {
		if sentence > 0 {
			b.WriteByte(' ')
		}
		for word := range 7 + rng.IntN(6) {
			w := vocabulary[rng.IntN(len(vocabulary))]
			if word == 0 {
				w = strings.ToUpper(w[:1]) + w[1:]
			} else {
				b.WriteByte(' ')
			}
			b.WriteString(w)
		}
		b.WriteByte('.')
	}
	return b.String()
}
