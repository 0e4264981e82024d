// A folder in the system's folder for temporary files, for the kubeconfig of a test server. It is removed with the server or
// at the end of the process; one of a process that was killed is removed by the next that makes one.
import { rmSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PREFIX = 'binnacle-testing-'

export interface OwnFolder {
  readonly path: string
  remove(): Promise<void>
}

export async function makeOwnFolder(): Promise<OwnFolder> {
  await removeAbandoned()
  const path = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`))
  const atExit = (): void => rmSync(path, { recursive: true, force: true })
  process.once('exit', atExit)
  return {
    path,
    async remove() {
      process.off('exit', atExit)
      await rm(path, { recursive: true, force: true })
    },
  }
}

async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]
    if (pid === undefined || isRunning(Number(pid))) continue
    // It may be another user's.
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => {})
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
