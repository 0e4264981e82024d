// The archive and the index from which `setup-envtest --index` installs Binnacle as envtest's programs. The archive holds the
// single executable and scripts that start it, so that a machine needs nothing else.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const GO_PLATFORMS = { win32: 'windows' }
const GO_ARCHITECTURES = { x64: 'amd64', ia32: '386' }
/** setup-envtest looks for the files in this folder of the archive. */
const FOLDER = 'controller-tools/envtest'

/** `baseUrl`: where the archive will be served, which the index names. */
export function writeEnvtestArchive({ folder, executable, baseUrl }) {
  const { release } = JSON.parse(execFileSync(executable, ['envtest', 'release'], { encoding: 'utf8' }))
  const platform = GO_PLATFORMS[process.platform] ?? process.platform
  const name = `envtest-${release}-${platform}-${GO_ARCHITECTURES[process.arch] ?? process.arch}.tar.gz`
  const temporary = mkdtempSync(join(tmpdir(), 'binnacle-envtest-'))
  try {
    const assets = join(temporary, FOLDER)
    mkdirSync(assets, { recursive: true })
    copyFileSync(executable, join(assets, 'binnacle'))
    execFileSync(executable, ['envtest', 'install', assets, '--beside'], { stdio: ['ignore', 'ignore', 'inherit'] })
    const archive = join(temporary, name)
    execFileSync('tar', ['-czf', archive, '-C', temporary, FOLDER])
    const hash = createHash('sha512').update(readFileSync(archive)).digest('hex')
    copyFileSync(archive, join(folder, `${name}.unfinished`))
    renameSync(join(folder, `${name}.unfinished`), join(folder, name))
    writeFileSync(join(folder, 'envtest-index.yaml'), index({ release, name, hash, baseUrl }))
    return name
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

const index = ({ release, name, hash, baseUrl }) => `releases:
  ${release}:
    ${name}:
      hash: ${hash}
      selfLink: ${new URL(name, baseUrl).href}
`
