// Before the package is made, by `npm pack` or `npm publish`: builds the whole of it, also in a fresh clone.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { installIfNeeded } from './prepare.mjs'
import { ASIDE, node, root } from './programs.mjs'

await installIfNeeded()
rmSync(join(root, 'dist'), { recursive: true, force: true })
process.exitCode = await node(['scripts/build.mjs', '--whole'], { stdio: ASIDE })
