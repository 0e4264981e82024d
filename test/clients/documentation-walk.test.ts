// Runs every example of the documentation unchanged, with kubectl in a shell against a server, and compares the output
// with the page.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { startBinnacleProcess } from '../components/binnacle.js'
import { kubectlMissing } from './kubectl-process.js'
import { isAnswer, openShell, readPage, type Step, tidy } from './worked-example.js'

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url))
/** Pages call `binnacle` as if it were installed. */
const BIN = fileURLToPath(new URL('../../bin/', import.meta.url))
const pages = readdirSync(DOCS)
  .filter(name => name.endsWith('.md'))
  .map(name => readPage(name, readFileSync(join(DOCS, name), 'utf8')))
  .filter(({ steps }) => steps.length > 0)

/** Programs that pages use beside kubectl and node; without them the page is skipped with a notice. */
const TOOLS = ['openssl']
const missing = TOOLS.filter(tool => spawnSync(tool, ['version'], { stdio: 'ignore' }).error)
const uses = (step: Step, tool: string): boolean => step.type === 'command' && step.command.startsWith(tool)
const possible = pages.filter(({ name, steps }) => {
  const tool = missing.find(each => steps.some(step => uses(step, each)))
  if (tool && process.env.CI === 'true') throw new Error(`docs/${name} needs ${tool}`)
  if (tool) console.warn(`\n*** SKIPPED: docs/${name} needs ${tool} ***\n`)
  return !tool
})

describe.skipIf(kubectlMissing())('docs', () => {
  test.each(possible)('$name', { timeout: 180_000 }, async ({ name, steps, serverFlags }) => {
    // All controllers, as by default, unless the page names some.
    const controllers = serverFlags.some(flag => flag.startsWith('--controllers')) ? [] : ['--controllers=*']
    const server = await startBinnacleProcess('--storage=memory', ...controllers, ...serverFlags)
    const directory = mkdtempSync(join(tmpdir(), 'binnacle-walk-'))
    // Pages import `binnacle` as if it were installed.
    mkdirSync(join(directory, 'node_modules'))
    symlinkSync(dirname(BIN), join(directory, 'node_modules', 'binnacle'))
    const shell = openShell(directory, {
      PATH: `${BIN}:${dirname(process.execPath)}:${process.env.PATH}`,
      HOME: directory,
      LC_ALL: 'C',
      // A program that ends late would still write into the directory.
      NODE_DISABLE_COMPILE_CACHE: '1',
      KUBECONFIG: server.kubeconfig,
    })
    try {
      for (const step of steps) await walk(step)
    } finally {
      await shell.close()
      await server.kill()
      rmSync(directory, { recursive: true })
    }

    async function walk(step: Step): Promise<void> {
      if (step.type === 'file') return writeFileSync(join(directory, step.name), step.content)
      const answer = await shell.type(step.command)
      if (isAnswer(answer, step.answer)) return
      const where = `docs/${name}:${step.line}: ${step.command}`
      expect(`${where}\n${tidy(answer)}`).toBe(`${where}\n${tidy(step.answer.join('\n'))}`)
    }
  })
})

test.each<[string, string[], boolean]>([
  ['NAME   AGE\na      5s\n', ['NAME   AGE', 'a      12m'], true],
  ['NAME   AGE\na      5s\n', ['NAME   AGE', 'b      5s'], false],
  ['a\nb\nc\nd\n', ['a', '…', 'd'], true],
  ['a\nb\nc\n', ['a', '…', 'd'], false],
  ['a.c is here\n', ['a.c is …'], true],
  ['abc is here\n', ['a.c is …'], false],
  ['', [], true],
  ['a\n', [], false],
])('%j is what the page says with %j: %j', (answer, expected, verdict) => {
  expect(isAnswer(answer, expected)).toBe(verdict)
})
