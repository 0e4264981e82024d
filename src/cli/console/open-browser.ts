// Opens a URL in the browser of the user.
import { spawn } from 'node:child_process'

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  // `start` is a command of the shell, whose first quoted argument is a title.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Says so if there is no browser; the URL is printed anyway. */
export function openBrowser(url: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
  child.once('error', error => console.error(`binnacle: no browser was opened: ${error.message}`))
  child.unref()
}
