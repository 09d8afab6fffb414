package desk

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestToken(t *testing.T) {
	one, err := Token("")
	two, err2 := Token("")
	if err != nil || err2 != nil || one == two || len(one) < leastToken {
		t.Errorf("Token = %q, %q, %v, %v", one, two, err, err2)
	}
	path := filepath.Join(t.TempDir(), "token")
	made, err := Token(path)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Token(path); err != nil || again != made {
		t.Errorf("the token was %q, and is %q, %v", made, again, err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
}

func TestTokenRefused(t *testing.T) {
	tests := []struct {
		name, text, want string
		mode             os.FileMode
	}{
		{"short", "0123456789", "must hold", 0o600},
		{"long", strings.Repeat("x", mostToken+1), "must hold", 0o600},
		{"two lines", "0123456789abcdef\n0123456789abcdef", "must hold", 0o600},
		{"odd", "0123456789abcdef<", "must hold", 0o600},
		{"open to others", "0123456789abcdef", "chmod 600", 0o644},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.mode != 0o600 && runtime.GOOS == "windows" {
				t.Skip("there are no such permissions here")
			}
			path := filepath.Join(t.TempDir(), "token")
			if err := os.WriteFile(path, []byte(tt.text), tt.mode); err != nil {
				t.Fatal(err)
			}
			if got, err := Token(path); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Token = %q, %v; want %q", got, err, tt.want)
			}
		})
	}
	if _, err := Token(t.TempDir()); err == nil {
		t.Error("a folder is taken for a token")
	}
	if _, err := Token(filepath.Join(t.TempDir(), "none", "token")); err == nil {
		t.Error("a token was made in no folder")
	}
}
