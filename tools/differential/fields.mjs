// Compares the built-in kinds field by field: an object that the reference accepts, with one field changed at a time, is sent
// to both servers as a create, an update and a write to the status. All but the objects themselves are dry runs, so that
// every change is made to the same object.
import { differences } from '../../test/conformance/runner.mjs'
import { answersOf, renamed, replaceText, unknownDifferences } from './compare.mjs'
import { fieldChanges, statusChanges } from './field-changes.mjs'
import { collectionOf, createNamespace, NAMESPACE, post, put, TOKEN } from './requests.mjs'

/** How many objects of a kind are tried, and how many requests are under way at once. */
const MAX_SAMPLES = 2
const JOBS = 4

/**
 * Compares one resource. `samples` are bodies of creates. Calls `report` for each difference, and `keep` for the refusals that
 * both servers answered alike; resolves with the number of requests.
 */
export async function compareFields(
  { reference, subject },
  resource,
  samples,
  { isKnown, report, keep, verbs, changes },
) {
  let requests = 0
  let base = {}
  const compare = async (step, subjectStep = step) => {
    requests++
    const [[want], [got]] = await Promise.all([
      answersOf(reference, { steps: [step] }, undefined, { isKept: true }),
      answersOf(subject, { steps: [subjectStep] }, undefined, { isKept: true }),
    ])
    const found = unknownDifferences(step, got, want, isKnown)
    if (found.length > 0) report({ step: subjectStep, got, want, found })
    else if (want.status === 422 && differences(got, want).length === 0) keep?.({ ...base, step, want })
  }
  const chosen = mostFields(samples, MAX_SAMPLES)
  for (const sample of chosen) {
    const own = renamed({
      steps: [],
      sample,
      path: collectionOf(resource.apiVersion, resource.name, resource.namespaced ? NAMESPACE : undefined),
      namespace: createNamespace(),
    })
    const name = `x-${own.token}`
    const body = {
      ...own.sample,
      // An object whose owner does not exist would be collected.
      metadata: {
        ...own.sample.metadata,
        name,
        namespace: undefined,
        generateName: undefined,
        ownerReferences: undefined,
      },
    }
    base = { token: own.token, create: post(own.path, body), resource }
    await Promise.all([reference, subject].map(client => client.send(own.namespace).catch(() => {})))
    if (verbs.includes('create'))
      await eachOf(fieldChanges(resource, body, changes), change => compare(post(`${own.path}?dryRun=All`, change)))
    const [wanted, had] = await Promise.all([reference, subject].map(client => send(client, post(own.path, body))))
    if (wanted.kind === resource.kind && had.kind === resource.kind) {
      const at = `${own.path}/${name}`
      const update = (path, change) => compare(put(path, change), put(path, translated(change, wanted, had)))
      const stored = withoutSystemFields(wanted)
      if (verbs.includes('update'))
        await eachOf(fieldChanges(resource, stored, changes), change => update(`${at}?dryRun=All`, change))
      if (verbs.includes('status') && resource.subresources.includes('status')) {
        const statuses = own.sample.status ? [own.sample.status] : []
        const changeStatus = change => update(`${at}/status?dryRun=All`, change)
        await eachOf(statusChanges(resource, stored, { samples: statuses, changes }), changeStatus)
        // Once more, over a status that is there.
        for (const status of statuses) {
          await update(`${at}/status`, { ...stored, status })
          await eachOf(statusChanges(resource, { ...stored, status }, { changes }), changeStatus)
        }
      }
    }
    for (const client of [reference, subject]) {
      await client.send({ method: 'DELETE', path: `${own.path}/${name}` }).catch(() => {})
      await client
        .send({ method: 'DELETE', path: `/api/v1/namespaces/${replaceText(NAMESPACE, TOKEN, own.token)}` })
        .catch(() => {})
    }
  }
  return requests
}

const send = async (client, step) => JSON.parse((await client.send(step)).raw.toString())

/** The samples that together have the most fields. */
function mostFields(samples, count) {
  const chosen = []
  const seen = new Set()
  const fieldsOf = (value, path = '') =>
    value === null || typeof value !== 'object'
      ? [path]
      : Object.entries(value).flatMap(([key, member]) => fieldsOf(member, `${path}/${Array.isArray(value) ? '' : key}`))
  let left = samples.map(sample => ({ sample, fields: [...new Set(fieldsOf(sample))] }))
  while (chosen.length < count && left.length > 0) {
    const news = left.map(({ fields }) => fields.filter(field => !seen.has(field)).length)
    const best = news.indexOf(Math.max(...news))
    if (news[best] === 0) break
    chosen.push(left[best].sample)
    for (const field of left[best].fields) seen.add(field)
    left = left.filter((_, i) => i !== best)
  }
  return chosen
}

async function eachOf(changes, work) {
  const queue = changes[Symbol.iterator]()
  const job = async () => {
    for (let next = queue.next(); !next.done; next = queue.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: JOBS }, job))
}

const SYSTEM_FIELDS = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'managedFields',
  'generation',
  'selfLink',
])

const withoutSystemFields = object => ({
  ...object,
  metadata: Object.fromEntries(Object.entries(object.metadata).filter(([key]) => !SYSTEM_FIELDS.has(key))),
})

/** The same change for the other server, which chose other values (addresses, ports, uids) for the same object. */
function translated(change, wanted, had) {
  if (differences(wanted, had).length === 0) return change
  const walk = (value, from, to) => {
    if (value === from && typeof value !== 'object') return to ?? value
    if (value === null || typeof value !== 'object') return value
    if (Array.isArray(value)) return value.map((item, i) => walk(item, from?.[i], to?.[i]))
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, walk(member, from?.[key], to?.[key])]))
  }
  return walk(change, wanted, had)
}
