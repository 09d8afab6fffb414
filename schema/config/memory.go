package config

import "fmt"

// A MemoryLimit is how many bytes a crawling process may use, or one of two words.
type MemoryLimit int64

// The limits that are words.
const (
	MemoryAuto MemoryLimit = 0  // three quarters of the memory of the machine, or of the process's cgroup
	MemoryOff  MemoryLimit = -1 // no limit
)

// A crawl of a few pages uses half of leastMemory.
const (
	leastMemory = 64_000_000
	mostMemory  = 1 << 50
)

func memoryLimit(at *MemoryLimit) value {
	return bind(at, func(raw any) (MemoryLimit, error) {
		switch raw {
		case "auto":
			return MemoryAuto, nil
		case "off":
			return MemoryOff, nil
		}
		n, err := bytesOf(raw, leastMemory, mostMemory)
		if err != nil {
			err = fmt.Errorf(`%w; "auto" and "off" are possible, too`, err)
		}
		return MemoryLimit(n), err
	}, MemoryLimit.String)
}

// String returns the limit as written in a configuration.
func (m MemoryLimit) String() string {
	switch m {
	case MemoryAuto:
		return `"auto"`
	case MemoryOff:
		return `"off"`
	}
	return tomlSize(int64(m))
}
