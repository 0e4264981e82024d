// One file that runs Binnacle on a machine without Node: Node's single executable application, with the program inside.
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'postject'
import { node, root } from '../programs.mjs'
import { programArchive } from './program-archive.mjs'

/** The mark in Node's executable by which it knows that it carries a program. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/** Writes the executable for this platform, from the Node that runs this script. */
export async function writeExecutable(path) {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-package-'))
  try {
    const { digest, compressed } = programArchive()
    const assets = { digest: join(folder, 'digest'), program: join(folder, 'program') }
    writeFileSync(assets.digest, digest)
    writeFileSync(assets.program, compressed)
    const main = join(root, 'packaging', 'executable', 'start.cjs')
    const output = join(folder, 'blob')
    const config = join(folder, 'config.json')
    writeFileSync(config, JSON.stringify({ main, output, assets, disableExperimentalSEAWarning: true }))
    if ((await node(['--experimental-sea-config', config], { stdio: ['ignore', 'ignore', 'inherit'] })) !== 0) {
      throw new Error(`Node ${process.version} cannot make a single executable`)
    }
    copyFileSync(process.execPath, path)
    chmodSync(path, 0o755)
    await inject(path, 'NODE_SEA_BLOB', readFileSync(output), {
      sentinelFuse: FUSE,
      ...(process.platform === 'darwin' && { machoSegmentName: 'NODE_SEA' }),
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
