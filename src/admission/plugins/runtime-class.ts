// The runtime class of a pod: what it takes beyond its containers, and where it can run.

import { amountOf } from '../../builtin/pod.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { has, mapAt, numberOrNone, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { compareQuantities } from '../../meta/values/quantity.js'
import { copyValue, equalValues, type ValueObject } from '../../meta/values/value.js'

/** Why the pod is refused, or the pod with what its class asks for. */
export type Classed = { readonly refusal: string } | { readonly pod: ApiObject }

const MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"

export function setRuntime(pod: ApiObject, runtime: ValueObject): Classed {
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
      const [theirs, ours] = [`nodeSelector[${key}] = ${wanted[key]!}`, `nodeSelector[${key}] = ${own[key]!}`]
      return { refusal: `conflict: runtimeClass.scheduling.${theirs}; pod.spec.${ours}` }
    }
    spec['nodeSelector'] = { ...own, ...wanted }
    spec['tolerations'] = mergeTolerations([
      ...objectsAt(spec, 'tolerations'),
      ...copyValue([...objectsAt(scheduling, 'tolerations')]),
    ])
  }
  return { pod: { ...pod, spec } }
}

/** What others may have made of the pod since. */
export function runtimeError(pod: ValueObject, runtime: ValueObject | undefined): string | undefined {
  const spec = objectAt(pod, 'spec')
  if (runtime === undefined || !has(runtime, 'overhead')) {
    return has(spec, 'overhead')
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

/** Without those that others say already; of equal ones the first stays. */
function mergeTolerations(all: readonly ValueObject[]): ValueObject[] {
  const merged: ValueObject[] = []
  all.forEach((toleration, i) => {
    const isGiven =
      merged.some(other => includes(other, toleration)) ||
      all.slice(i + 1).some(other => !equalValues(other, toleration) && includes(other, toleration))
    if (!isGiven) merged.push(toleration)
  })
  return merged
}

/** Whether whatever `narrow` tolerates is tolerated by `wide`, too. */
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
