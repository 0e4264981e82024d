// A test that is killed cannot stop the server that it started. Such a server notices that itself, and ends as by SIGTERM.
import { readFileSync } from 'node:fs'

/** In the environment: the id of the process that is to be the parent, where a script knows it sooner than Node. */
export const STARTER_VARIABLE = 'BINNACLE_STARTER'

const CHECK_MS = 500

/** Stops when standard input ends, which is when the program has ended that holds its other side. */
export function stopWithStdin(): void {
  const { stdin } = process
  stdin.once('end', stop).once('error', stop).resume()
  // A server that has stopped for another reason does not wait for that. A file cannot be waited for.
  if (typeof stdin.unref === 'function') stdin.unref()
}

/**
 * Stops when the parent process has ended. A process that shares the group of its parent is left alone: a shell starts it so
 * in the background of a script, and it may outlive the script. envtest gives its programs a group of their own.
 */
export function stopWithParent(): void {
  if (!leadsProcessGroup()) return
  const parent = Number(process.env[STARTER_VARIABLE]) || process.ppid
  setInterval(() => process.ppid === parent || stop(), CHECK_MS).unref()
}

function stop(): void {
  process.kill(process.pid, 'SIGTERM')
}

/** Node does not say it, Linux does. */
function leadsProcessGroup(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1')
    // The name of the program comes before these fields, and may have spaces and parentheses in it.
    const [, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(group) === process.pid
  } catch {
    return false
  }
}
