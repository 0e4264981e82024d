// The real executable as a child process: started with flags, ready when it says so.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface BinnacleProcess {
  readonly url: string
  readonly pid: number
  /** SIGTERM; answers with the exit code. */
  stop(): Promise<number | null>
  kill(): Promise<void>
}

export interface Exit {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const executable = fileURLToPath(new URL('../../bin/binnacle', import.meta.url))

/** Starts `binnacle serve` on a free port; rejects with what it printed when it exits instead. */
export async function startBinnacleProcess(...flags: string[]): Promise<BinnacleProcess> {
  const { child, output, exit } = launch(['serve', '--http-port=0', ...flags])
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const ready = /ready at (\S+?),/.exec(output.stdout)
      if (ready) resolve(ready[1]!)
    })
    exit.then(
      ({ code, stderr }) => reject(new Error(`binnacle exited with ${code}: ${stderr}`)),
      (error: unknown) => reject(error instanceof Error ? error : new Error(String(error))),
    )
  })
  const ending = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return exit
  }
  return {
    url,
    pid: child.pid!,
    stop: async () => (await ending('SIGTERM')).code,
    kill: async () => void (await ending('SIGKILL')),
  }
}

/** Runs the executable to its end. */
export const runBinnacle = (...args: string[]): Promise<Exit> => launch(args).exit

function launch(args: string[]): { child: ChildProcess; output: { stdout: string; stderr: string }; exit: Promise<Exit> } {
  const child = spawn(process.execPath, [executable, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', text => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', text => (output.stderr += text))
  const killWithUs = () => child.kill('SIGKILL')
  process.once('exit', killWithUs)
  const exit = once(child, 'close').then(([code]) => {
    process.off('exit', killWithUs)
    return { code: code as number | null, ...output }
  })
  return { child, output, exit }
}
