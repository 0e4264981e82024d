// Starts and stops envtest on the assets folders that it is given, in turns, and prints a line of JSON for each start: the
// milliseconds until it was ready and until it had stopped, and the processor time of all processes that it had started.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
	"syscall"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func main() {
	rounds, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal("usage: start <rounds> <folder>...")
	}
	for range rounds {
		for _, folder := range os.Args[2:] {
			before, began := cpu(), time.Now()
			environment := &envtest.Environment{BinaryAssetsDirectory: folder}
			if _, err := environment.Start(); err != nil {
				log.Fatal(err)
			}
			ready := time.Since(began)
			if err := environment.Stop(); err != nil {
				log.Fatal(err)
			}
			line, _ := json.Marshal(map[string]any{
				"folder": folder, "ready": ready.Milliseconds(), "stopped": (time.Since(began) - ready).Milliseconds(),
				"cpu": (cpu() - before).Milliseconds(), "memory": memory(),
			})
			fmt.Println(string(line))
		}
	}
}

// cpu is that of all ended child processes.
func cpu() time.Duration {
	usage := children()
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// memory is the largest of any ended child process so far, in kilobytes.
func memory() int64 { return children().Maxrss }

func children() (usage syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err != nil {
		log.Fatal(err)
	}
	return usage
}
