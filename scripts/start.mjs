// `npm start`: installs and builds what is missing, then serves, all in one process, which ends when npm does.
import { fileURLToPath } from 'node:url'
import { buildIfNeeded, installIfNeeded } from './prepare.mjs'

endWith(process.ppid)
await installIfNeeded()
await buildIfNeeded()
const executable = new URL('../bin/binnacle', import.meta.url)
process.argv.splice(1, 1, fileURLToPath(executable), 'serve')
await import(executable)

/**
 * Stops when the process that started us is gone. npm puts a shell between itself and us, and passes signals on to that
 * shell; most shells just end then, and say nothing to what they have started.
 */
function endWith(parent) {
  const watch = setInterval(() => {
    if (process.ppid === parent && isThere(parent)) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 200)
  watch.unref()
}

function isThere(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}
