// Objects of every built-in kind: created, read, changed, patched and deleted, in all encodings.
import { RESOURCES, randomObject, readScenarios, recordedBodies } from '../builtin-values.mjs'
import { mutate, withDuplicate } from '../mutations.mjs'
import {
  acceptOf,
  collectionOf,
  createNamespace,
  deleteOptions,
  get,
  NAMESPACE,
  patch,
  post,
  put,
  remove,
  TOKEN,
  writeOptions,
} from '../requests.mjs'
import { randomPatch } from './patches.mjs'

let recorded

export function objects(random) {
  recorded ??= recordedBodies(readScenarios())
  const resource = random.pick(RESOURCES)
  const { apiVersion, kind, namespaced } = resource
  const name = `x-${TOKEN}`
  const path = collectionOf(apiVersion, resource.name, namespaced ? NAMESPACE : undefined)
  const samples = recorded.get(`${apiVersion} ${kind}`)
  const sample = () => {
    if (!samples || random.chance(0.3)) return randomObject(random, resource, name)
    const body = structuredClone(random.pick(samples))
    return { ...body, metadata: { ...body.metadata, name, namespace: undefined } }
  }
  const body = () => (random.chance(0.5) ? sample() : keepName(mutate(random, sample(), random.between(1, 2)), name))
  const steps = [createNamespace(), post(path + writeOptions(random), encoded(random, body()), encoding(random))]
  // A plain object follows, so that later steps have one to work on.
  if (samples) steps.push(post(path, sample()))
  const more = random.between(1, 5)
  for (let i = 0; i < more; i++) steps.push(laterStep(random, resource, `${path}/${name}`, body))
  return { about: `${apiVersion} ${kind}`, steps, cleanup: namespaced ? [] : [`${path}/${name}`] }
}

const keepName = (value, name) =>
  value !== null && typeof value === 'object' && value.metadata !== null && typeof value.metadata === 'object'
    ? { ...value, metadata: { ...value.metadata, ...(value.metadata.name === name || { name }) } }
    : value

function encoded(random, body) {
  return random.chance(0.06) ? withDuplicate(random, body) : body
}

const encoding = random => (random.chance(0.1) ? { headers: acceptOf(random) } : {})

function laterStep(random, { subresources }, path, body) {
  const isStatus = subresources.includes('status') && random.chance(0.25)
  const at = isStatus ? `${path}/status` : path
  switch (
    random.weighted([
      [3, 'get'],
      [2, 'put'],
      [4, 'patch'],
      [2, 'apply'],
      [1, 'delete'],
      [1, 'scale'],
    ])
  ) {
    case 'get':
      return get(at, { headers: acceptOf(random) })
    case 'put':
      return put(at + writeOptions(random), body())
    case 'patch': {
      const { kind, value } = randomPatch(random, body())
      return patch(kind, at + writeOptions(random, { isPatch: true }), value)
    }
    case 'apply':
      return patch(
        'apply',
        `${at}?fieldManager=${random.pick(['alpha', 'beta'])}${random.chance(0.3) ? '&force=true' : ''}`,
        body(),
      )
    case 'delete':
      return remove(path, deleteOptions(random))
    default:
      return subresources.includes('scale')
        ? patch('merge', `${path}/scale`, { spec: { replicas: random.pick([0, 3, -1, 'x', null]) } })
        : get(path)
  }
}
