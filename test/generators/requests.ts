// Requests without end, the same ones for the same seed: objects of the built-in kinds and mutated recordings, in all
// encodings, by all verbs, with odd names, queries and headers.
import { encodeJson } from '../../src/codec/json.js'
import type { Value } from '../../src/meta/values/value.js'
import { createRandom, type Random } from '../storage/history/random.js'
import { ENCODINGS, type Encoding, encodeBody, MEDIA_TYPE_OF } from './encodings.js'
import { mutateBytes, mutateValue } from './mutations.js'
import { type RecordedRequest, recordedScenarios } from './recorded-requests.js'
import { ODD_TEXTS, oddText } from './texts.js'
import { createObjectGenerator, type GeneratedResource } from './typed-objects.js'

export interface GeneratedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/apply-patch+cbor',
]
const ACCEPTED = [
  ...Object.values(MEDIA_TYPE_OF),
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  '*/*',
  'text/plain',
]
const QUERIES = [
  'limit=1',
  'limit=-1',
  'limit=x',
  'continue=x',
  'continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0',
  'resourceVersion=0',
  'resourceVersion=99999999999999999999',
  'resourceVersionMatch=Exact',
  'labelSelector=a%20in%20(b,c)',
  'labelSelector=%21%21',
  'labelSelector=a%3Db%00',
  'fieldSelector=metadata.name%3Da',
  'fieldSelector=constructor%3D1',
  'dryRun=All',
  'dryRun=x',
  'fieldManager=m',
  'fieldManager=%00',
  'fieldValidation=Strict',
  'force=true',
  'pretty=true',
  'timeout=5s',
  'timeout=x',
  'gracePeriodSeconds=0',
  'propagationPolicy=Orphan',
  '__proto__=1',
  'timeoutSeconds=1',
]

/** The next request of a run. A change of the generators changes the requests of a seed. */
export function createRequests(seed: number): () => GeneratedRequest {
  const random = createRandom(seed)
  const objects = createObjectGenerator()
  const recorded = recordedScenarios()
  // Several scenarios at once, each in its order: later steps need the objects of earlier ones.
  const lanes = Array.from({ length: LANES }, () => [] as RecordedRequest[])
  let count = 0
  return () => {
    const lane = lanes[count++ % LANES]!
    if (random.chance(0.4)) return ofObject(random, objects)
    if (lane.length === 0) lane.push(...random.oneOf(recorded))
    return ofRecording(random, lane.shift()!)
  }
}

/** Requests that follow each other at this distance are sent one after the other, those between them at the same time. */
export const LANES = 20

function ofRecording(random: Random, { method, path, headers, body }: RecordedRequest): GeneratedRequest {
  const isChanged = random.chance(0.4)
  const value = body === undefined || !isChanged ? body : mutateValue(random, body)
  const bytes = value === undefined ? Buffer.alloc(0) : cut(Buffer.from(textOf(value)))
  return {
    method: random.chance(0.05) ? oneMethod(random) : method,
    path: random.chance(0.05) ? mutatedPath(random, path) : path,
    headers: withAccept(random, headers),
    body: random.chance(0.05) ? mutateBytes(random, bytes) : bytes,
  }
}

/** Larger than the server accepts. A value that is nested deeply and repeated may be 100 times as long, most of all in YAML. */
const MAX_BODY_BYTES = 8 * 2 ** 20

/** A copy, so that the rest is not kept. */
const cut = (bytes: Buffer): Buffer =>
  bytes.length <= MAX_BODY_BYTES ? bytes : Buffer.from(bytes.subarray(0, MAX_BODY_BYTES))

/** The value may be nested too deeply for `JSON.stringify`. */
const textOf = (value: Value): string => (typeof value === 'string' ? value : encodeJson(value))

function ofObject(random: Random, objects: ReturnType<typeof createObjectGenerator>): GeneratedRequest {
  const resource = random.oneOf(objects.resources)
  const name = random.chance(0.05) ? oddText(random) : `fuzz-${random.number(20)}`
  const method = oneMethod(random)
  const encoding = random.oneOf(ENCODINGS)
  const path = pathOf(random, resource, method === 'POST' ? '' : name)
  const { headers, value } = contentOf(random, method, encoding, () => objects.object(random, resource, name))
  const bytes = value === undefined ? Buffer.alloc(0) : cut(encodeBody(value, encoding))
  return {
    method,
    path,
    headers: withAccept(random, headers),
    body: random.chance(0.08) ? mutateBytes(random, bytes) : bytes,
  }
}

function contentOf(random: Random, method: string, encoding: Encoding, object: () => Value) {
  const type = MEDIA_TYPE_OF[encoding]
  if (method === 'GET' || method === 'HEAD') return { headers: {}, value: undefined }
  if (method === 'DELETE' && random.chance(0.7)) return { headers: {}, value: undefined }
  const value = random.chance(0.3) ? mutateValue(random, object()) : object()
  if (method !== 'PATCH') return { headers: { 'content-type': type }, value }
  const patchType = random.oneOf(PATCH_TYPES)
  return { headers: { 'content-type': patchType }, value: patchType.includes('json-patch') ? jsonPatch(random) : value }
}

const POINTERS = [
  '/metadata/labels',
  '/metadata/labels/a',
  '/spec',
  '/data/x',
  '',
  '/',
  '/spec/containers/0',
  '/-',
  '/a~1b',
]

const jsonPatch = (random: Random): Value =>
  Array.from({ length: 1 + random.number(4) }, () => ({
    op: random.oneOf(['add', 'remove', 'replace', 'move', 'copy', 'test', 'x']),
    path: random.chance(0.2) ? `/metadata/${oddText(random)}` : random.oneOf(POINTERS),
    ...(random.chance(0.8) && { value: random.oneOf<Value>([1, 'x', {}, [], null, { a: 'b' }]) }),
    ...(random.chance(0.4) && { from: random.oneOf(POINTERS) }),
  }))

const oneMethod = (random: Random): string =>
  random.oneOf([
    'GET',
    'GET',
    'POST',
    'POST',
    'POST',
    'PUT',
    'PUT',
    'PATCH',
    'PATCH',
    'PATCH',
    'DELETE',
    'HEAD',
    'OPTIONS',
  ])

function pathOf(random: Random, { apiVersion, plural, namespaced }: GeneratedResource, name: string): string {
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const namespace = namespaced
    ? `/namespaces/${random.chance(0.03) ? encodeURIComponent(safe(oddText(random))) : 'default'}`
    : ''
  const subresource = name !== '' && random.chance(0.1) ? `/${random.oneOf(['status', 'scale', 'x', 'eviction'])}` : ''
  const named = name === '' ? '' : `/${encodeURIComponent(safe(name))}`
  return `${group}${namespace}/${plural}${named}${subresource}${queryOf(random)}`
}

/** Only well-formed texts can be part of a URL. */
const safe = (text: string): string => text.toWellFormed()

const queryOf = (random: Random): string =>
  random.chance(0.3) ? `?${Array.from({ length: 1 + random.number(3) }, () => random.oneOf(QUERIES)).join('&')}` : ''

function mutatedPath(random: Random, path: string): string {
  const parts = path.split('/')
  parts[1 + random.number(parts.length - 1)] = encodeURIComponent(safe(random.oneOf(ODD_TEXTS)))
  return parts.join('/')
}

function withAccept(random: Random, headers: Readonly<Record<string, string>>): Record<string, string> {
  return {
    ...headers,
    ...(random.chance(0.4) && { accept: random.oneOf(ACCEPTED) }),
    ...(random.chance(0.02) && { 'impersonate-user': random.oneOf(['a', 'system:admin', '']) }),
    ...(random.chance(0.02) && { 'impersonate-extra-constructor': 'x' }),
  }
}
