// What field ownership costs: applies against merge patches that do the same, updates of objects whose fields are tracked
// against those of objects that have no managers, and applies of ever longer lists. All in one process, at the verbs, on
// a store in memory: sockets would only hide the differences.
import { builtinKinds } from '../dist/builtin/builtin-kinds.js'
import { customKind } from '../dist/crd/custom-kind.js'
import { systemRequest } from '../dist/request/request.js'
import { createMemoryStore } from '../dist/storage/memory/memory-store.js'
import { builtinTypes } from '../dist/types/type-table.js'
import { createApiContext } from '../dist/verbs/api-context.js'
import { createVerbs } from '../dist/verbs/verbs.js'
import { perSecond, printTable, report, sideBySide } from './side-by-side.mjs'

const TYPES = builtinTypes()
const USER = { name: 'bench', uid: '', groups: [], extra: {} }
const APPLY = 'application/apply-patch+yaml'
const MERGE = 'application/merge-patch+json'
const ROUNDS = { rounds: 9, warmups: 2 }
/** Rounds of PUTs are short, and what else the machine does shows in them. */
const SHORT_ROUNDS = { rounds: 31, warmups: 6 }

export async function run(args) {
  const count = args.includes('--quick') ? 30 : 100
  const store = createMemoryStore()
  const context = createApiContext({ store })
  const verbs = createVerbs(context)
  for (const subject of [configMap(), deployment(), thing()]) {
    const at = addressed(verbs, subject)
    await patchFigures(at, subject, count)
    await putFigures(at, subject, count)
  }
  await growthFigures(verbs)
  printTable()
  await context.close()
  await store.close()
}

// — what is written

/** Few fields that are large. */
const configMap = () => ({
  name: 'ConfigMap',
  kind: builtin('', 'ConfigMap'),
  object: colour => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'default', labels: { colour } },
    data: Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`file-${i}`, 'line of text\n'.repeat(75)])),
  }),
})

const builtin = (group, kind) => builtinKinds(TYPES).find(each => each.group === group && each.names.kind === kind)

/** About 10 KiB: a list of items by name, as most large objects have them. */
function thing(items = 90) {
  const list = Array.from({ length: items }, (_, i) => ({
    name: `item-${i}`,
    size: i,
    colour: 'red',
    note: 'n'.repeat(40),
    ...(i % 3 === 0 && { labels: { app: 'web', tier: `${i}` } }),
  }))
  return {
    name: 'custom object',
    kind: customKind(TYPES, DEFINITION),
    object: colour => ({
      apiVersion: 'bench.example.com/v1',
      kind: 'Thing',
      metadata: { name: 'a', namespace: 'default', labels: { app: 'bench' } },
      spec: { colour, items: list },
    }),
  }
}

const text = { type: 'string' }
const ITEM = {
  type: 'object',
  required: ['name'],
  properties: {
    name: text,
    size: { type: 'integer' },
    colour: text,
    note: text,
    labels: { type: 'object', additionalProperties: text },
  },
}
const SPEC = {
  type: 'object',
  properties: {
    colour: text,
    items: { type: 'array', items: ITEM, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
  },
}
const NAMES = { kind: 'Thing', plural: 'things', singular: 'thing', listKind: 'ThingList' }
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.bench.example.com' },
  spec: {
    group: 'bench.example.com',
    scope: 'Namespaced',
    names: NAMES,
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: SPEC } } },
      },
    ],
  },
  status: {
    acceptedNames: NAMES,
    conditions: ['Established', 'NamesAccepted'].map(type => ({ type, status: 'True' })),
    storedVersions: ['v1'],
  },
}

/** About 10 KiB as it is stored. */
function deployment() {
  const containers = Array.from({ length: 12 }, (_, i) => ({
    name: `container-${i}`,
    image: `registry.example.com/app-${i}:v1`,
    ports: [{ containerPort: 8000 + i }],
    env: Array.from({ length: 6 }, (__, e) => ({ name: `VARIABLE_${e}`, value: 'x'.repeat(20) })),
    resources: { limits: { cpu: '1', memory: '1Gi' } },
  }))
  const labels = { app: 'bench' }
  return {
    name: 'Deployment',
    kind: builtin('apps', 'Deployment'),
    object: colour => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a', namespace: 'default', annotations: { colour } },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
    }),
  }
}

/** The verbs on objects of one kind. */
function addressed(verbs, { kind }) {
  const [version] = kind.versions
  const target = name => ({ kind, version, namespace: 'default', name, subresource: '' })
  const write = verb => async (name, query, mediaType, object) => {
    const bytes = Buffer.isBuffer(object) ? object : Buffer.from(JSON.stringify(object))
    const request = systemRequest({ user: USER, userAgent: 'bench' })
    return verbs[verb](request, target(name), new URLSearchParams(query), { bytes, mediaType })
  }
  return { create: write('create'), update: write('update'), patch: write('patch') }
}

// — what it costs

const bytesOf = object => Buffer.from(JSON.stringify(object))
const named = (object, name) => ({ ...object, metadata: { ...object.metadata, name } })
const asMicros = rate => `${Math.round(1e6 / rate)} µs`

async function patchFigures({ patch }, { name, object }, count) {
  const size = `${(bytesOf(object('red')).length / 1024).toFixed(1)} KiB`
  await patch('applied', 'fieldManager=bench', APPLY, named(object('red'), 'applied'))
  await patch('patched', 'fieldManager=bench', APPLY, named(object('red'), 'patched'))
  const variants = each => ['red', 'blue'].map(colour => bytesOf(named(object(colour), each)))
  const [applied, patched] = [variants('applied'), variants('patched')]
  const repeat = action => async () => {
    for (let i = 0; i < count; i++) await action(i)
    return count
  }
  const apply = which => repeat(i => patch('applied', 'fieldManager=bench', APPLY, applied[which(i)]))
  const merge = which => repeat(i => patch('patched', 'fieldManager=bench', MERGE, patched[which(i)]))
  for (const { what, which } of [
    { what: 'changes nothing', which: () => 0 },
    { what: 'changes a field', which: i => i % 2 },
  ]) {
    const rates = await sideBySide({ apply: apply(which), merge: merge(which) }, ROUNDS)
    const ratio = rates.merge / rates.apply
    report(
      `${name} of ${size}: an apply that ${what}`,
      asMicros(rates.apply),
      `the same by merge patch ${asMicros(rates.merge)}`,
      `${ratio.toFixed(2)} ×`,
      '<= 2 ×',
      ratio <= 2,
    )
  }
}

async function putFigures({ create, update, patch }, { name, object }, count) {
  for (const each of ['tracked', 'untracked']) await create('', '', 'application/json', named(object('red'), each))
  await patch('untracked', '', MERGE, { metadata: { managedFields: [{}] } })
  const latest = async each => (await patch(each, '', MERGE, {})).object.value()
  const contender = each => async () => {
    let { resourceVersion } = (await latest(each)).metadata
    for (let i = 0; i < count; i++) {
      const next = named(object(i % 2 ? 'red' : 'blue'), each)
      next.metadata.resourceVersion = resourceVersion
      const answer = await update(each, '', 'application/json', next)
      ;({ resourceVersion } = answer.object.value().metadata)
    }
    return count
  }
  const rates = await sideBySide({ tracked: contender('tracked'), untracked: contender('untracked') }, SHORT_ROUNDS)
  const ratio = rates.tracked / rates.untracked
  report(
    `${name}: PUTs that change a field, tracked`,
    perSecond(rates.tracked),
    `without managers ${perSecond(rates.untracked)}`,
    ratio.toFixed(2),
    '>= 0.75',
    ratio >= 0.75,
  )
}

/** Items a second, of lists of both lengths in turns. */
async function growthFigures(verbs) {
  const ofLength = items => {
    const subject = thing(items)
    const { patch } = addressed(verbs, subject)
    const name = `large-${items}`
    const variants = ['red', 'blue'].map(colour => bytesOf(named(subject.object(colour), name)))
    return async () => {
      for (let done = 0, i = 0; done < 20_000; done += items, i++) {
        await patch(name, 'fieldManager=bench', APPLY, variants[i % 2])
      }
      return 20_000
    }
  }
  const rates = await sideBySide({ few: ofLength(1000), many: ofLength(10_000) }, { rounds: 9, warmups: 3 })
  const ratio = rates.few / rates.many
  const perItem = rate => `${(1e6 / rate).toFixed(2)} µs`
  report(
    'an apply of 10,000 items, for each of them',
    perItem(rates.many),
    `of 1,000 items ${perItem(rates.few)}`,
    `${ratio.toFixed(2)} ×`,
    '<= 1.5 ×',
    ratio <= 1.5,
  )
}
