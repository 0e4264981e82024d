// Lists and watches with all their options, over a handful of objects with labels.
import {
  acceptOf,
  collectionOf,
  createNamespace,
  deleteOptions,
  get,
  listOptions,
  NAMESPACE,
  patch,
  post,
  put,
  remove,
} from '../requests.mjs'

const configMap = (name, labels) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels },
  data: { name },
})

export function lists(random) {
  const path = collectionOf('v1', 'configmaps', NAMESPACE)
  const names = ['a', 'b', 'c', 'd']
  const steps = [
    createNamespace(),
    ...names.map(name => post(path, configMap(name, random.pick([{ a: 'b' }, { a: 'c' }, {}, { c: '' }])))),
  ]
  const versions = names.map((_, i) => `{{${i + 1}.metadata.resourceVersion}}`)
  const options = () => listOptions(random, { versions }).replaceAll('%7B', '{').replaceAll('%7D', '}')
  for (let i = 0; i < 6; i++) steps.push(get(path + options(), random.chance(0.3) ? { headers: acceptOf(random) } : {}))
  if (random.chance(0.5)) steps.push(...pages(path, steps.length, random))
  if (random.chance(0.6)) steps.push(...watching(random, path, options))
  if (random.chance(0.3)) steps.push(remove(path + options(), deleteOptions(random)), get(path))
  return { about: 'lists and watches', steps }
}

/** Pages by their continue tokens. */
function pages(path, at, random) {
  const limit = random.between(1, 2)
  return [
    get(`${path}?limit=${limit}`),
    get(`${path}?limit=${limit}&continue={{${at}.metadata.continue}}`),
    get(
      `${path}?limit=${limit}&continue={{${at + 1}.metadata.continue}}${random.chance(0.3) ? '&labelSelector=a' : ''}`,
    ),
  ]
}

function watching(random, path, options) {
  const selection = random.pick([
    '',
    '&labelSelector=a%3Db',
    '&fieldSelector=metadata.name%3Da',
    '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
  ])
  const from = random.pick(['', '&resourceVersion=0', '&resourceVersion={{2.metadata.resourceVersion}}'])
  const bad = random.chance(0.3)
  const query = bad
    ? `${options() || '?x=y'}&watch=true&timeoutSeconds=2`
    : `?watch=true&timeoutSeconds=9${selection}${from}`
  return [
    { watch: 'w', path: path + query, ...(random.chance(0.3) && { headers: acceptOf(random) }) },
    { read: 'w', count: 4, timeoutMs: 1500 },
    patch('merge', `${path}/a`, { metadata: { labels: { a: random.pick(['b', 'c', null]) } } }),
    patch('merge', `${path}/b`, { data: { more: '1' } }),
    remove(`${path}/c`),
    put(`${path}/d`, configMap('d', { a: 'b' })),
    { read: 'w', count: 4, timeoutMs: 1500 },
    { close: 'w' },
  ]
}
