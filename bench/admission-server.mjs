// A server for the benchmark of admission, in a process of its own: `node admission-server.mjs plain|function`.
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

const server = await startBinnacle({ admission: process.argv[2] === 'function' ? [FUNCTION] : [] })
process.send({ url: server.url, token: server.token, ca: server.ca })
