package kv_test

import (
	"os"
	"testing"

	"github.com/sumi-ripple/ripple/schema/disk/disktest"
)

func TestMain(m *testing.M) {
	disktest.InMemory()
	os.Exit(m.Run())
}
