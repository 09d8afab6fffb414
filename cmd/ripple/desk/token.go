package desk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/sumi-ripple/ripple/schema/disk"
)

const (
	leastToken = 16 // characters
	mostToken  = 512
)

// Token reads the token from a file that only its owner can read, and creates the file if there is
// none. Without a name, it returns a token that is stored nowhere.
func Token(path string) (string, error) {
	if path == "" {
		return rand.Text(), nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return readToken(path)
	}
	if err != nil {
		return "", fmt.Errorf("make the token: %w", err)
	}
	token := rand.Text()
	_, err = f.WriteString(token + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("write the token: %w", err), os.Remove(path))
	}
	return token, nil
}

func readToken(path string) (string, error) {
	if err := disk.Secret(path); err != nil {
		return "", fmt.Errorf("the token file %s: %w", path, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < leastToken || len(token) > mostToken || strings.ContainsFunc(token, odd) {
		return "", fmt.Errorf("the token file %s must hold %d to %d letters, digits, \"-\" and \"_\"",
			path, leastToken, mostToken)
	}
	return token, nil
}

// odd reports whether a character would have to be escaped in a header or in a fragment.
func odd(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
}
