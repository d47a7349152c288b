// Package seeds imports lists of seeds that are too long for a spec: it reads them as
// they stream in, in the usual formats of such lists, decides about each entry whether
// it is a seed, and hands the seeds to a store in batches. An import that was cut off
// goes on where it was.
package seeds
