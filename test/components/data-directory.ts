// A data directory for each test, and servers on it that end with the test.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { type BinnacleProcess, startBinnacleProcess } from './binnacle.js'

export interface DataDirectory {
  readonly path: string
  /** Starts a server on the directory. */
  start(...flags: string[]): Promise<BinnacleProcess>
}

/** Must be called where tests are declared. */
export function dataDirectoryForEachTest(name: string): DataDirectory {
  let path = ''
  let running: BinnacleProcess[] = []
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), `binnacle-${name}-`))
    running = []
  })
  afterEach(async () => {
    await Promise.all(running.map(server => server.kill()))
    rmSync(path, { recursive: true })
  })
  return {
    get path() {
      return path
    },
    async start(...flags) {
      const server = await startBinnacleProcess(`--data-dir=${path}`, ...flags)
      running.push(server)
      return server
    },
  }
}
