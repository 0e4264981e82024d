// kubectl processes against one server.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Kubectl {
  /** Runs it with `--namespace`. Never rejects for a failure of kubectl. */
  run(...args: string[]): Promise<Outcome>
  /** Runs it; it must succeed without warnings. Resolves with its output, without the last line break. */
  says(...args: string[]): Promise<string>
  /** Runs it; it must fail. Resolves with its error output. */
  complains(...args: string[]): Promise<string>
  /** As `run`, with environment variables. */
  runWith(env: Record<string, string>, ...args: string[]): Promise<Outcome>
  /** Reads its output line by line, until `stop`. */
  follow(...args: string[]): Informer
  /** Writes a file in its home directory and returns its path. */
  file(name: string, content: string, mode?: number): string
}

export interface Informer {
  /** Waits for the next lines and returns them. */
  next(count: number): Promise<string[]>
  stop(): Promise<void>
}

/**
 * Whether tests that need kubectl must be skipped: `describe.skipIf(kubectlMissing())`. On a developer's machine a
 * notice is printed; with CI=true it is a failure, so that these tests are never skipped unnoticed.
 */
export function kubectlMissing(): boolean {
  if (!spawnSync('kubectl', ['version', '--client'], { stdio: 'ignore' }).error) return false
  const message = 'kubectl is not installed (Debian: apt-get install kubernetes-client)'
  if (process.env.CI === 'true') throw new Error(message)
  console.warn(`\n*** SKIPPED: ${message}; tests with kubectl did not run ***\n`)
  return true
}

/** A separate home directory, so that the user's settings and kubectl's caches of other servers have no effect. */
export function createKubectlHome(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'binnacle-kubectl-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** The time limit of a command. */
const TIMEOUT_MS = 30_000

export function createKubectl(home: string, kubeconfig: string, namespace: string): Kubectl {
  const launch = (env: Record<string, string>, args: readonly string[]) =>
    spawn('kubectl', ['--kubeconfig', kubeconfig, '--namespace', namespace, ...args], {
      // Without KUBECTL_EXTERNAL_DIFF and similar variables.
      env: { PATH: process.env.PATH, HOME: home, LC_ALL: 'C', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
    })

  async function runWith(env: Record<string, string>, ...args: string[]): Promise<Outcome> {
    const child = launch(env, args)
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', text => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', text => (stderr += text))
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, stdout, stderr }
  }

  return {
    run: (...args) => runWith({}, ...args),
    runWith,
    async says(...args) {
      const { code, stdout, stderr } = await runWith({}, ...args)
      if (code !== 0 || stderr) throw new Error(`kubectl ${args.join(' ')}: exit code ${code}: ${stderr}`)
      return stdout.trimEnd()
    },
    async complains(...args) {
      const { code, stderr } = await runWith({}, ...args)
      if (code === 0) throw new Error(`kubectl ${args.join(' ')} did not fail`)
      return stderr.trimEnd()
    },
    follow(...args) {
      const child = launch({}, args)
      let text = ''
      let shown = 0
      let wake = (): void => {}
      child.stdout.setEncoding('utf8').on('data', more => {
        text += more
        wake()
      })
      const ended = once(child, 'close').finally(() => wake())
      return {
        async next(count) {
          const lines = () => text.split('\n').slice(0, -1)
          while (lines().length < shown + count) {
            if (child.exitCode !== null) throw new Error(`kubectl ${args.join(' ')} ended early, having said ${text}`)
            await new Promise<void>(resolve => (wake = resolve))
          }
          shown += count
          return lines().slice(shown - count, shown)
        },
        async stop() {
          child.kill()
          await ended
        },
      }
    },
    file(name, content, mode = 0o644) {
      const path = join(home, `${namespace}-${name}`)
      writeFileSync(path, content, { mode })
      return path
    },
  }
}
