// Package seeds imports lists of seeds that are too long for a spec: it reads them in
// the formats in which such lists come, as they stream in, says of each entry whether
// it is a seed, and hands these to a store in batches. An import that was cut off goes
// on where it was.
package seeds
