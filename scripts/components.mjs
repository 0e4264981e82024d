// The programs that tests use beside Node, each with the Debian package that holds it. What is missing is installed
// where that is possible (Debian, as root); what stays missing fails the run with CI=true and is said aloud elsewhere,
// where the tests that need it are skipped.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const COMPONENTS = [
  { program: 'etcd', debian: 'etcd-server' },
  { program: 'openssl', debian: 'openssl' },
  { program: 'kubectl', debian: 'kubernetes-client' },
  { program: 'flock', debian: 'util-linux' },
  { program: 'prlimit', debian: 'util-linux' },
  { program: 'strace', debian: 'strace' },
  { program: 'chromium', debian: 'chromium' },
]

const found = program => (process.env.PATH ?? '').split(delimiter).some(folder => existsSync(join(folder, program)))
const missing = () => COMPONENTS.filter(({ program }) => !found(program))

/** Installs what is missing; answers whether the tests can go on. */
export function ensureComponents() {
  const wanted = missing()
  if (wanted.length === 0) return true
  const packages = [...new Set(wanted.map(({ debian }) => debian))]
  if (found('apt-get') && process.getuid?.() === 0) {
    console.error(`Installing ${packages.join(', ')} …`)
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
    const apt = args => spawnSync('apt-get', ['-qq', ...args], { stdio: ['ignore', 2, 2], env })
    apt(['update'])
    apt(['install', '-y', '--no-install-recommends', ...packages])
  }
  const still = missing()
  for (const { program, debian } of still) {
    console.error(`MISSING: ${program} (Debian package ${debian}). The tests that need it do not run.`)
  }
  return still.length === 0 || process.env.CI !== 'true'
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !ensureComponents()) process.exit(1)
