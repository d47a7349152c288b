package extract

import "recrawl/internal/crawl"

// Decoded converts a body to UTF-8 from the encoding in which Parse reads it. The error says
// that it could not be decoded.
func Decoded(body []byte, contentType string) ([]byte, error) {
	decoded, _, err := decode(body, crawl.ParseMediaType(contentType))
	return decoded, err
}
