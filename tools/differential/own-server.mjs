// A server of its own for a run: this repository's executable, in memory, with the flags of the recordings.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const executable = fileURLToPath(new URL('../../bin/binnacle', import.meta.url))
const TOKENS = `admin-token,admin,admin-uid,"system:masters"
alice-token,alice,alice-uid,"devs"
bob-token,bob,bob-uid,""
`

/** Resolves when it serves. */
export async function startOwnServer() {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-differential-'))
  writeFileSync(join(folder, 'tokens'), TOKENS)
  const child = spawn(process.execPath, [
    executable,
    'serve',
    '--storage=memory',
    '--secure-port=0',
    `--data-dir=${join(folder, 'data')}`,
    `--token-auth-file=${join(folder, 'tokens')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    '--disable-admission-plugins=ServiceAccount',
    '--allow-privileged',
    '--controllers=namespace-controller,garbage-collector-controller',
    '--feature-gates=CBORServingAndStorage=true,AllowUnsafeMalformedObjectDeletion=true',
  ])
  const exited = new Promise(resolve => child.once('exit', resolve))
  let output = ''
  const url = await new Promise((resolve, reject) => {
    const read = chunk => {
      output += chunk
      const ready = /ready at (\S+?),/.exec(output)
      if (ready) resolve(ready[1])
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', code => reject(new Error(`the server exited with ${code}: ${output}`)))
  })
  return {
    url,
    async stop() {
      child.kill()
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
