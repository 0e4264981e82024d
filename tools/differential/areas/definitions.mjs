// Definitions with random schemas, and objects for them.
import { mutate } from '../mutations.mjs'
import {
  acceptOf,
  createNamespace,
  DEFINITIONS,
  definitionOf,
  get,
  install,
  patch,
  post,
  put,
  TOKEN,
  WIDGETS,
  widget,
  writeOptions,
} from '../requests.mjs'
import { randomSchema, valueFor } from '../schemas.mjs'

export async function definitions(random, ask) {
  const schema = () => ({
    type: 'object',
    properties: {
      spec: rootOf(random),
      ...(random.chance(0.4) && { status: rootOf(random) }),
      ...(random.chance(0.05) && {
        metadata: random.pick([
          { type: 'object' },
          { type: 'object', properties: { name: { type: 'string', maxLength: 5 } } },
          { type: 'string' },
        ]),
      }),
    },
    ...(random.chance(0.2) && { required: ['spec'] }),
  })
  const candidates = random.times(5, () =>
    mutatedSometimes(random, definitionOf(schema(), { version: versionParts(random) })),
  )
  const checks = candidates.map(candidate => post(`${DEFINITIONS}?dryRun=All`, candidate))
  const accepted = []
  for (const [i, check] of checks.entries()) if ((await ask(check)).status === 201) accepted.push(candidates[i])
  const [first, second] = accepted
  if (!first) return { about: 'definitions that are refused', steps: checks }
  const used = first.spec?.versions?.[0]?.schema?.openAPIV3Schema
  const steps = [...checks, createNamespace(), ...install(first), get(`${DEFINITIONS}/${first.metadata.name}`)]
  for (let i = 0; i < 8; i++) steps.push(objectStep(random, used, i))
  if (second && random.chance(0.4)) {
    steps.push(
      { ...get(`${DEFINITIONS}/${first.metadata.name}`), unchecked: true },
      put(`${DEFINITIONS}/${first.metadata.name}`, {
        ...second,
        metadata: { ...second.metadata, resourceVersion: `{{${steps.length}.metadata.resourceVersion}}` },
      }),
      { sleep: 1500 },
      get(WIDGETS),
      get(`${WIDGETS}/o0`),
      patch('merge', `${WIDGETS}/o0`, { metadata: { labels: { z: 'y' } } }),
      get(`${WIDGETS}/o0`),
    )
  }
  return { about: 'a definition and its objects', steps, cleanup: [`${DEFINITIONS}/widgets.${TOKEN}.example.com`] }
}

function rootOf(random) {
  const { properties: _, ...rest } = randomSchema(random, { depth: 9 })
  const names = ['a', 'b', 'c', 'd']
  void rest
  return {
    type: 'object',
    properties: Object.fromEntries(random.some(names, 0.7).map(name => [name, randomSchema(random)])),
  }
}

const mutatedSometimes = (random, definition) => {
  if (!random.chance(0.25)) return definition
  const changed = mutate(random, definition.spec)
  return {
    ...definition,
    spec:
      changed !== null && typeof changed === 'object'
        ? { ...changed, group: definition.spec.group, names: definition.spec.names }
        : changed,
  }
}

const versionParts = random => ({
  ...(random.chance(0.4) && {
    subresources: {
      ...(random.chance(0.8) && { status: {} }),
      ...(random.chance(0.2) && { scale: { specReplicasPath: '.spec.a', statusReplicasPath: '.status.b' } }),
    },
  }),
  ...(random.chance(0.3) && {
    additionalPrinterColumns: random.times(2, () => ({
      name: random.pick(['A', 'B']),
      type: random.pick(['string', 'integer', 'date', 'boolean', 'number']),
      jsonPath: random.pick(['.spec.a', '.spec.b.c', '.spec.c[0]', '.metadata.name', '.spec.d[?(@.a=="b")].c']),
    })),
  }),
  ...(random.chance(0.15) && { selectableFields: [{ jsonPath: random.pick(['.spec.a', '.spec.b', '.spec.x']) }] }),
  ...(random.chance(0.1) && { deprecated: true }),
})

function objectStep(random, schema, i) {
  const name = i < 3 ? `o${i}` : random.pick(['o0', 'o1', 'o2', `o${i}`])
  const body = () => {
    const { spec, status } = schema?.properties ?? {}
    return widget(name, {
      ...(spec && { spec: valueFor(random, spec, random.pick([0, 0, 0.05, 0.2])) }),
      ...(status && random.chance(0.5) && { status: valueFor(random, status) }),
    })
  }
  if (i < 3) return post(WIDGETS + writeOptions(random), body())
  switch (
    random.weighted([
      [3, 'post'],
      [3, 'put'],
      [3, 'merge'],
      [2, 'apply'],
      [1, 'status'],
      [1, 'get'],
      [1, 'list'],
    ])
  ) {
    case 'post':
      return post(WIDGETS + writeOptions(random), body())
    case 'put':
      return put(`${WIDGETS}/${name}${writeOptions(random)}`, body())
    case 'merge':
      return patch('merge', `${WIDGETS}/${name}${writeOptions(random, { isPatch: true })}`, body())
    case 'apply':
      return patch('apply', `${WIDGETS}/${name}?fieldManager=alpha`, body())
    case 'status':
      return patch('merge', `${WIDGETS}/${name}/status`, body())
    case 'get':
      return get(`${WIDGETS}/${name}`, { headers: acceptOf(random) })
    default:
      return get(WIDGETS, { headers: acceptOf(random) })
  }
}
