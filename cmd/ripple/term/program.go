package term

import "os"

// ThisProgram is the file of this program, for processes of its own. Another release that is installed
// meanwhile takes its name, or removes it; what runs is then named by the system, where it has a name for that.
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
