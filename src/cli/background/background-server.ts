// The server that `binnacle up` started: a file in its data directory says which process it is.
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface BackgroundServer {
  readonly pid: number
  readonly url: string
  /** When the process began, as the system says it: another process may get the same id later. */
  readonly began: string
}

const fileIn = (dataDir: string): string => join(dataDir, 'background.json')

export const logFileIn = (dataDir: string): string => join(dataDir, 'server.log')

export function recordBackgroundServer(dataDir: string, pid: number, url: string): void {
  const server: BackgroundServer = { pid, url, began: beginningOf(pid) ?? '' }
  writeFileSync(fileIn(dataDir), `${JSON.stringify(server)}\n`, { mode: 0o600 })
}

/** Undefined if none was started, or if it has ended. */
export function findBackgroundServer(dataDir: string): BackgroundServer | undefined {
  const server = readRecord(fileIn(dataDir))
  return server !== undefined && isRunning(server) ? server : undefined
}

export const forgetBackgroundServer = (dataDir: string): void => rmSync(fileIn(dataDir), { force: true })

export function isRunning({ pid, began }: BackgroundServer): boolean {
  const current = beginningOf(pid)
  return current !== undefined && current === began
}

function readRecord(file: string): BackgroundServer | undefined {
  try {
    const { pid, url, began } = JSON.parse(readFileSync(file, 'utf8')) as Partial<BackgroundServer>
    return Number.isSafeInteger(pid) && typeof url === 'string' && typeof began === 'string'
      ? { pid: pid!, url, began }
      : undefined
  } catch {
    return undefined
  }
}

/** Undefined if there is no such process. */
function beginningOf(pid: number): string | undefined {
  switch (process.platform) {
    case 'linux':
      return beginningOnLinux(pid)
    case 'win32':
      return isAlive(pid) ? '' : undefined
    default:
      return beginningByPs(pid)
  }
}

/** The 22nd field of the line; the second, in parentheses, is the name of the program and may contain anything. */
function beginningOnLinux(pid: number): string | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, ...fields] = line.slice(line.lastIndexOf(')') + 2).split(' ')
    // A process that has ended stays in the table as Z until its parent asks for its exit code.
    return state === 'Z' ? undefined : fields[18]
  } catch {
    return undefined
  }
}

function beginningByPs(pid: number): string | undefined {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
