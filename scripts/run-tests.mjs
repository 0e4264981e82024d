// Runs all tests, and once more, one after the other, a few files that may have failed because of the machine:
//
// - Files of a test process that died without a result. A process of the tests that kill and pause etcd has ended a few
//   times without any message, on a busy machine; the cause is not known, and the file passed alone.
// - With CI=true, files across rooms in which a test failed: browsers, replicas and killed processes depend on what else
//   the machine does. Tests beside the code do not, and more than a few failures are no accident.
//
// The output names the files that run a second time.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { node, programOf, root } from './programs.mjs'

/** The exit code. `args` go to the test runner; with any of them nothing is repeated. */
export async function runTests(args) {
  if (args.length > 0) return vitest(args)
  const directory = mkdtempSync(join(tmpdir(), 'binnacle-tests-'))
  try {
    const report = join(directory, 'report.json')
    const code = await vitest(['--reporter=default', '--reporter=json', `--outputFile.json=${report}`])
    if (code === 0) return 0
    const repeated = filesToRepeat(JSON.parse(readFileSync(report, 'utf8')))
    if (repeated.length === 0) return code
    console.error(`\nFailed, or a test process died without a result. Running again: ${repeated.join(', ')}`)
    return await vitest([...repeated, '--no-file-parallelism'])
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** A worker for each core: by default one core is left idle, which of two cores is half of them. */
const vitest = args => node([programOf('vitest'), 'run', '--maxWorkers=100%', ...args])

const MAX_REPEATED = 3

function filesToRepeat({ testResults }) {
  const nameOf = ({ name }) => relative(root, name).replaceAll('\\', '/')
  const failed = testResults
    .filter(({ assertionResults }) => assertionResults.some(({ status }) => status === 'failed'))
    .map(nameOf)
  const complete = testResults.filter(
    ({ status, assertionResults }) => status === 'passed' && isComplete(assertionResults),
  )
  const seen = new Set([...failed, ...complete.map(nameOf)])
  const lost = testFiles().filter(file => !seen.has(file))
  if (failed.length === 0) return lost
  const byAccident =
    process.env.CI === 'true' &&
    failed.length + lost.length <= MAX_REPEATED &&
    failed.every(file => file.startsWith('test/'))
  return byAccident ? [...failed, ...lost] : []
}

const isComplete = results => results.every(({ status }) => ['passed', 'skipped', 'todo'].includes(status))

const testFiles = () =>
  ['src', 'console/src', 'test'].flatMap(directory =>
    readdirSync(join(root, directory), { recursive: true })
      .map(name => `${directory}/${name.replaceAll('\\', '/')}`)
      .filter(name => name.endsWith('.test.ts')),
  )
