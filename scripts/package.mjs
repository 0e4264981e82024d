// `npm run package`: makes what is handed out beside the npm package, in release/:
//
//   binnacle-<platform>-<architecture>   one file that needs no Node
//   envtest-….tar.gz, envtest-index.yaml  from which `setup-envtest --index` installs Binnacle
//   SHA256SUMS
//
// `--base-url=URL` is where the files will be served; the index names it.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeEnvtestArchive } from './package/envtest-archive.mjs'
import { writeExecutable } from './package/single-executable.mjs'
import { buildIfNeeded, installIfNeeded } from './prepare.mjs'
import { root } from './programs.mjs'

const { values } = parseArgs({
  options: {
    'base-url': { type: 'string', default: 'http://127.0.0.1:8000/' },
    output: { type: 'string', default: join(root, 'release') },
  },
})

await installIfNeeded()
await buildIfNeeded()
const folder = values.output
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const suffix = process.platform === 'win32' ? '.exe' : ''
const name = `binnacle-${process.platform}-${process.arch}${suffix}`
await writeExecutable(join(folder, name))
const archive = writeEnvtestArchive({ folder, executable: join(folder, name), baseUrl: values['base-url'] })
const sum = file =>
  `${createHash('sha256')
    .update(readFileSync(join(folder, file)))
    .digest('hex')}  ${file}\n`
writeFileSync(join(folder, 'SHA256SUMS'), [name, archive].map(sum).join(''))
for (const file of [name, archive, 'envtest-index.yaml', 'SHA256SUMS']) console.log(join(folder, file))
