// Replays what was recorded of custom objects, at the level of this room: for every object that was sent, what pruning,
// defaulting and validation make of it beside what the reference server answered. A small store and small patches stand
// in for the rooms above.
import { readFileSync } from 'node:fs'
import { decodeJson } from '../codec/json/decode.js'
import { encodeJson } from '../codec/json/encode.js'
import { type FieldError, printField, printFieldError, printFieldErrorBody } from '../meta/errors/field-errors.js'
import { copyValue, getOwn, isObject, setOwn, type Value, type ValueObject } from '../meta/values/value.js'
import { decodeObjectMeta } from '../types/object-meta.js'
import { type CompiledSchema, compileSchema } from './compiled-schema.js'

export interface Comparison {
  /** The scenario and the number of the step. */
  readonly step: string
  readonly expected: unknown
  readonly actual: unknown
}

/** The comparisons of each scenario that has any. */
export function byScenario(comparisons: readonly Comparison[]): { scenario: string; steps: Comparison[] }[] {
  const groups = new Map<string, Comparison[]>()
  for (const comparison of comparisons) {
    const scenario = comparison.step.replace(/ [0-9]+$/, '')
    const steps = groups.get(scenario)
    if (steps === undefined) groups.set(scenario, [comparison])
    else steps.push(comparison)
  }
  return [...groups].map(([scenario, steps]) => ({ scenario, steps }))
}

/** One comparison for each step that this room can answer. */
export function replayObjects(file: string): Comparison[] {
  const path = new URL(`../../test/conformance/recordings/${file}.json`, import.meta.url)
  const { value } = decodeJson(readFileSync(path))
  const scenarios = (value as { scenarios: Scenario[] }).scenarios
  return scenarios.flatMap(scenario => replayScenario(scenario))
}

interface Scenario extends ValueObject {
  name: string
  steps: Step[]
}

interface Step extends ValueObject {
  method: string
  path: string
}

interface World {
  readonly definitions: Map<string, ValueObject>
  readonly schemas: Map<string, CompiledSchema>
  readonly stored: Map<string, ValueObject>
}

function replayScenario({ name, steps }: Scenario): Comparison[] {
  const world: World = { definitions: new Map(), schemas: new Map(), stored: new Map() }
  const comparisons: Comparison[] = []
  for (const [i, step] of steps.entries()) {
    if (typeof step['method'] !== 'string') continue
    const comparison = step.path.includes('/customresourcedefinitions')
      ? define(world, step)
      : replayStep(world, step, `${name} ${i}`)
    if (comparison !== undefined) comparisons.push(comparison)
  }
  return comparisons
}

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

function define(world: World, step: Step): undefined {
  const status = getOwn(asObject(step['expect']), 'status')
  if (typeof status === 'number' && status >= 300) return undefined
  const body = bodyOf(step)
  if (body === undefined || step.path.includes('dryRun')) return undefined
  let definition: ValueObject | undefined
  if (step.method === 'POST') definition = asObject(body)
  else if (step.method === 'PATCH' || step.method === 'PUT') {
    const name = step.path.slice(CRDS.length + 1).split(/[/?]/, 1)[0]!
    const old = world.definitions.get(name)
    const patched = step.method === 'PUT' ? body : old && patch(old, body)
    definition = patched === undefined ? undefined : asObject(patched)
  }
  if (definition === undefined) return undefined
  const { group, names, versions } = asObject(definition['spec'])
  world.definitions.set(`${asObject(names)['plural'] as string}.${group as string}`, definition)
  for (const version of Array.isArray(versions) ? versions.map(asObject) : []) {
    const written = getOwn(asObject(version['schema']), 'openAPIV3Schema')
    if (written === undefined) continue
    const where = `${group as string}/${version['name'] as string}/${asObject(names)['plural'] as string}`
    world.schemas.set(where, compileSchema(written))
  }
  return undefined
}

/**
 * Scenarios that need more than this room (conversion, patches that it does not make, what the recording normalised),
 * and those that spend whole budgets, which takes long.
 */
const SKIPPED = /default-in-versions|versions-with-other-schemas|format-uuid|budget-(?:call-[0-9]|object)/

function replayStep(world: World, step: Step, label: string): Comparison | undefined {
  const place = placeOf(step.path)
  if (place === undefined || SKIPPED.test(label) || step['eventually'] === true) return undefined
  const schema = world.schemas.get(place.resource)
  if (schema === undefined) return undefined
  const expect = asObject(step['expect'])
  const expected = getOwn(expect, 'body')
  if (!isObject(expected) || getOwn(expect, 'status') === undefined || Object.hasOwn(step, 'pick')) {
    // The object is now something that was not recorded.
    if (step.method !== 'GET') world.stored.delete(`${place.resource}/${place.name}`)
    return undefined
  }
  const status = Number(expect['status'])
  const versions = getOwn(asObject(world.definitions.get(definitionOf(place.resource))?.['spec']), 'versions')
  if (!Array.isArray(versions) || versions.length > 1) return undefined
  const withStatus = hasStatus(world, place.resource)
  const key = `${place.resource}/${place.name}`
  if (SCALE.test(step.path)) {
    if (step.method !== 'GET') world.stored.delete(key)
    return undefined
  }
  const old = place.name === '' ? undefined : world.stored.get(key)
  const before = old && readBack(schema, old)

  if (step.method === 'GET') {
    if (before === undefined || status !== 200 || expected['kind'] === 'Table') return undefined
    return { step: label, expected: contentOf(expected), actual: contentOf(before) }
  }
  const sent = sentObject(step, before)
  if (sent === undefined || step.path.includes('fieldManager')) {
    // What another room made of it is taken over.
    if (status < 300) remember(world, place, expected)
    return undefined
  }
  const object = copyValue(sent)
  const shaped = schema.shape(object)
  if (shaped.error !== undefined) {
    const message = getOwn(expected, 'message')
    const recorded = typeof message === 'string' ? message : ''
    return { step: label, expected: recorded.slice(recorded.indexOf(': ') + 2), actual: printFieldError(shaped.error) }
  }
  if (status >= 400 && status !== 422) return undefined
  if (step.method === 'PATCH' && status === 422 && causesOf(expected).some(cause => cause.includes('| patch |'))) {
    return undefined
  }
  if (withStatus && before !== undefined) {
    if (place.subresource === 'status') {
      const written = getOwn(object, 'status')
      for (const member of Object.keys(object)) if (member !== 'metadata') delete object[member]
      for (const member of Object.keys(before)) {
        if (member !== 'metadata' && member !== 'status') setOwn(object, member, copyValue(before[member]!))
      }
      if (written !== undefined) object['status'] = written
    } else {
      delete object['status']
      if (Object.hasOwn(before, 'status')) object['status'] = copyValue(before['status']!)
    }
  } else if (withStatus) delete object['status']
  schema.default(object)
  const errors =
    before === undefined
      ? schema.validate(object)
      : place.subresource === 'status'
        ? schema.validateStatusUpdate(object, before)
        : schema.validateUpdate(object, before)
  const rules = schema.evaluateRules(object, before, errors)
  const unknown = shaped.unknown.map(path => `unknown field "${path}"`)
  const actual = {
    faults: [...errors, ...rules.errors].map(printCause).toSorted(),
    ...(status === 422 ? {} : contentOf(object)),
    warnings: [...unknown.filter(isTold), ...rules.warnings].toSorted(),
  }
  const answer = {
    faults: causesOf(expected)
      .filter(cause => !ELSEWHERE.test(cause))
      .toSorted(),
    ...(status === 422 ? {} : contentOf(expected)),
    warnings: /fieldValidation=(?:Ignore|strict)/.test(step.path) ? actual.warnings : warningsOf(expect).toSorted(),
  }
  if (status < 300 && !step.path.includes('dryRun')) {
    remember(world, place, { ...object, metadata: expected['metadata'] ?? {} })
  }
  return { step: label, expected: answer, actual }
}

const SCALE = /\/scale(?:\?|$)/

/** What is said of the metadata of the object itself. */
const ELSEWHERE =
  /\| metadata\.(?:labels|annotations|finalizers|ownerReferences|uid|resourceVersion)|\| fieldValidation|\| metadata\.(?:name|generateName) \|.*(?:name or generateName is required|subdomain|no more than 253)|must be Widget$/

function remember(world: World, place: Place, object: ValueObject): void {
  const name = getOwn(asObject(object['metadata']), 'name')
  world.stored.set(`${place.resource}/${typeof name === 'string' ? name : place.name}`, object)
}

function readBack(schema: CompiledSchema, stored: ValueObject): ValueObject {
  const object = copyValue(stored)
  schema.shape(object, { stored: true })
  schema.default(object)
  return object
}

function sentObject(step: Step, before: ValueObject | undefined): ValueObject | undefined {
  const body = bodyOf(step)
  if (body === undefined) return undefined
  if (step.method === 'POST' || step.method === 'PUT') {
    if (!isObject(body)) return undefined
    return decodeObjectMeta(getOwn(body, 'metadata') ?? null).ok ? body : undefined
  }
  if (step.method !== 'PATCH' || before === undefined) return undefined
  const patched = patch(before, body)
  return isObject(patched) && decodeObjectMeta(getOwn(patched, 'metadata') ?? null).ok ? patched : undefined
}

function bodyOf(step: Step): Value | undefined {
  const body = getOwn(step, 'body')
  if (body === undefined || (isObject(body) && Object.hasOwn(body, 'base64'))) return undefined
  try {
    return typeof body === 'string' ? decodeJson(Buffer.from(body)).value : body
  } catch {
    return undefined
  }
}

interface Place {
  readonly resource: string
  readonly name: string
  readonly subresource: string
}

function placeOf(path: string): Place | undefined {
  const found = /^\/apis\/([^/]+)\/([^/]+)\/(?:namespaces\/[^/]+\/)?([^/?]+)(?:\/([^/?]+))?(?:\/([^/?]+))?/.exec(path)
  if (found === null) return undefined
  const [, group, version, plural, name = '', subresource = ''] = found
  return { resource: `${group}/${version}/${plural}`, name, subresource }
}

function definitionOf(resource: string): string {
  const [group, , plural] = resource.split('/')
  return `${plural}.${group}`
}

function hasStatus(world: World, resource: string): boolean {
  const version = resource.split('/')[1]
  const definition = world.definitions.get(definitionOf(resource))
  const versions = getOwn(asObject(definition?.['spec']), 'versions')
  const found = Array.isArray(versions) ? versions.map(asObject).find(({ name }) => name === version) : undefined
  return isObject(getOwn(asObject(found?.['subresources']), 'status'))
}

/** A warning with a line break is not sent, and there is an end to warnings. */
const isTold = (warning: string): boolean =>
  !warning.includes('\n') && !/unknownFieldNumber(?:3[4-9]|[45])/.test(warning)

const printCause = (error: FieldError): string => `${error.type} | ${printField(error)} | ${printFieldErrorBody(error)}`

function causesOf(body: ValueObject): string[] {
  const causes = getOwn(asObject(getOwn(body, 'details')), 'causes')
  if (!Array.isArray(causes)) return []
  return causes.map(asObject).map(({ reason, field, message }) => `${text(reason)} | ${text(field)} | ${text(message)}`)
}

/** The warnings of unknown fields and of rules, but for those of the object's own metadata. */
function warningsOf(expect: ValueObject): string[] {
  const warnings = getOwn(expect, 'warnings')
  const recorded = Array.isArray(warnings) ? warnings.map(text) : []
  return recorded.flatMap(warning => {
    // Headers carry UTF-8 that was recorded byte by byte.
    const plain = Buffer.from(warning, 'latin1').toString().replaceAll('\\"', '"').replaceAll('\\\\', '\\')
    const found = /^299 - "(unknown field "[^]*"|[^]*(?:Invalid|Duplicate|Required) value[^]*)"$/.exec(plain)?.[1]
    return found === undefined || found.startsWith('unknown field "metadata.') ? [] : [found]
  })
}

/** What a schema decides: everything but the type and the metadata. Times and versions were normalised. */
function contentOf(object: ValueObject): { content: string } {
  const { apiVersion: _, kind: __, metadata: ___, ...content } = object
  const printed = encodeJson(content, { sortKeys: true })
  return {
    content: printed
      .replace(/"(creationTimestamp)":"[^"]*"/g, '"$1":"<time>"')
      .replace(/"(resourceVersion)":"[^"]*"/g, '"$1":"<rv>"')
      .replace(/"uid":"[^"]*"/g, '"uid":"<uid>"')
      // The recordings went through floats.
      .replace(/-?\b[0-9]{16,}\b/g, digits => String(Number(digits)))
      .replace(/:-0\b(?!\.)/g, ':0'),
  }
}

/** A JSON patch or a merge patch. */
function patch(target: Value, change: Value): Value | undefined {
  const copy = copyValue(target)
  if (!Array.isArray(change)) return merge(copy, change)
  for (const operation of change.map(asObject)) if (!applyOperation(copy, operation)) return undefined
  return copy
}

function merge(target: Value, change: Value): Value {
  if (!isObject(change)) return change
  const result = isObject(target) ? target : {}
  for (const key of Object.keys(change)) {
    if (change[key] === null) delete result[key]
    else setOwn(result, key, merge(getOwn(result, key) ?? null, change[key]!))
  }
  return result
}

function applyOperation(root: Value, { op, path, value }: ValueObject): boolean {
  if (op === 'test') return true
  if (typeof path !== 'string' || (op !== 'add' && op !== 'replace' && op !== 'remove')) return false
  const steps = path
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const last = steps.pop()
  let parent: Value | undefined = root
  for (const step of steps) {
    if (Array.isArray(parent)) parent = parent[Number(step)]
    else parent = isObject(parent) ? getOwn(parent, step) : undefined
  }
  if (last === undefined) return false
  if (Array.isArray(parent)) {
    const index = last === '-' ? parent.length : Number(last)
    parent.splice(index, op === 'add' ? 0 : 1, ...(op === 'remove' ? [] : [value ?? null]))
  } else if (!isObject(parent)) return false
  else if (op === 'remove') delete parent[last]
  else setOwn(parent, last, copyValue(value ?? null))
  return true
}

const asObject = (value: Value | undefined): ValueObject => (isObject(value) ? value : {})
const text = (value: Value | undefined): string => (typeof value === 'string' ? value : '')
