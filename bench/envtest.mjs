// A start of envtest, from Environment.Start to ready, and its stop: the drop-in beside the originals, in turns. Needs Go, and
// with --originals a folder with kube-apiserver, etcd and kubectl.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { here } from './processes.mjs'
import { median, printTable, report } from './side-by-side.mjs'

const USAGE = 'usage: npm run bench -- envtest --originals <folder with kube-apiserver and etcd> [--rounds <number>]'

export async function run(args) {
  const option = name => args[args.indexOf(name) + 1 || args.length]
  const originals = option('--originals')
  const rounds = option('--rounds') ?? '9'
  if (originals === undefined || !/^\d+$/.test(rounds)) return usage(USAGE)
  if (spawnSync('go', ['version'], { stdio: 'ignore' }).status !== 0) return usage('this bench needs the Go toolchain')
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-bench-envtest-'))
  try {
    const ours = join(folder, 'assets')
    execFileSync(process.execPath, [here('../bin/binnacle'), 'envtest', 'install', ours], { stdio: 'ignore' })
    const starter = join(folder, 'start')
    execFileSync('go', ['build', '-o', starter, './start'], { cwd: here('../test/envtest/go'), stdio: 'inherit' })
    const stdio = ['ignore', 'pipe', 'ignore']
    const lines = execFileSync(starter, [rounds, originals, ours], { encoding: 'utf8', stdio }).trim().split('\n')
    compare(
      lines.map(line => JSON.parse(line)),
      ours,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function compare(starts, ours) {
  const figure = (isOurs, name) =>
    median(starts.filter(({ folder }) => (folder === ours) === isOurs).map(start => start[name]))
  const row = (what, name, goal) => {
    const [own, other] = [figure(true, name), figure(false, name)]
    const met = goal && own <= other / goal
    report(what, `${own} ms`, `${other} ms`, `1/${(other / own).toFixed(1)}`, goal ? `1/${goal}` : undefined, met)
  }
  row('processor time of a start and stop', 'cpu', 6)
  row('until it is ready', 'ready', 5)
  row('until it has stopped', 'stopped')
  printTable()
}

function usage(text) {
  console.error(text)
  process.exitCode = 2
}
