// The real executable as a child process: started with flags, ready when it says so.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface BinnacleProcess {
  readonly url: string
  /** The authority that vouches for the server. */
  readonly ca: string
  /** The file that an administrator would use. */
  readonly kubeconfig: string
  readonly pid: number
  /** What it has printed so far. */
  readonly output: { readonly stdout: string; readonly stderr: string }
  /** Sends a signal and does not wait for what follows. */
  signal(name: NodeJS.Signals): void
  /** Settles when it has ended. */
  readonly exit: Promise<Exit>
  /** SIGTERM; answers with the exit code. */
  stop(): Promise<number | null>
  kill(): Promise<void>
}

export interface Exit {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Who is who in the recordings; the first is an administrator. */
const TOKENS = `admin-token,admin,admin-uid,"system:masters"
alice-token,alice,alice-uid,"devs"
bob-token,bob,bob-uid,""
`

/** As the reference server ran when it was recorded. */
const REFERENCE_FLAGS = [
  '--service-cluster-ip-range=10.0.0.0/24',
  '--disable-admission-plugins=ServiceAccount',
  '--feature-gates=CBORServingAndStorage=true,AllowUnsafeMalformedObjectDeletion=true',
]

const executable = fileURLToPath(new URL('../../bin/binnacle', import.meta.url))

/**
 * Starts `binnacle serve` on a free port, with the tokens of the recordings, and with a data folder that goes when the
 * process does, unless the flags name one. Rejects with what it printed when it exits instead.
 */
export async function startBinnacleProcess(...flags: string[]): Promise<BinnacleProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-process-'))
  const tokens = join(folder, 'tokens.csv')
  writeFileSync(tokens, TOKENS)
  const dataDir =
    flags.find(flag => flag.startsWith('--data-dir='))?.slice('--data-dir='.length) ?? join(folder, 'data')
  const { child, output, exit } = launch([
    'serve',
    `--data-dir=${dataDir}`,
    '--secure-port=0',
    `--token-auth-file=${tokens}`,
    ...REFERENCE_FLAGS,
    ...flags,
  ])
  const gone = exit.finally(() => rmSync(folder, { recursive: true, force: true }))
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
  return {
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
}

/** Starts the executable, and does not wait for it. */
export function spawnBinnacle(...args: string[]): { signal(name: NodeJS.Signals): void; readonly exit: Promise<Exit> } {
  const { child, exit } = launch(args)
  return { signal: name => void child.kill(name), exit }
}

/** Runs the executable to its end. */
export const runBinnacle = (...args: string[]): Promise<Exit> => launch(args).exit

function launch(args: string[]): {
  child: ChildProcess
  output: { stdout: string; stderr: string }
  exit: Promise<Exit>
} {
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
