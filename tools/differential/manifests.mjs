// Posts every manifest that is found in a folder of real projects to both servers: definitions first, then the other
// objects, strictly validated and as a dry run, and reads the definitions back.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { differences } from '../../test/conformance/runner.mjs'
import { replaceText } from './compare.mjs'
import { DEFINITIONS } from './requests.mjs'

/** All objects of the YAML and JSON files below a folder; files that are no manifests are left out. */
export async function readManifests(folder) {
  const { decodeYaml } = await import('../../dist/codec/yaml.js')
  const objects = []
  for (const file of filesBelow(folder)) {
    const text = readFileSync(file, 'utf8')
    for (const document of text.split(/^---.*$/m)) {
      if (!/^apiVersion:/m.test(document) && !file.endsWith('.json')) continue
      try {
        const { value } = decodeYaml(Buffer.from(document))
        for (const object of value?.kind === 'List' ? (value.items ?? []) : [value]) {
          if (typeof object?.apiVersion === 'string' && typeof object?.kind === 'string' && object.metadata)
            objects.push({ file, object })
        }
      } catch {
        // A template or a document with a mistake; its neighbours may be fine.
      }
    }
  }
  return objects
}

function* filesBelow(folder) {
  for (const name of readdirSync(folder).toSorted()) {
    const path = join(folder, name)
    if (name === '.git' || name === 'node_modules') continue
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat?.isDirectory()) yield* filesBelow(path)
    else if (/\.(ya?ml|json)$/.test(name) && stat?.size < 3_000_000) yield path
  }
}

/** Posts the objects to both servers. Calls `report` for each difference; returns how many were posted. */
export async function compareManifests({ reference, subject }, objects, { isKnown, report }) {
  const isDefinition = ({ object }) =>
    object.kind === 'CustomResourceDefinition' && object.apiVersion === 'apiextensions.k8s.io/v1'
  const definitions = onceByName(objects.filter(isDefinition))
  for (const { object } of definitions)
    await Promise.all([reference, subject].map(client => client.send(post(DEFINITIONS, object)).catch(() => {})))
  await new Promise(resolve => setTimeout(resolve, 3000))
  const resources = await resourcesOf(reference)
  let posted = 0
  for (const { file, object } of [...definitions, ...objects.filter(entry => !isDefinition(entry))]) {
    const resource = resources.get(`${object.apiVersion} ${object.kind}`)
    if (!resource) continue
    posted++
    const { namespaced, path } = resource
    const target = namespaced ? path.replace('{namespace}', 'default') : path
    const body = { ...object, metadata: { ...object.metadata, ...(namespaced && { namespace: 'default' }) } }
    const step = isDefinition({ object })
      ? { method: 'GET', path: `${DEFINITIONS}/${object.metadata.name}` }
      : post(`${target}?dryRun=All&fieldValidation=Strict`, body)
    const [want, got] = await Promise.all([reference, subject].map(client => answer(client, step)))
    const found = differences(got, want).filter(text => !isKnown({ step, text, got, want, before: [step] }))
    if (found.length > 0) report({ file, step, got, want, found })
  }
  return posted
}

const post = (path, body) => ({ method: 'POST', path, body })

function onceByName(entries) {
  const seen = new Set()
  return entries.filter(({ object }) => !seen.has(object.metadata.name) && seen.add(object.metadata.name))
}

/** By `apiVersion kind`, where objects are posted. */
async function resourcesOf(client) {
  const found = new Map()
  const read = async path => {
    const { status, raw } = await client.send({ method: 'GET', path })
    return status === 200 ? JSON.parse(raw.toString()) : {}
  }
  const groups = (await read('/apis')).groups.flatMap(({ versions }) =>
    versions.map(({ groupVersion }) => groupVersion),
  )
  for (const groupVersion of ['v1', ...groups]) {
    const base = groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`
    for (const { name, kind, namespaced, verbs } of (await read(base)).resources ?? []) {
      if (name.includes('/') || !verbs.includes('create')) continue
      found.set(`${groupVersion} ${kind}`, {
        namespaced,
        path: namespaced ? `${base}/namespaces/{namespace}/${name}` : `${base}/${name}`,
      })
    }
  }
  return found
}

/** What is compared of an answer: without what each server numbers and times for itself, and in no order of causes. */
async function answer(client, step) {
  const { status, headers, raw } = await client.send(step)
  let body
  try {
    body = plain(withoutGeneratedName(JSON.parse(raw.toString())))
  } catch {
    body = raw.toString()
  }
  return { status, warnings: [headers.warning ?? []].flat().toSorted((a, b) => (a < b ? -1 : 1)), body }
}

/** A job has its name in labels, too. */
function withoutGeneratedName(object) {
  const { name, generateName } = object.metadata ?? {}
  return generateName && name?.startsWith(generateName) ? replaceText(object, name, generateName) : object
}

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const VARIES = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'lastTransitionTime', 'time', 'generation'])

function plain(value) {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === 'string') return value.replace(UUID, '<uid>')
  if (value === null || typeof value !== 'object') return value
  const copy = Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !VARIES.has(key))
      .map(([key, member]) => [key, plain(member)]),
  )
  if (copy.kind === 'Status' && Array.isArray(copy.details?.causes)) {
    copy.details.causes.sort((a, b) => (`${a.field} ${a.message}` < `${b.field} ${b.message}` ? -1 : 1))
    if (copy.details.causes.length > 1) delete copy.message
  }
  if (copy.kind === 'CustomResourceDefinition') copy.status?.conditions?.sort((a, b) => (a.type < b.type ? -1 : 1))
  return copy
}
