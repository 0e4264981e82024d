// The servers for the benchmark of admission, all in this process: they then share what the compiler has made of the code,
// which differs by some 5 % between two processes that do the same.
import { startBinnacle } from '../dist/bundle/index.cjs'

const RULES = [
  { operations: ['CREATE'], apiGroups: ['', 'apps'], apiVersions: ['v1'], resources: ['configmaps', 'deployments'] },
]

const FUNCTION = {
  name: 'limit',
  rules: RULES,
  validate({ object }) {
    if ((object.spec?.replicas ?? 0) > 50) throw new Error('too many')
  },
}

const servers = {}
for (const name of process.argv.slice(2)) {
  const { url, token, ca } = await startBinnacle({ admission: name === 'function' ? [FUNCTION] : [] })
  servers[name] = { url, token, ca }
}
process.send(servers)
