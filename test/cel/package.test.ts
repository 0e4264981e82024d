// `binnacle/cel` as a program sees it that has the package installed: the example of the room's README, as it stands.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const TSC = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-cel-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules', 'binnacle'))
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  const readme = readFileSync(join(root, 'src', 'cel', 'README.md'), 'utf8')
  writeFileSync(join(folder, 'example.ts'), /```ts\n(.*?)```/s.exec(readme)![1]!)
})

afterAll(() => rmSync(folder, { recursive: true }))

test('the example of the README type-checks against the package, and prints what it says', () => {
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')]
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--skipLibCheck', ...types]
  execFileSync(process.execPath, [TSC, ...options, 'example.ts'], { cwd: folder, stdio: 'pipe' })
  const printed = execFileSync(process.execPath, ['example.js'], { cwd: folder, encoding: 'utf8' })
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
