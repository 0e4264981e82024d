// RuntimeClass: a pod gets the overhead, the node selector and the tolerations of its RuntimeClass.

import { amountOf } from '../../builtin/pod.js'
import { unclassified } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { has, mapAt, numberOrNone, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { asGiven } from '../../meta/values/given-empty.js'
import { compareQuantities } from '../../meta/values/quantity.js'
import { copyValue, equalValues, type ValueObject } from '../../meta/values/value.js'
import type { Lister } from '../../objects/lister.js'
import { type Attributes, forbiddenBy } from '../attributes.js'
import type { AdmissionPlugin } from '../chain.js'

const RUNTIME_CLASS = { group: 'node.k8s.io', kind: 'RuntimeClass' }

export function runtimeClass(objects: Lister): AdmissionPlugin {
  async function classOf(attributes: Attributes, pod: ApiObject): Promise<ApiObject | undefined> {
    const spec = objectAt(pod, 'spec')
    if (!has(spec, 'runtimeClassName')) return undefined
    const name = stringAt(spec, 'runtimeClassName')
    if (name === '') throw unclassified('resource name may not be empty')
    const found = await objects.find(RUNTIME_CLASS, '', name)
    if (!found) throw forbiddenBy(attributes, `pod rejected: RuntimeClass ${quote(name)} not found`)
    return found
  }
  return {
    name: 'RuntimeClass',
    operations: new Set(['CREATE']),
    resources: ['pods'],
    async mutate(attributes) {
      const { object } = attributes
      const found = object && (await classOf(attributes, object))
      if (!found) return undefined
      const set = setRuntime(object, found)
      if ('refusal' in set) throw forbiddenBy(attributes, set.refusal)
      return set.pod
    },
    async validate(attributes) {
      const { object } = attributes
      const error = object && overheadError(object, await classOf(attributes, object))
      if (error !== undefined) throw forbiddenBy(attributes, error)
    },
  }
}

const MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"

/** The pod as its class wants it, or why it conflicts with its class. */
export function setRuntime(
  pod: ApiObject,
  runtime: ValueObject,
): { readonly refusal: string } | { readonly pod: ApiObject } {
  const spec: ValueObject = { ...objectAt(pod, 'spec') }
  if (has(runtime, 'overhead')) {
    const overhead = objectAt(objectAt(runtime, 'overhead'), 'podFixed')
    if (has(spec, 'overhead') && !sameAmounts(overhead, objectAt(spec, 'overhead'))) return { refusal: MISMATCH }
    spec['overhead'] = copyValue(overhead)
  }
  if (has(runtime, 'scheduling')) {
    const scheduling = objectAt(runtime, 'scheduling')
    const wanted = mapAt(scheduling, 'nodeSelector')
    const own = mapAt(spec, 'nodeSelector')
    for (const key of Object.keys(wanted)) {
      if (!Object.hasOwn(own, key) || own[key] === wanted[key]) continue
      const [wantedPair, ownPair] = [`nodeSelector[${key}] = ${wanted[key]!}`, `nodeSelector[${key}] = ${own[key]!}`]
      return { refusal: `conflict: runtimeClass.scheduling.${wantedPair}; pod.spec.${ownPair}` }
    }
    spec['nodeSelector'] = { ...own, ...wanted }
    spec['tolerations'] = mergeTolerations([
      ...objectsAt(spec, 'tolerations'),
      ...copyValue([...objectsAt(scheduling, 'tolerations')]),
    ])
  }
  return { pod: { ...pod, spec } }
}

/** Why the overhead of the pod, which later plugins may have changed, is not that of its class. */
export function overheadError(pod: ValueObject, runtime: ValueObject | undefined): string | undefined {
  const spec = objectAt(pod, 'spec')
  if (runtime === undefined || !has(runtime, 'overhead')) {
    return asGiven(spec, 'overhead') !== null
      ? 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'
      : undefined
  }
  const overhead = objectAt(objectAt(runtime, 'overhead'), 'podFixed')
  return sameAmounts(overhead, objectAt(spec, 'overhead')) ? undefined : MISMATCH
}

function sameAmounts(a: ValueObject, b: ValueObject): boolean {
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every(name => {
      const [x, y] = [amountOf(a, name), amountOf(b, name)]
      return x !== undefined && y !== undefined && compareQuantities(x, y) === 0
    })
  )
}

/** Every toleration is compared with all others. Of more than this many none is dropped, which means the same. */
const MAX_MERGED = 500

/** Drops tolerations that another one includes; of equal ones the first stays. */
function mergeTolerations(all: ValueObject[]): ValueObject[] {
  if (all.length > MAX_MERGED) return all
  const merged: ValueObject[] = []
  all.forEach((toleration, i) => {
    const isIncluded =
      merged.some(other => includes(other, toleration)) ||
      all.slice(i + 1).some(other => !equalValues(other, toleration) && includes(other, toleration))
    if (!isIncluded) merged.push(toleration)
  })
  return merged
}

/** Whether `wide` tolerates all that `narrow` tolerates. */
function includes(wide: ValueObject, narrow: ValueObject): boolean {
  if (equalValues(wide, narrow)) return true
  const [key, operator, effect] = [stringAt(wide, 'key'), stringAt(wide, 'operator'), stringAt(wide, 'effect')]
  const takesAnyKey = key === '' && operator === 'Exists'
  if (key !== stringAt(narrow, 'key') && !takesAnyKey) return false
  if (effect !== '' && effect !== stringAt(narrow, 'effect')) return false
  const seconds = numberOrNone(wide, 'tolerationSeconds')
  if (effect === 'NoExecute' && seconds !== undefined) {
    const requested = numberOrNone(narrow, 'tolerationSeconds')
    if (requested === undefined || requested > seconds) return false
  }
  if (operator === 'Exists') return true
  const isEqual = (of: string): boolean => of === '' || of === 'Equal'
  return (
    isEqual(operator) &&
    stringAt(narrow, 'operator') === 'Equal' &&
    stringAt(wide, 'value') === stringAt(narrow, 'value')
  )
}
