// Runs programs that npm installed, and npm itself, without a shell: the same on every platform, where a shell would
// need `tsc.cmd` in the place of `tsc`, and would keep signals to itself.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** For `stdio`: what is said goes to stderr, so that stdout stays the caller's. */
export const ASIDE = ['ignore', 2, 2]

/** Runs a script in a Node of its own: another one than ours where an executable is named. */
export const node = (args, { executable = process.execPath, ...options } = {}) => run(executable, args, options)

/** The file behind a program of an installed package: `programOf('typescript', 'tsc')`. */
export function programOf(name, program = name) {
  const folder = join(root, 'node_modules', name)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return join(folder, typeof bin === 'string' ? bin : bin[program])
}

/** Runs npm: the one that runs us, or the one beside Node, or the one that a shell finds. */
export function npm(args, options) {
  const script = npmScript()
  return script
    ? node([script, ...args], options)
    : run('npm', args, { shell: process.platform === 'win32', ...options })
}

function npmScript() {
  const bin = dirname(process.execPath)
  const folders = [join(bin, 'node_modules'), join(bin, '..', 'lib', 'node_modules')]
  const candidates = folders.map(folder => join(folder, 'npm', 'bin', 'npm-cli.js'))
  // Other package managers set npm_execpath too, to a program that does not know npm's arguments.
  const runsUs = process.env.npm_execpath ?? ''
  if (runsUs.endsWith('npm-cli.js')) candidates.unshift(runsUs)
  return candidates.find(path => existsSync(path))
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Answers the exit code. A signal that would end us ends the program first, so that none is left behind. */
async function run(command, args, options = {}) {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], ...options })
  let received
  const passOn = signal => {
    received = signal
    child.kill(signal)
  }
  for (const signal of SIGNALS) process.on(signal, passOn)
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', status => resolve(status ?? 1))
  })
  for (const signal of SIGNALS) process.off(signal, passOn)
  if (received) process.kill(process.pid, received)
  return code
}
