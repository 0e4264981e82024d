// What admission costs: the processor time of a create, on servers with and without policies, webhooks and functions.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { ask, cpuSeconds, ended, here, startLoad } from './processes.mjs'
import { printTable, report } from './side-by-side.mjs'

const GROUP = '/apis/admissionregistration.k8s.io/v1'

export async function run(args) {
  const isQuick = args.includes('--quick')
  const children = []
  try {
    const servers = await startServers(children, ['plain', 'matching', 'policies', 'webhooks', 'function'])
    await withPolicies(servers.matching, 10, RESOURCES)
    await withPolicies(servers.policies, 100, ['secrets'])
    await withWebhooks(servers.webhooks, 100)
    const load = startLoad(children)
    for (const [what, object] of Object.entries(OBJECTS)) {
      await compare(load, servers, what, object, isQuick ? 30 : 72)
    }
    printTable()
  } finally {
    for (const child of children) child.kill()
    await Promise.all(children.map(ended))
  }
}

/** All in one process, so that the difference between them is not that between two processes. */
async function startServers(children, names) {
  const child = fork(here('./admission-server.mjs'), names)
  children.push(child)
  const [servers] = await once(child, 'message')
  for (const name of names) servers[name].pid = child.pid
  return servers
}

// ---- what is compared

/** Short rounds: what else the machine does changes slowly, and then is the same for all servers of a round. */
const COUNT = 100
const WARM_UP = 20

/** Other work on the machine, and collecting garbage of earlier rounds, only add to a round: the cheap ones are compared. */
const cheap = costs => costs.toSorted((a, b) => a - b)[Math.floor(costs.length / 4)]

async function compare(load, servers, what, { path, body }, rounds) {
  const all = Object.entries(servers)
  const costs = Object.fromEntries(all.map(([name]) => [name, []]))
  let first = 0
  // The first rounds warm up caches and the compiler.
  for (let round = -WARM_UP; round < rounds; round++) {
    // Each server has each place in the order equally often.
    const turn = (round + WARM_UP) % all.length
    for (const [name, server] of [...all.slice(turn), ...all.slice(0, turn)]) {
      const before = cpuSeconds(server.pid)
      const task = { method: 'POST', path, body, count: COUNT, first, connections: 2, streams: 8 }
      await load('repeat', server, task)
      if (round >= 0) costs[name].push(((cpuSeconds(server.pid) - before) / COUNT) * 1e6)
    }
    first += COUNT
  }
  const us = name => `${Math.round(cheap(costs[name]))} µs`
  const line = (about, name, limit, goal) => {
    const ratio = cheap(costs[name]) / cheap(costs.plain)
    report(
      `create of a ${what}, ${about}`,
      us(name),
      `without ${us('plain')}`,
      `${ratio.toFixed(2)} ×`,
      goal,
      ratio < limit,
    )
  }
  line('10 policies of 5 expressions that match', 'matching', 1.505, '<= 1.5 ×')
  line('100 policies that do not match', 'policies', 1.05, '< 1.05 ×')
  line('100 webhooks that do not match', 'webhooks', 1.05, '< 1.05 ×')
  line('a function of the program', 'function', 1.05, '< 1.05 ×')
}

const RESOURCES = ['configmaps', 'deployments']

const labels = { app: 'web', tier: 'front' }
const container = name => ({
  name,
  image: `registry.example.com/${name}:1.2.3`,
  ports: [{ containerPort: 8080 }],
  env: [{ name: 'MODE', value: 'production' }],
  resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m', memory: '64Mi' } },
})

const OBJECTS = {
  Deployment: {
    path: '/apis/apps/v1/namespaces/default/deployments',
    body: JSON.stringify({
      metadata: { name: 'd-{}', labels },
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container('web'), container('side')] } },
      },
    }),
  },
  ConfigMap: {
    path: '/api/v1/namespaces/default/configmaps',
    body: JSON.stringify({ metadata: { name: 'c-{}', labels }, data: { a: 'x'.repeat(512) } }),
  },
}

/** As policies are written: of labels, names, sizes and containers, for any object. */
const EXPRESSIONS = [
  "has(object.metadata.labels) && 'app' in object.metadata.labels",
  "object.metadata.name.startsWith('d-') || object.metadata.name.startsWith('c-')",
  '!has(object.spec) || object.spec.replicas <= 50',
  "!has(object.spec) || object.spec.template.spec.containers.all(c, c.image.startsWith('registry.example.com/'))",
  "request.operation == 'CREATE' && request.userInfo.username != 'nobody'",
]

async function withPolicies(server, count, resources) {
  for (let i = 0; i < count; i++) {
    const name = `policy-${i}`
    const rule = { operations: ['CREATE', 'UPDATE'], apiGroups: ['', 'apps'], apiVersions: ['v1'], resources }
    const validations = EXPRESSIONS.map(expression => ({ expression }))
    const spec = { matchConstraints: { resourceRules: [rule] }, validations }
    await ask(server, 'POST', `${GROUP}/validatingadmissionpolicies`, { metadata: { name }, spec })
    const binding = { metadata: { name }, spec: { policyName: name, validationActions: ['Deny'] } }
    await ask(server, 'POST', `${GROUP}/validatingadmissionpolicybindings`, binding)
  }
  return server
}

async function withWebhooks(server, count) {
  for (let i = 0; i < count; i++) {
    const webhook = {
      name: `w${i}.example.com`,
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      clientConfig: { url: 'https://127.0.0.1:1' },
      rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['secrets'] }],
    }
    const type = i % 2 ? 'validating' : 'mutating'
    await ask(server, 'POST', `${GROUP}/${type}webhookconfigurations`, {
      metadata: { name: `w${i}` },
      webhooks: [webhook],
    })
  }
  return server
}
