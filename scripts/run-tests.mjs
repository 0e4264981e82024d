// Runs all tests, and once more the files of a test process that died without a result.
//
// A process of the tests that kill and pause etcd has ended a few times without any message, on a busy machine. The cause is
// not known; no test had failed, and the file passed alone. Such a file runs a second time, and the output says so. If any
// test fails, nothing is repeated.
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
    const lost = filesWithoutResult(JSON.parse(readFileSync(report, 'utf8')))
    if (lost.length === 0) return code
    console.error(`\nA test process died without a result. Running again: ${lost.join(', ')}`)
    return await vitest(lost)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** A worker for each core: by default one core is left idle, which of two cores is half of them. */
const vitest = args => node([programOf('vitest'), 'run', '--maxWorkers=100%', ...args])

/** Nothing if any test has failed: then the failure is what counts. */
function filesWithoutResult({ numFailedTests, testResults }) {
  if (numFailedTests > 0) return []
  const complete = testResults.filter(
    ({ status, assertionResults }) => status === 'passed' && isComplete(assertionResults),
  )
  const seen = new Set(complete.map(({ name }) => relative(root, name).replaceAll('\\', '/')))
  return testFiles().filter(file => !seen.has(file))
}

const isComplete = results => results.every(({ status }) => ['passed', 'skipped', 'todo'].includes(status))

const testFiles = () =>
  ['src', 'console/src', 'test'].flatMap(directory =>
    readdirSync(join(root, directory), { recursive: true })
      .map(name => `${directory}/${name.replaceAll('\\', '/')}`)
      .filter(name => name.endsWith('.test.ts')),
  )
