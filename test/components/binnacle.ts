// The executable as a child process, started with flags.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

export interface BinnacleProcess {
  readonly url: string
  /** The CA of the server's certificate. */
  readonly ca: string
  /** The path of the administrator's kubeconfig. */
  readonly kubeconfig: string
  readonly pid: number
  /** Its output so far. */
  readonly output: { readonly stdout: string; readonly stderr: string }
  /** Sends a signal without waiting. */
  signal(name: NodeJS.Signals): void
  /** Resolves when it has ended. */
  readonly exit: Promise<Exit>
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
  kill(): Promise<void>
}

export interface Exit {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The users of the recordings; the first is an administrator. */
const TOKENS = `admin-token,admin,admin-uid,"system:masters"
alice-token,alice,alice-uid,"devs"
bob-token,bob,bob-uid,""
`

/** The flags of kube-apiserver when the recordings were made, and the controllers that ran beside it. */
const REFERENCE_FLAGS = [
  '--service-cluster-ip-range=10.0.0.0/24',
  '--disable-admission-plugins=ServiceAccount',
  '--controllers=namespace-controller,garbage-collector-controller',
  '--feature-gates=CBORServingAndStorage=true,AllowUnsafeMalformedObjectDeletion=true',
]

const executable = fileURLToPath(new URL('../../bin/binnacle', import.meta.url))

/**
 * Starts `binnacle serve` on a free port, with the tokens of the recordings, and with a data directory that is removed
 * with the process, unless the flags name one. Rejects with the output if it exits instead.
 */
export const startBinnacleProcess = async (...flags: string[]): Promise<BinnacleProcess> =>
  (await startBinnacleWith([], flags)).server

/** The same with options of Node, and with a channel for messages to and from what they load. */
export async function startBinnacleWith(
  nodeOptions: readonly string[],
  flags: readonly string[],
): Promise<{ server: BinnacleProcess; child: ChildProcess }> {
  const directory = mkdtempSync(join(tmpdir(), 'binnacle-process-'))
  const tokens = join(directory, 'tokens.csv')
  writeFileSync(tokens, TOKENS)
  const dataDir =
    flags.find(flag => flag.startsWith('--data-dir='))?.slice('--data-dir='.length) ?? join(directory, 'data')
  const { child, output, exit } = launch(
    ['serve', `--data-dir=${dataDir}`, '--secure-port=0', `--token-auth-file=${tokens}`, ...REFERENCE_FLAGS, ...flags],
    nodeOptions,
  )
  const gone = exit.finally(() => rmSync(directory, { recursive: true, force: true }))
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const ready = /ready at (\S+?),/.exec(output.stdout)
      if (ready) resolve(ready[1]!)
    })
    gone.then(
      ({ code, stderr }) => reject(new Error(`binnacle exited with ${code}: ${stderr}`)),
      (error: unknown) => reject(error instanceof Error ? error : new Error(String(error))),
    )
  })
  const ending = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return gone
  }
  const kubeconfig = join(dataDir, 'kubeconfig')
  const server: BinnacleProcess = {
    url,
    ca: url.startsWith('https:') ? readFileSync(join(dataDir, 'pki', 'ca.crt'), 'utf8') : '',
    kubeconfig,
    pid: child.pid!,
    output,
    signal: name => void child.kill(name),
    exit: gone,
    stop: async () => (await ending('SIGTERM')).code,
    kill: async () => void (await ending('SIGKILL')),
  }
  return { server, child }
}

/** Starts the executable, and does not wait for it. */
export function spawnBinnacle(...args: string[]): Pick<BinnacleProcess, 'signal' | 'exit' | 'output'> {
  const { child, output, exit } = launch(args)
  return { signal: name => void child.kill(name), output, exit }
}

/** Runs the executable to its end. */
export const runBinnacle = (...args: string[]): Promise<Exit> => launch(args).exit

function launch(
  args: string[],
  nodeOptions: readonly string[] = [],
): {
  child: ChildProcess
  output: { stdout: string; stderr: string }
  exit: Promise<Exit>
} {
  const child = spawn(process.execPath, [...nodeOptions, executable, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', ...(nodeOptions.length > 0 ? (['ipc'] as const) : [])],
  }) as ChildProcessByStdio<null, Readable, Readable>
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
