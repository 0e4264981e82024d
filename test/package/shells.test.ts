// What the shells do with the scripts of `binnacle completion`. A shell that is not installed is left out.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const executable = fileURLToPath(new URL('../../bin/binnacle', import.meta.url))

let directory = ''
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'binnacle-shells-'))
  symlinkSync(executable, join(directory, 'binnacle'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Print what `binnacle crd pl` can become. */
const SHELLS = {
  bash: `source <(binnacle completion bash)
COMP_WORDS=(binnacle crd pl) COMP_CWORD=2
_binnacle
printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: `compdef() { }
compadd() { shift 3; print -rl -- "$@" }
source <(binnacle completion zsh)
words=(binnacle crd pl) CURRENT=3
_binnacle`,
  fish: `binnacle completion fish | source
complete -C "binnacle crd pl"`,
}

describe.each(Object.entries(SHELLS))('%s', (shell, script) => {
  test.runIf(spawnSync(shell, ['-c', 'true']).status === 0)('completes the commands', () => {
    const env = { ...process.env, PATH: `${directory}:${process.env['PATH']}`, HOME: directory }
    expect(execFileSync(shell, ['-c', script], { env, encoding: 'utf8' })).toBe('plan\n')
  })
})
