// Conversion by a description in the definition: no webhook, no code. The description is an annotation, since the schema of
// CustomResourceDefinition is not ours:
//
//   binnacle.dev/conversion: |
//     - from: v1
//       to: v2
//       steps:
//       - {move: spec.size, to: spec.dimensions.height}
//       - {set: spec.mode, value: Safe}
//       - {set: spec.title, expression: "self.spec.name + '!'"}
//       - {remove: spec.legacy}
//
// Paths are those of fields, without items of lists. A description of one direction also serves the other as far as its steps
// can be undone, and versions are reached through others where no description joins them directly.

import { failed, parsed, type Result } from '../base/result.js'
import { CodecError } from '../codec/codec-error.js'
import { decodeYaml } from '../codec/yaml.js'
import { isObject, type Value, type ValueObject } from '../meta/values/value.js'
import type { VersionedObject } from './conversion.js'
import { readSteps, type Step } from './declared/steps.js'
import { undo } from './declared/undo.js'

export const CONVERSION_ANNOTATION = 'binnacle.dev/conversion'

export interface DeclaredConversion {
  /** The versions through which an object goes, the first and the last included; undefined if there is no way. */
  path(from: string, to: string): readonly string[] | undefined
  /** Steps that cannot be undone, though the other direction needs it. */
  readonly oneWay: readonly OneWay[]
  /** Converts a copy of an object. Throws an Error if an expression fails. */
  convert(object: VersionedObject, to: string): VersionedObject
}

export interface OneWay {
  readonly from: string
  readonly to: string
  /** What is lost on the way back. */
  readonly lost: readonly string[]
}

interface Pair {
  readonly from: string
  readonly to: string
  readonly steps: readonly Step[]
}

/** Reads a description; the error says what is wrong with it, and where. */
export function readDeclaredConversion(text: string): Result<DeclaredConversion> {
  const pairs: Pair[] = []
  try {
    const { value } = decodeYaml(Buffer.from(text))
    if (!Array.isArray(value)) return failed('it must be a list of conversions, each with from, to and steps')
    for (const [i, each] of value.entries()) {
      const pair = readPair(each, `[${i}]`)
      if (!pair.ok) return pair
      pairs.push(pair.value)
    }
  } catch (error) {
    if (error instanceof CodecError) return failed(error.message)
    throw error
  }
  return parsed(createConversion(pairs))
}

function readPair(value: Value, at: string): Result<Pair> {
  if (!isObject(value)) return failed(`${at} must have from, to and steps`)
  const { from, to, steps = [] } = value
  if (typeof from !== 'string' || typeof to !== 'string') return failed(`${at} must have the versions from and to`)
  const read = readSteps(steps, `${at}.steps`)
  return read.ok ? parsed({ from, to, steps: read.value }) : read
}

function createConversion(written: readonly Pair[]): DeclaredConversion {
  const pairs = [...written]
  const oneWay: OneWay[] = []
  for (const { from, to, steps } of written) {
    if (written.some(each => each.from === to && each.to === from)) continue
    const back = undo(steps)
    pairs.push({ from: to, to: from, steps: back.steps })
    if (back.lost.length > 0) oneWay.push({ from: to, to: from, lost: back.lost })
  }
  const path = (from: string, to: string): readonly string[] | undefined => shortestPath(pairs, from, to)
  return {
    path,
    oneWay,
    convert(object, to) {
      const version = (apiVersion: string): string => apiVersion.slice(apiVersion.indexOf('/') + 1)
      const way = path(version(object.apiVersion), version(to))
      if (!way) throw new Error(`no conversion from ${object.apiVersion} to ${to} is described`)
      let result: ValueObject = object
      for (let i = 1; i < way.length; i++) {
        const pair = pairs.find(each => each.from === way[i - 1] && each.to === way[i])!
        const before = result
        for (const step of pair.steps) result = step.apply(result, before)
      }
      return { ...(result as VersionedObject), apiVersion: to }
    },
  }
}

function shortestPath(pairs: readonly Pair[], from: string, to: string): readonly string[] | undefined {
  const open: (readonly string[])[] = [[from]]
  const seen = new Set([from])
  for (let way = open.shift(); way !== undefined; way = open.shift()) {
    const last = way.at(-1)!
    if (last === to) return way
    for (const pair of pairs) {
      if (pair.from !== last || seen.has(pair.to)) continue
      seen.add(pair.to)
      open.push([...way, pair.to])
    }
  }
  return undefined
}
