// `binnacle/cel` as an installed package: the unchanged example of its README.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const TSC = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
let directory = ''

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'binnacle-cel-'))
  mkdirSync(join(directory, 'node_modules'))
  symlinkSync(root, join(directory, 'node_modules', 'binnacle'))
  writeFileSync(join(directory, 'package.json'), '{"type": "module"}')
  const readme = readFileSync(join(root, 'src', 'cel', 'README.md'), 'utf8')
  writeFileSync(join(directory, 'example.ts'), /```ts\n(.*?)```/s.exec(readme)![1]!)
})

afterAll(() => rmSync(directory, { recursive: true }))

test('the example of the README type-checks against the package, and prints the documented output', () => {
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')]
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--skipLibCheck', ...types]
  execFileSync(process.execPath, [TSC, ...options, 'example.ts'], { cwd: directory, stdio: 'pipe' })
  const printed = execFileSync(process.execPath, ['example.js'], { cwd: directory, encoding: 'utf8' })
  expect(printed.split('\n')).toEqual([
    'true 41',
    "ERROR: <input>:1:7: found no matching overload for '_>_' applied to '(int, string)'",
    ' | limit > "ten"',
    ' | ......^',
    'no such key: items',
    "[ 'A!', 'B!' ]",
    '',
  ])
})
