package term

import "os"

// ThisProgram returns the file of this program, to start further processes of it. If another release has replaced or
// removed that file meanwhile, it returns the system's own name for the running program, where there is one.
func ThisProgram() (string, error) {
	const running = "/proc/self/exe" // of Linux
	path, err := os.Executable()
	mine, missing := os.Stat(running)
	if missing != nil {
		return path, err
	}
	if named, gone := os.Stat(path); gone != nil || !os.SameFile(mine, named) {
		return running, nil
	}
	return path, err
}
